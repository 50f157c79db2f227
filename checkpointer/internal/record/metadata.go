package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/langrooms/langrooms/checkpointer"
)

// maxDepth bounds the nesting of a metadata value.
const maxDepth = 64

// Metadata returns the canonical JSON of each value: equal values, and only these, have
// equal bytes. What has none is ErrInvalid, more than MaxMetadata bytes ErrTooLarge.
func Metadata(m checkpointer.Metadata) (map[string]string, error) {
	texts, size := make(map[string]string, len(m)), 0
	for key, value := range m {
		if !utf8.ValidString(key) {
			return nil, invalid("the metadata key %q is not valid UTF-8", key)
		}
		text, err := canonical(nil, value, 0)
		if err != nil {
			return nil, fmt.Errorf("metadata %q: %w", key, err)
		}
		texts[key] = string(text)
		if size += len(key) + len(text); size > checkpointer.MaxMetadata {
			return nil, fmt.Errorf("%w: the metadata, at most %d bytes are allowed", checkpointer.ErrTooLarge, checkpointer.MaxMetadata)
		}
	}
	return texts, nil
}

// MetadataOf reads what Metadata has written; what cannot be read is ErrFormat.
func MetadataOf(texts map[string]string) (checkpointer.Metadata, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	m := make(checkpointer.Metadata, len(texts))
	for key, text := range texts {
		value, err := parse([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("%w: metadata %q: %v", checkpointer.ErrFormat, key, err)
		}
		m[key] = value
	}
	return m, nil
}

func parse(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&value); err == nil && d.More() {
		err = fmt.Errorf("more than one value")
	}
	return value, err
}

func canonical(b []byte, value any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, invalid("nested more than %d deep", maxDepth)
	}
	switch v := value.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return canonicalText(b, v)
	case json.Number:
		return canonicalNumber(b, string(v))
	case json.RawMessage:
		if !utf8.Valid(v) || !json.Valid(v) {
			return nil, invalid("%q is not JSON", v)
		}
		parsed, err := parse(v)
		if err != nil {
			return nil, invalid("%q is not JSON: %v", v, err)
		}
		return canonical(b, parsed, depth)
	case []any:
		return canonicalList(b, v, depth)
	case []string:
		return canonicalList(b, v, depth)
	case map[string]any:
		return canonicalObject(b, v, depth)
	case checkpointer.Metadata:
		return canonicalObject(b, v, depth)
	}
	return canonicalGo(b, value)
}

// canonicalGo writes Go's numbers.
func canonicalGo(b []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return canonicalNumber(b, fmt.Sprint(v))
	case float32:
		return canonicalFloat(b, float64(v), 32)
	case float64:
		return canonicalFloat(b, v, 64)
	}
	return nil, invalid("a value of type %T", value)
}

func canonicalFloat(b []byte, v float64, bits int) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, invalid("the number %v", v)
	}
	return canonicalNumber(b, strconv.FormatFloat(v, 'g', -1, bits))
}

func canonicalText(b []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, invalid("%q is not valid UTF-8", s)
	}
	text, err := json.Marshal(s)
	return append(b, text...), err
}

func canonicalList[T any](b []byte, list []T, depth int) (_ []byte, err error) {
	b = append(b, '[')
	for i, value := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = canonical(b, value, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func canonicalObject(b []byte, object map[string]any, depth int) (_ []byte, err error) {
	b = append(b, '{')
	for i, key := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = canonicalText(b, key); err != nil {
			return nil, err
		}
		if b, err = canonical(append(b, ':'), object[key], depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// canonicalNumber writes the digits without leading and trailing zeros, as an integer
// where that is short.
func canonicalNumber(b []byte, text string) ([]byte, error) {
	if !json.Valid([]byte(text)) || strings.Trim(text, "0123456789+-.eE") != "" || text == "" {
		return nil, invalid("%q is not a number", text)
	}
	digits, negative := strings.CutPrefix(text, "-")
	exponent := 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(digits[i+1:]); err != nil || exponent > 1e6 || exponent < -1e6 {
			return nil, invalid("the exponent of %q", text)
		}
		digits = digits[:i]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return append(b, '0'), nil
	}
	if negative {
		b = append(b, '-')
	}
	exponent += len(digits) - len(short)
	if zeros := exponent; zeros >= 0 && len(short)+zeros <= 25 {
		return append(b, short+strings.Repeat("0", zeros)...), nil
	}
	// 0.d… × 10^n reads well between 1e-6 and 1; elsewhere d.ddd and an exponent.
	if point := len(short) + exponent; exponent < 0 && point > -6 && point <= 25 {
		if point <= 0 {
			return append(b, "0."+strings.Repeat("0", -point)+short...), nil
		}
		return append(b, short[:point]+"."+short[point:]...), nil
	}
	b = append(b, short[0])
	if len(short) > 1 {
		b = append(append(b, '.'), short[1:]...)
	}
	return strconv.AppendInt(append(b, 'e'), int64(exponent+len(short)-1), 10), nil
}

// Matches says whether metadata has all values of filter, both as Metadata wrote them.
func Matches(metadata, filter map[string]string) bool {
	for key, want := range filter {
		if got, ok := metadata[key]; !ok || got != want {
			return false
		}
	}
	return true
}

// RunID is the canonical JSON of a run's id.
func RunID(id string) string {
	text, _ := canonicalText(nil, id) // not valid UTF-8: matches nothing
	return string(text)
}

// WithSource returns a copy of metadata, as Metadata wrote it, with LangGraph's key
// "source" set.
func WithSource(metadata map[string]string, source string) map[string]string {
	m := maps.Clone(metadata)
	if m == nil {
		m = map[string]string{}
	}
	m["source"] = RunID(source)
	return m
}
