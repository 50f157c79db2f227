package hotreload

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/langrooms/langrooms/setting"
)

// rosterEditor plans patches of the list of delegates.
type rosterEditor struct{ editor }

// fieldText is one field of a new entry: its key's parts and its value as YAML.
type fieldText struct {
	path []string
	text string
}

func isZero(at any) bool { return reflect.ValueOf(at).Elem().IsZero() }

// entryOfDelegate lists the fields of d that are not what an absent key means, texts as
// write gives them.
func entryOfDelegate(d Delegate, write func(string) string) []fieldText {
	var fields []fieldText
	for _, r := range delegateRows() {
		if !r.has(d.Type) {
			continue
		}
		text, ok := fieldAsYAML(r.Field, r.at(&d), write)
		if ok {
			fields = append(fields, fieldText{strings.Split(r.Key, "."), text})
		}
	}
	return fields
}

func fieldAsYAML(f setting.Field, at any, write func(string) string) (text string, ok bool) {
	switch v := at.(type) {
	case *setting.Secret:
		if f.Kind == setting.Variable {
			return write(v.Env()), v.Env() != ""
		}
		return write(v.Literal()), v.Literal() != ""
	case *string:
		return write(*v), *v != "" && *v != f.Default
	case *int:
		return strconv.Itoa(*v), *v != 0 && *v != f.Default
	case *float64:
		return plain(*v), *v != 0 && *v != f.Default
	case **float64:
		if *v == nil {
			return "", false
		}
		return plain(**v), true
	case *bool:
		return strconv.FormatBool(*v), *v
	case **bool:
		if *v == nil {
			return "", false
		}
		return strconv.FormatBool(**v), true
	case *map[string]any:
		text, err := json.Marshal(*v) // which is YAML too
		return string(text), err == nil && *v != nil
	case *time.Duration:
		s := v.Seconds()
		return strconv.FormatFloat(s, 'f', -1, 64), s != 0 && s != f.Default
	case *[]setting.MCPServer:
		return serversAsYAML(*v, write), *v != nil
	case *[]string:
		words := make([]string, len(*v))
		for i, w := range *v {
			words[i] = write(w)
		}
		return "[" + strings.Join(words, ", ") + "]", *v != nil
	case *map[string]string:
		var words []string
		for _, k := range slices.Sorted(maps.Keys(*v)) {
			words = append(words, write(k)+": "+write((*v)[k]))
		}
		return "{" + strings.Join(words, ", ") + "}", *v != nil
	}
	return "", false
}

// itemLines writes fields as an item of a block list.
func (e *rosterEditor) itemLines(fields []fieldText, indent string) string {
	var b strings.Builder
	section := ""
	for i, f := range fields {
		lead := indent + "  "
		if i == 0 {
			lead = indent + "- "
		}
		if len(f.path) == 2 {
			if f.path[0] != section {
				section = f.path[0]
				b.WriteString(lead + section + ":" + e.lineBreak())
			}
			lead = indent + "    "
		}
		b.WriteString(lead + f.path[len(f.path)-1] + ": " + f.text + e.lineBreak())
	}
	return b.String()
}

// itemFlow writes fields as an item of a list in brackets.
func itemFlow(fields []fieldText, quote bool) string {
	name := func(s string) string {
		if quote {
			return strconv.Quote(s)
		}
		return s
	}
	var words []string
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		if len(f.path) == 1 {
			words = append(words, name(f.path[0])+": "+f.text)
			continue
		}
		var inner []string
		for ; i < len(fields) && len(fields[i].path) == 2; i++ {
			inner = append(inner, name(fields[i].path[1])+": "+fields[i].text)
		}
		i--
		words = append(words, name(f.path[0])+": {"+strings.Join(inner, ", ")+"}")
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// planInsert returns the ways to append the item to the roster, the best first.
func (e *rosterEditor) planInsert(top *yaml.Node, d Delegate) [][]patch {
	fields := entryOfDelegate(d, scalar)
	if top == nil {
		return [][]patch{{e.block(len(e.data), "delegates:", "  ", fields)}}
	}
	inFlow := e.at(e.body(top)) == '{'
	quote := inFlow && len(top.Content) > 0 && top.Content[0].Style&yaml.DoubleQuotedStyle != 0
	if quote { // JSON stays JSON
		fields = entryOfDelegate(d, quoted)
	}
	item := itemFlow(fields, quote)
	key, list := entryOf(top, "delegates")
	indent := strings.Repeat(" ", max(0, top.Column-1))
	switch {
	case key == nil && inFlow:
		name, from := "delegates: [", e.body(top)+1
		if quote {
			name = `"delegates": [`
		}
		end := "], "
		if len(top.Content) == 0 {
			end = "]"
		}
		return [][]patch{{{from, from, name + item + end}}}
	case key == nil:
		plans := [][]patch{{e.block(len(e.data), indent+"delegates:", indent+"  ", fields)}}
		if end, err := e.end(top); err == nil {
			plans = append(plans, []patch{e.block(end, indent+"delegates:", indent+"  ", fields)})
		}
		return plans
	case list.Kind == yaml.ScalarNode && list.Tag == "!!null":
		from := e.body(list)
		word := patch{from, from + len(list.Value), ""}
		flow := patch{from, from + len(list.Value), " [" + item + "]"}
		return [][]patch{{word, e.block(from, "", indent+"  ", fields)}, {flow}}
	case list.Kind != yaml.SequenceNode:
		return nil
	case e.at(e.body(list)) == '[':
		return e.planInsertFlow(list, item, indent, fields)
	}
	if end, err := e.end(list); err == nil {
		return [][]patch{{e.block(end, "", strings.Repeat(" ", max(0, list.Column-1)), fields)}}
	}
	return nil
}

func (e *rosterEditor) planInsertFlow(list *yaml.Node, item, indent string, fields []fieldText) [][]patch {
	from := e.body(list)
	to, err := e.end(list)
	if err != nil {
		return nil
	}
	if len(list.Content) == 0 {
		return [][]patch{
			{{from, to, ""}, e.block(to, "", indent+"  ", fields)},
			{{to - 1, to - 1, item}},
		}
	}
	last, err := e.end(list.Content[len(list.Content)-1])
	if err != nil {
		return nil
	}
	return [][]patch{{{last, last, ", " + item}}}
}

// block plans the item as lines of their own after the line that holds offset i, under a
// heading if there is one.
func (e *rosterEditor) block(i int, heading, indent string, fields []fieldText) patch {
	text := e.itemLines(fields, indent)
	if heading != "" {
		text = heading + e.lineBreak() + text
	}
	return e.lineAfter(i, text)
}

// planDrop plans to take item number at out of list.
func (e *rosterEditor) planDrop(list *yaml.Node, at int) (patch, error) {
	item := list.Content[at]
	from := e.start(item)
	to, err := e.end(item)
	if err != nil {
		return patch{}, err
	}
	if e.at(e.body(list)) == '[' {
		if next := e.skip(to, ""); e.at(next) == ',' {
			to = next + 1
			for e.at(to) == ' ' {
				to++
			}
		} else if at > 0 {
			if from, err = e.end(list.Content[at-1]); err != nil {
				return patch{}, err
			}
		}
		return patch{from, to, ""}, nil
	}
	for from--; from > 0 && blank(e.data[from:]); {
		from--
	}
	k, _ := slices.BinarySearch(e.lines, from+1)
	line := e.lines[max(0, k-1)]
	if e.at(from) != '-' || line+e.indent(line) != from {
		return patch{}, fmt.Errorf("%w: line %d: the beginning of the entry was not found", ErrNotEditable, item.Line)
	}
	return patch{line, e.nextLine(to), ""}, nil
}
