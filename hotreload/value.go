package hotreload

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/langrooms/langrooms/setting"
)

// decode reads n as the field's kind of value. odd is a remark on a value that was taken or
// replaced by the default; err says why none was.
func decode(f setting.Field, n *yaml.Node) (value any, odd string, err error) {
	switch f.Kind {
	case setting.Whole, setting.Number, setting.Seconds:
		return decodeNumber(f, n)
	case setting.Bool:
		if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" {
			var b bool
			err = n.Decode(&b)
			return b, "", err
		}
		return nil, "", fmt.Errorf("must be true or false, not %s", kindOf(f, n))
	case setting.List:
		value, err = decodeList(f, n)
	case setting.Map:
		value, err = decodeMap(f, n)
	case setting.Values:
		value, err = decodeValues(f, n)
	default:
		value, err = decodeText(f, n)
	}
	return value, "", err
}

func decodeText(f setting.Field, n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		hint := ""
		if n.Kind == yaml.ScalarNode {
			hint = " (put it in quotes)"
		}
		return "", fmt.Errorf("must be text, not %s%s", kindOf(f, n), hint)
	}
	return n.Value, checkText(f, n.Value)
}

// checkText applies the field's rules for texts; it never quotes a secret.
func checkText(f setting.Field, text string) error {
	switch {
	case f.Kind == setting.SecretText && strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("holds a line break or another control character")
	case f.Kind == setting.Variable:
		return setting.CheckVariable(text)
	case f.Kind == setting.Choice && !slices.Contains(f.Choices, text):
		return notAChoice(text, f.Choices)
	case f.Required && text == "":
		return errors.New("is empty")
	case f.Check != nil:
		return f.Check(text)
	}
	return nil
}

func notAChoice(text string, choices []string) error {
	named := slices.DeleteFunc(slices.Clone(choices), func(c string) bool { return c == "" })
	hint := ""
	if near := nearest(text, named); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	what := `"` + shown(text) + `"`
	if n := utf8.RuneCountInString(text); n > 16 { // no choice is so long; it may be a secret
		what = fmt.Sprintf("a text of %d characters", n)
	}
	return fmt.Errorf("%s is none of %s%s", what, strings.Join(named, ", "), hint)
}

func decodeList(f setting.Field, n *yaml.Node) ([]string, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("must be a list of texts, not %s", kindOf(f, n))
	}
	list := make([]string, 0, len(n.Content))
	for i, item := range n.Content {
		item = resolve(item)
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			return nil, fmt.Errorf("item %d must be text, not %s", i+1, kindOf(f, item))
		}
		if f.Choices != nil && !slices.Contains(f.Choices, item.Value) {
			return nil, notAChoice(item.Value, f.Choices)
		}
		if strings.Contains(item.Value, "\x00") {
			return nil, fmt.Errorf("item %d holds a NUL character", i+1)
		}
		list = append(list, item.Value)
	}
	return list, nil
}

func decodeMap(f setting.Field, n *yaml.Node) (map[string]string, error) {
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("must be a map of texts, not %s", kindOf(setting.Field{}, n))
	}
	m := make(map[string]string, len(n.Content)/2)
	for _, p := range pairs(n) {
		name, _, _ := strings.Cut(p.key.Value, "=") // NAME=VALUE: the value may be a secret
		name = shown(name)
		switch {
		case p.key.Kind == yaml.ScalarNode && f.Check != nil && f.Check(p.key.Value) != nil:
			return nil, fmt.Errorf("key \"%s\" %w", name, f.Check(p.key.Value))
		case p.key.Kind != yaml.ScalarNode || f.Check == nil && setting.CheckEnvName(p.key.Value) != nil:
			return nil, fmt.Errorf("key \"%s\" is not the name of an environment variable", name)
		case p.first != nil:
			return nil, fmt.Errorf("%s is given twice, first in line %d", name, p.first.Line)
		case p.value.Kind != yaml.ScalarNode || p.value.Tag == "!!null":
			return nil, fmt.Errorf("%s must be text, not %s", name, kindOf(setting.Field{}, p.value))
		case strings.Contains(p.value.Value, "\x00"):
			return nil, fmt.Errorf("%s holds a NUL character", name)
		}
		m[p.key.Value] = p.value.Value
	}
	return m, nil
}

// decodeValues takes whatever JSON can say.
func decodeValues(f setting.Field, n *yaml.Node) (map[string]any, error) {
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("must be a map, not %s", kindOf(f, n))
	}
	var values map[string]any
	if err := n.Decode(&values); err != nil {
		return nil, errors.New("cannot be read as a map of values")
	}
	if _, err := json.Marshal(values); err != nil {
		return nil, errors.New("holds a value that JSON cannot say")
	}
	return values, nil
}

func decodeNumber(f setting.Field, n *yaml.Node) (any, string, error) {
	x, err := number(n, f.Knob)
	if err == nil && f.Kind == setting.Whole && !f.Knob && (n.Tag != "!!int" || x != math.Trunc(x)) {
		err = errors.New("not whole")
	}
	if err != nil {
		if f.Knob {
			return f.Default, fmt.Sprintf("must be a whole number, not %s; the default %v is used", kindOf(f, n), f.Default), nil
		}
		return nil, "", fmt.Errorf("must be a %s, not %s", numberWord(f), kindOf(f, n))
	}
	return bound(f, x)
}

func numberWord(f setting.Field) string {
	if f.Kind == setting.Seconds {
		return "number of seconds"
	}
	return string(f.Kind)
}

// bound clamps x to the field's bounds and gives it the field's type.
func bound(f setting.Field, x float64) (value any, odd string, err error) {
	if f.Kind == setting.Whole {
		x = math.Trunc(x)
	}
	if f.Knob && x <= 0 {
		return f.Default, "", nil
	}
	if f.Knob && x < f.Least {
		odd = fmt.Sprintf("%s is below the least; %s is used", plain(x), plain(f.Least))
		x = f.Least
	}
	if x < f.Least {
		return nil, "", fmt.Errorf("%s is below %s", plain(x), plain(f.Least))
	}
	if f.Ceiling > 0 && x > f.Ceiling {
		odd = fmt.Sprintf("%s is above the ceiling; %s is used", plain(x), plain(f.Ceiling))
		x = f.Ceiling
	}
	switch f.Kind {
	case setting.Whole:
		return int(x), odd, nil
	default:
		return x, odd, nil
	}
}

// number reads a finite number; a lenient reader also takes one that is written as text.
func number(n *yaml.Node, lenient bool) (float64, error) {
	if n.Kind != yaml.ScalarNode {
		return 0, errors.New("not a number")
	}
	var x float64
	var err error
	switch {
	case n.Tag == "!!int" || n.Tag == "!!float":
		err = n.Decode(&x)
	case n.Tag == "!!str" && lenient:
		x, err = strconv.ParseFloat(strings.TrimSpace(n.Value), 64)
	default:
		err = errors.New("not a number")
	}
	if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
		err = errors.New("not finite")
	}
	return x, err
}

func plain(x float64) string { return strconv.FormatFloat(x, 'g', 12, 64) }

// kindOf says in words what n holds. What could be a secret is not quoted.
func kindOf(f setting.Field, n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	}
	what := map[string]string{"!!null": "null", "!!bool": "a truth value", "!!int": "a number", "!!float": "a number", "!!str": "text", "!!timestamp": "a date"}[n.Tag]
	if what == "" {
		what = "a value with a tag of its own"
	}
	if f.Kind == setting.SecretText || f.Kind == setting.Variable || f.Kind == setting.Map || f.Kind == setting.Values || f.Kind == "" || n.Tag == "!!null" {
		return what
	}
	return fmt.Sprintf("%s \"%s\"", what, shown(n.Value))
}

// store puts value, as decode returned it or a schema's default, to where at points.
func store(at any, kind setting.Kind, value any) {
	switch p := at.(type) {
	case *setting.Secret:
		if text, _ := value.(string); kind == setting.Variable {
			*p = setting.FromEnv(text)
		} else if value != nil {
			*p = setting.NewSecret(text)
		}
	case *time.Duration:
		x, _ := value.(float64)
		*p = time.Duration(x * float64(time.Second))
	case **float64:
		if x, ok := value.(float64); ok {
			*p = &x
		}
	case **bool:
		if b, ok := value.(bool); ok {
			*p = &b
		}
	default:
		if value != nil {
			reflect.ValueOf(at).Elem().Set(reflect.ValueOf(value))
		}
	}
}

// copyValue sets what to points at to what from points at.
func copyValue(to, from any) {
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem())
}
