package hotreload

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/langrooms/langrooms/setting"
)

// The refusals of an edit; compare with errors.Is.
var (
	// ErrUnknownKey: the schema has no such key, or it is a list of entries.
	ErrUnknownKey = errors.New("unknown key")
	// ErrWrongType: not a value that the key takes, by type, bounds, choices or form.
	ErrWrongType = errors.New("not a valid value")
	// ErrAboveCeiling: a number above the key's ceiling.
	ErrAboveCeiling = errors.New("above the ceiling")
	// ErrNotEditable: the file is written in a way that this edit cannot change without
	// touching something else (an anchor that is used elsewhere, a list in place of a value).
	ErrNotEditable = errors.New("edit this by hand")
)

// Replace returns data with the value of key changed, and no other byte: comments, order,
// quoting and unknown keys stay. A key that is absent is added to its section. file is only
// a name for messages; key is dotted, as in room.max_rounds, and names an entry of a list by
// its name, as in delegates.proto.timeout_s; value is text as on a command line. Refusals are
// [ErrUnknownKey], [ErrUnknownDelegate], [ErrWrongType], [ErrAboveCeiling], [ErrNotEditable]
// and, for data that is no configuration, [ErrUnusable].
func Replace(file string, data []byte, key, value string) ([]byte, error) {
	mark, body := cutBOM(data)
	top, err := load(file, body)
	if err != nil {
		return nil, err
	}
	where, err := locate(top, key)
	if err != nil {
		return nil, err
	}
	if err := accept(where.field, value); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	if n, err := strconv.Atoi(value); err == nil && !isText(where.field) {
		value = strconv.Itoa(n) // 007 is another number to YAML
	}
	e := &editor{source: newSource(body), place: where, value: value}
	err = fmt.Errorf("%w: the place of %s was not found", ErrNotEditable, key)
	for _, patches := range e.plan() {
		var out []byte
		if out, err = e.verify(file, top, apply(body, patches)); err == nil {
			return append(mark, out...), nil
		}
	}
	if e.refusal != nil {
		err = e.refusal
	}
	return nil, err
}

func rowKeys[T any](rows []row[T]) []string {
	keys := make([]string, len(rows))
	for i, r := range rows {
		keys[i] = r.Key
	}
	return keys
}

// accept reports why the field refuses value. A secret is never quoted.
func accept(f setting.Field, value string) error {
	switch f.Kind {
	case setting.Bool:
		if value != "true" && value != "false" {
			return fmt.Errorf("%w: must be true or false, not \"%s\"", ErrWrongType, shown(value))
		}
		return nil
	case setting.Whole, setting.Number, setting.Seconds:
		return acceptNumber(f, value)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
		return fmt.Errorf("%w: must be one line of UTF-8 text without control characters", ErrWrongType)
	}
	if err := checkText(f, value); err != nil {
		return fmt.Errorf("%w: %w", ErrWrongType, err)
	}
	return nil
}

var (
	wholeText  = regexp.MustCompile(`^[+-]?[0-9]+$`)
	numberText = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

func acceptNumber(f setting.Field, value string) error {
	form := numberText
	if f.Kind == setting.Whole {
		form = wholeText
	}
	x, err := strconv.ParseFloat(value, 64)
	if !form.MatchString(value) || err != nil && !math.IsInf(x, 0) {
		return fmt.Errorf("%w: must be a %s, not \"%s\"", ErrWrongType, numberWord(f), shown(value))
	}
	_, odd, err := bound(f, x)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrWrongType, err)
	case odd != "":
		return fmt.Errorf("%w: %s is more than %s", ErrAboveCeiling, shown(value), plain(f.Ceiling))
	}
	return nil
}

// patch puts text in place of data[from:to].
type patch struct {
	from, to int
	text     string
}

func apply(data []byte, patches []patch) []byte {
	slices.SortFunc(patches, func(a, b patch) int { return a.from - b.from })
	var out bytes.Buffer
	done := 0
	for _, p := range patches {
		out.Write(data[done:p.from])
		out.WriteString(p.text)
		done = p.to
	}
	out.Write(data[done:])
	return out.Bytes()
}

func cutBOM(data []byte) (mark, body []byte) {
	if bytes.HasPrefix(data, bom) {
		return slices.Clone(bom), data[len(bom):]
	}
	return nil, data
}

// editor plans the patch for one value.
type editor struct {
	*source
	place
	value   string
	refusal error // says more than that no plan worked
}

// plan returns the ways to set the value, the best first.
func (e *editor) plan() [][]patch {
	path := strings.Split(e.field.Key, ".")
	if e.within == nil {
		return [][]patch{{e.appendLines("", path)}}
	}
	at := e.within
	for depth, name := range path {
		key, value := entryOf(at, name)
		switch {
		case key == nil:
			return e.insert(at, depth, path)
		case depth == len(path)-1:
			return e.replace(value)
		case value.Kind == yaml.ScalarNode && value.Tag == "!!null":
			return e.fill(key, value, path[depth+1:])
		case value.Kind != yaml.MappingNode:
			e.refusal = fmt.Errorf("%w: line %d: %s does not hold keys and values of its own", ErrNotEditable, value.Line, strings.Join(path[:depth+1], "."))
			return nil
		}
		at = value
	}
	return nil
}

// entryOf returns the first explicit key name of mapping m and its value, nil if there is
// none. Aliases are not followed: what they name is shared.
func entryOf(m *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if k := m.Content[i]; k.Kind == yaml.ScalarNode && k.Value == name && k.Tag != "!!merge" {
			return k, m.Content[i+1]
		}
	}
	return nil, nil
}

// replace plans a new text for the value node n.
func (e *editor) replace(n *yaml.Node) [][]patch {
	from := e.body(n)
	to, err := e.end(n)
	switch {
	case n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
		e.refusal = fmt.Errorf("%w: line %d: there is %s in place of the value of %s", ErrNotEditable, n.Line, kindOf(setting.Field{}, n), e.field.Key)
		return nil
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		e.refusal = fmt.Errorf("%w: line %d: the value of %s is a block of text", ErrNotEditable, n.Line, e.field.Key)
		return nil
	case err != nil:
		e.refusal = err
		return nil
	}
	e.refusal = fmt.Errorf("%w: line %d: the value of %s cannot be changed alone; is it shared through an anchor?", ErrNotEditable, n.Line, e.field.Key)
	text := e.render(n.Style)
	if from == to { // nothing is written behind the colon
		return [][]patch{{{from, to, " " + text}}, {{from, to, ": " + text}}}
	}
	return [][]patch{{{from, to, text}}, {{from, to, e.render(0)}}}
}

// insert plans path[depth:] as a new key of mapping m.
func (e *editor) insert(m *yaml.Node, depth int, path []string) [][]patch {
	from := e.body(m)
	if e.at(from) == '{' {
		quote := len(m.Content) > 0 && m.Content[0].Style&yaml.DoubleQuotedStyle != 0
		text := e.flow(path[depth:], quote)
		if len(m.Content) > 0 {
			text += ", "
		}
		return [][]patch{{{from + 1, from + 1, text}}}
	}
	indent := strings.Repeat(" ", max(0, m.Column-1))
	var plans [][]patch
	if depth == 0 && len(e.steps) == 0 {
		plans = append(plans, []patch{e.appendLines(indent, path)})
	}
	if end, err := e.end(m); err == nil {
		plans = append(plans, []patch{e.linesAfter(end, indent, path[depth:])})
	}
	return plans
}

// fill plans path under key, whose value is null.
func (e *editor) fill(key, null *yaml.Node, path []string) [][]patch {
	from := e.body(null)
	if null.Value != "" {
		return [][]patch{{{from, from + len(null.Value), "{" + e.flow(path, false) + "}"}}}
	}
	indent := strings.Repeat(" ", max(0, key.Column-1)) + "  "
	return [][]patch{
		{e.linesAfter(from, indent, path)},
		{{from, from, " {" + e.flow(path, key.Style&yaml.DoubleQuotedStyle != 0) + "}"}},
	}
}

func (e *editor) flow(path []string, quote bool) string {
	text := e.render(0)
	if quote && isText(e.field) {
		text = e.render(yaml.DoubleQuotedStyle)
	}
	for i := len(path) - 1; i >= 0; i-- {
		name := path[i]
		if quote {
			name = strconv.Quote(name)
		}
		if text = name + ": " + text; i > 0 {
			text = "{" + text + "}"
		}
	}
	return text
}

// linesAfter plans path as lines of their own after the line that holds offset i.
func (e *editor) linesAfter(i int, indent string, path []string) patch {
	text := ""
	for k, name := range path {
		text += indent + strings.Repeat("  ", k) + name + ":"
		if k == len(path)-1 {
			text += " " + e.render(0)
		}
		text += e.lineBreak()
	}
	return e.lineAfter(i, text)
}

// lineAfter plans text, whole lines, after the line that holds offset i.
func (e *editor) lineAfter(i int, text string) patch {
	at := e.nextLine(i)
	if at == len(e.data) && at > 0 && e.lines[len(e.lines)-1] != at { // the last line has no end
		text = e.lineBreak() + strings.TrimSuffix(text, e.lineBreak())
	}
	return patch{at, at, text}
}

func (e *editor) appendLines(indent string, path []string) patch {
	return e.linesAfter(len(e.data), indent, path)
}

// lineBreak is the file's own.
func (s *source) lineBreak() string {
	if bytes.Contains(s.data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
