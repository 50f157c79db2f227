package hotreload

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/langrooms/langrooms/setting"
)

// Parse reads a configuration. file is only a name for messages.
//
// The error is a [*SyntaxError], which wraps [ErrUnusable], and is given only when no
// configuration can be taken from data: not UTF-8, not YAML, not one mapping, larger than
// [MaxBytes], nested too deeply. All else is a [Finding], in the order of the file: a value
// of the wrong type leaves the default in force, an invalid entry of a list is left out and
// the others stay, an unknown key is a warning, and so is a value that was clamped. Keys
// of the top level that start with x- are the user's own. An empty file is the default
// configuration.
func Parse(file string, data []byte) (Config, []Finding, error) {
	return parseOver(file, data, Default())
}

// parseOver is Parse with the values of old, in place of the defaults, where a value was
// not taken.
func parseOver(file string, data []byte, old Config) (Config, []Finding, error) {
	c, p, err := read(file, data, old)
	if err != nil {
		return Config{}, nil, err
	}
	return c, inOrder(p.findings), nil
}

// read is parseOver, with all that was found.
func read(file string, data []byte, old Config) (Config, *parser, error) {
	top, err := load(file, data)
	if err != nil {
		return Config{}, nil, err
	}
	c := Default()
	p := &parser{file: file}
	if top != nil {
		s := scope{parser: p}
		readMapping(&s, configRows, top, "", &c, &old)
	}
	p.checkConfig(&c, &old, top)
	return c, p, nil
}

// inOrder sorts findings by their place in the file.
func inOrder(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return findings
}

// Check reads a configuration as [Parse] does and returns what there is to remark on it,
// variables that it names and that are not set in this process included.
func Check(file string, data []byte) ([]Finding, error) {
	_, p, err := read(file, data, Default())
	if err != nil {
		return nil, err
	}
	for _, v := range p.named {
		if strings.TrimSpace(os.Getenv(v.name)) == "" {
			p.findings = append(p.findings, v.unset)
		}
	}
	return inOrder(p.findings), nil
}

type parser struct {
	file     string
	findings []Finding
	named    []namedVariable
}

// namedVariable is where the file names an environment variable.
type namedVariable struct {
	name  string
	unset Finding // what there is to say when it is not set
}

// scope is where in the file a reader is: at the top, or in one entry of a list.
type scope struct {
	*parser
	prefix string // of keys: "", "delegates.proto."
	who    string // of messages: "", `delegate "proto": `
	typ    string // of the entry
	failed bool   // an error was reported
}

func (s *scope) report(severity Severity, n *yaml.Node, key, format string, args ...any) {
	s.failed = s.failed || severity == Error
	s.findings = append(s.findings, Finding{
		Severity: severity, File: s.file, Line: n.Line, Column: n.Column,
		Key: s.prefix + key, Message: s.who + fmt.Sprintf(format, args...),
	})
}

// names notes that the file names a variable at n.
func (s *scope) names(variable string, n *yaml.Node, key string) {
	s.named = append(s.named, namedVariable{variable, Finding{
		Severity: Warning, File: s.file, Line: n.Line, Column: n.Column,
		Key: s.prefix + key, Message: fmt.Sprintf("%s%s: the environment variable %s is not set", s.who, key, shown(variable)),
	}})
}

// readMapping reads the pairs of m, whose keys stand under prefix in rows, into the value;
// where a value is not taken, old's stays.
func readMapping[T any](s *scope, rows []row[T], m *yaml.Node, prefix string, into, old *T) {
	for _, p := range pairs(m) {
		if p.key.Kind != yaml.ScalarNode || p.key.Tag == "!!null" {
			s.report(Error, p.key, prefix, "a key must be text, not %s", kindOf(setting.Field{}, p.key))
			continue
		}
		key := prefix + p.key.Value
		if p.first != nil {
			s.report(Error, p.key, key, "%s is given twice, first in line %d, which is used", shown(key), p.first.Line)
			continue
		}
		if r, ok := find(rows, key, s.typ); ok {
			readValue(s, r, p, into, old)
			continue
		}
		if isSection(rows, key+".", s.typ) {
			readSection(s, rows, p, key, into, old)
			continue
		}
		if prefix == "" && strings.HasPrefix(key, "x-") {
			continue
		}
		unknownKey(s, rows, p.key, key)
	}
}

func readSection[T any](s *scope, rows []row[T], p pair, key string, into, old *T) {
	switch {
	case p.value.Kind == yaml.MappingNode:
		readMapping(s, rows, p.value, key+".", into, old)
	case p.value.Tag == "!!null": // a heading with nothing under it
	default:
		s.report(Error, p.value, key, "%s must hold keys and values, not %s", key, kindOf(setting.Field{}, p.value))
		for _, r := range rows {
			if strings.HasPrefix(r.Key, key+".") {
				copyValue(r.at(into), r.at(old))
			}
		}
	}
}

func readValue[T any](s *scope, r row[T], p pair, into, old *T) {
	at := r.at(into)
	if p.value.Tag == "!!null" && p.value.Kind == yaml.ScalarNode && !r.Knob {
		return // the same as absent
	}
	switch list := at.(type) {
	case *[]Delegate:
		if p.value.Kind == yaml.SequenceNode {
			*list = s.delegates(p.value)
			return
		}
	case *[]setting.MCPServer:
		if p.value.Kind == yaml.SequenceNode {
			*list = s.servers(p.value)
			return
		}
	case *[]Key:
		if p.value.Kind == yaml.SequenceNode {
			*list = s.keys(p.value)
			return
		}
	default:
		value, odd, err := decode(r.Field, p.value)
		if err == nil {
			if odd != "" {
				s.report(Warning, p.value, r.Key, "%s: %s", r.Key, odd)
			}
			if secret, ok := at.(*setting.Secret); ok && !secret.IsZero() {
				s.report(Warning, p.key, r.Key, "%s: a value and a variable are both given; the variable is used", r.Key)
				if r.Kind == setting.SecretText {
					return
				}
			}
			store(at, r.Kind, value)
			if r.Kind == setting.Variable {
				s.names(p.value.Value, p.value, r.Key)
			}
			return
		}
		s.report(Error, p.value, r.Key, "%s %v", r.Key, err)
		copyValue(at, r.at(old))
		return
	}
	s.report(Error, p.value, r.Key, "%s must be a list of entries, not %s", r.Key, kindOf(setting.Field{}, p.value))
	copyValue(at, r.at(old))
}

// isSection reports whether rows has keys under prefix for entries of type typ.
func isSection[T any](rows []row[T], prefix, typ string) bool {
	return slices.ContainsFunc(rows, func(r row[T]) bool { return strings.HasPrefix(r.Key, prefix) && r.has(typ) })
}

// unknownKey warns about a key that no row has, with the known key that may be meant.
func unknownKey[T any](s *scope, rows []row[T], n *yaml.Node, key string) {
	var known []string // full keys and the sections on the way to them
	for _, r := range rows {
		if r.Key == key || strings.HasPrefix(r.Key, key+".") { // known to another type only
			s.report(Warning, n, key, "%s is not used by type %s", key, s.typ)
			return
		}
		if r.has(s.typ) {
			section, _, _ := strings.Cut(r.Key, ".")
			known = append(known, r.Key, section)
		}
	}
	hint := nearest(key, known)
	if hint == "" { // right word, wrong place
		last := key[strings.LastIndex(key, ".")+1:]
		for _, k := range known {
			if strings.HasSuffix(k, "."+last) {
				hint = k
				break
			}
		}
	}
	if hint != "" {
		hint = "; did you mean " + hint + "?"
	}
	s.report(Warning, n, shown(key), "unknown key %s%s", shown(key), hint)
}
