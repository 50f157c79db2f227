package hotreload

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/langrooms/langrooms/setting"
)

func isText(f setting.Field) bool {
	switch f.Kind {
	case setting.Whole, setting.Number, setting.Seconds, setting.Bool:
		return false
	}
	return true
}

// hasTag reports whether the parser reads a scalar of this tag as a value of the field.
func hasTag(f setting.Field, tag string) bool {
	switch {
	case isText(f):
		return tag == "!!str"
	case f.Kind == setting.Bool:
		return tag == "!!bool"
	}
	return tag == "!!int" || tag == "!!float" || tag == "!!str" && f.Knob
}

// render writes the value as YAML, in quotes where it had them or needs them.
func (e *editor) render(style yaml.Style) string {
	switch {
	case style&yaml.DoubleQuotedStyle != 0 && (isText(e.field) || e.field.Knob):
		return quoted(e.value)
	case style&yaml.SingleQuotedStyle != 0 && (isText(e.field) || e.field.Knob):
		return "'" + strings.ReplaceAll(e.value, "'", "''") + "'"
	case isText(e.field):
		return scalar(e.value)
	}
	return e.value
}

var plainText = regexp.MustCompile(`^[A-Za-z/.][A-Za-z0-9_./+-]*(:[A-Za-z0-9_./+-]+)*$`)

// scalar writes text as YAML: plain where nobody could take it for anything else.
func scalar(text string) string {
	if plainText.MatchString(text) {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(text), &n); err == nil && n.Content[0].Tag == "!!str" && n.Content[0].Value == text && !oldBool[strings.ToLower(text)] {
			return text
		}
	}
	return quoted(text)
}

// oldBool are the words that YAML 1.1 readers take for truth values.
var oldBool = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true}

// quoted writes text in double quotes; what JSON escapes, YAML reads.
func quoted(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string always encodes
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\x7f`)
}

// verify returns out if it holds the values of the old document, the edited one excepted,
// and that one as it was asked for.
func (e *editor) verify(file string, old *yaml.Node, out []byte) ([]byte, error) {
	refuse := fmt.Errorf("%w: the place of %s was not found", ErrNotEditable, e.field.Key)
	top, err := load(file, out)
	if err != nil || top == nil {
		return nil, refuse
	}
	path := append(slices.Clone(e.steps), strings.Split(e.field.Key, ".")...)
	if !slices.Equal(without(outline(old), path), without(outline(top), path)) {
		return nil, refuse
	}
	n := top
	for _, name := range path {
		if n = step(n, name); n == nil {
			return nil, refuse
		}
	}
	if n.Kind != yaml.ScalarNode || n.Value != e.value || !hasTag(e.field, n.Tag) {
		return nil, refuse
	}
	if err := e.newErrors(file, out); err != nil {
		e.refusal = err
		return nil, err
	}
	return out, nil
}

// newErrors returns the first error that out has and the file before the edit had not.
func (e *editor) newErrors(file string, out []byte) error {
	_, before, _ := Parse(file, e.data) // both were loaded before
	_, after, _ := Parse(file, out)
	for _, f := range after {
		same := func(o Finding) bool { return o.Key == f.Key && o.Message == f.Message }
		if f.Severity == Error && !slices.ContainsFunc(before, same) {
			return fmt.Errorf("%w: %s", ErrWrongType, f.Message)
		}
	}
	return nil
}

// leaf is one node of an outline, by the path to it.
type leaf struct {
	path  string
	value string
}

const pathSep = "\x00" // which no file holds

// outline lists the nodes of a document in order, aliases expanded; load has bounded it.
func outline(n *yaml.Node) []leaf {
	var all []leaf
	var walk func(n *yaml.Node, path string)
	walk = func(n *yaml.Node, path string) {
		n = resolve(n)
		switch n.Kind {
		case yaml.ScalarNode:
			all = append(all, leaf{path, n.Tag + " " + n.Value})
		case yaml.SequenceNode:
			all = append(all, leaf{path, "["})
			for i, c := range n.Content {
				walk(c, fmt.Sprintf("%s%s%d", path, pathSep, i))
			}
		case yaml.MappingNode:
			all = append(all, leaf{path, "{"})
			for i := 0; i+1 < len(n.Content); i += 2 {
				if key := resolve(n.Content[i]); key.Kind == yaml.ScalarNode {
					walk(n.Content[i+1], path+pathSep+key.Value)
				} else {
					walk(key, path+pathSep+"?")
					walk(n.Content[i+1], path+pathSep+":")
				}
			}
		}
	}
	if n != nil {
		walk(n, "")
	}
	return all
}

// without leaves out the value at path, and the mappings on the way to it, which an edit
// may have to create.
func without(all []leaf, path []string) []leaf {
	full := pathSep + strings.Join(path, pathSep)
	return slices.DeleteFunc(all, func(l leaf) bool {
		onTheWay := strings.HasPrefix(full, l.path+pathSep) || l.path == ""
		return l.path == full || strings.HasPrefix(l.path, full+pathSep) || onTheWay && (l.value == "{" || strings.HasPrefix(l.value, "!!null"))
	})
}
