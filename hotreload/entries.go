package hotreload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/langrooms/langrooms/internal/names"
	"github.com/langrooms/langrooms/setting"
)

// delegates reads the roster: the valid entries, in order. An invalid one is reported and
// left out.
func (s *scope) delegates(list *yaml.Node) []Delegate {
	var roster []Delegate
	lines, alike := map[string]int{}, map[string][]int{}
	for i, item := range list.Content {
		e := s.entry("delegate", "delegates", i, resolve(item))
		d, ok := readDelegate(e, resolve(item), item.Line)
		if !ok {
			continue
		}
		if first, twice := lines[d.Name]; twice {
			e.report(Error, item, "name", "refused: a second entry with this name, the first is in line %d", first)
			continue
		}
		if twin := twinOf(d.Name, roster, alike); twin != nil {
			e.report(Error, item, "name", "refused: the name is another spelling of \"%s\" in line %d", shown(twin.Name), twin.Line)
			continue
		}
		lines[d.Name] = d.Line
		alike[names.Key(d.Name)] = append(alike[names.Key(d.Name)], len(roster))
		roster = append(roster, d)
	}
	return roster
}

// twinOf returns the entry whose name is name in another spelling, or nil. alike are the names
// of roster by their keys, so that a long roster is not compared with itself.
func twinOf(name string, roster []Delegate, alike map[string][]int) *Delegate {
	for _, i := range alike[names.Key(name)] {
		if names.Twins(name, roster[i].Name) {
			return &roster[i]
		}
	}
	return nil
}

// entry returns the scope of one list item, named by its name if it has one.
func (s *scope) entry(what, key string, i int, n *yaml.Node) *scope {
	prefix, who := fmt.Sprintf("%s[%d].", key, i), fmt.Sprintf("%s %d: ", what, i+1)
	if name := text(n, "name"); name != "" {
		prefix = key + "." + shown(name) + "."
		who = fmt.Sprintf("%s \"%s\": ", what, shown(name))
	}
	return &scope{parser: s.parser, prefix: s.prefix + prefix, who: s.who + who}
}

// text returns the scalar under key in mapping n, "" if there is none.
func text(n *yaml.Node, key string) string {
	if v := valueOf(n, key); v != n && v.Kind == yaml.ScalarNode && v.Tag != "!!null" {
		return v.Value
	}
	return ""
}

// valueOf returns the value of key in mapping n, or n if there is none.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		for _, p := range pairs(n) {
			if p.key.Value == key {
				return p.value
			}
		}
	}
	return n
}

func readDelegate(e *scope, n *yaml.Node, line int) (Delegate, bool) {
	if n.Kind != yaml.MappingNode {
		e.report(Error, n, "", "refused: an entry must hold keys and values, not %s", kindOf(setting.Field{}, n))
		return Delegate{}, false
	}
	e.typ = text(n, "type")
	if f, _ := find(delegateRows(), "type", ""); e.typ == "" {
		e.report(Error, n, "type", "refused: type is missing; it is one of %s", strings.Join(f.Choices, ", "))
		return Delegate{}, false
	} else if err := checkText(f.Field, e.typ); err != nil {
		e.report(Error, valueOf(n, "type"), "type", "refused: unknown type: %v", err)
		return Delegate{}, false
	}
	t, _ := typeOf(e.typ)
	d := Delegate{Line: line, Settings: t.New()}
	if !readEntry(e, delegateRows(), n, &d) {
		return d, false
	}
	for _, p := range t.Check(d.Settings) {
		e.problem(n, p)
	}
	readVariables(e, "refused: ", delegateRows(), n, &d)
	return d, !e.failed
}

// problem reports what is wrong with the entry at n.
func (s *scope) problem(n *yaml.Node, p setting.Problem) {
	if p.AtKey {
		n = valueOf(n, p.Key)
	}
	if p.Warning {
		s.report(Warning, n, p.Key, "%s", p.Text)
	} else {
		s.report(Error, n, p.Key, "refused: %s", p.Text)
	}
}

// readVariables checks the maps of variables' names in the entry at n, which into has.
func readVariables[T any](s *scope, lead string, rows []row[T], n *yaml.Node, into *T) {
	for _, r := range rows {
		if r.Variables && r.has(s.typ) {
			s.checkVariables(lead, n, r.Key, *r.at(into).(*map[string]string))
		}
	}
}

// checkVariables refuses what names no variable in the map under key of mapping n.
func (s *scope) checkVariables(lead string, n *yaml.Node, key string, names map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if err := setting.CheckVariable(names[name]); err != nil {
			s.report(Error, valueOf(n, key), key, "%s%s.%s %v", lead, key, shown(name), err)
			continue
		}
		s.names(names[name], valueOf(n, key), key+"."+shown(name))
	}
}

// readEntry fills *into with the defaults of its type and the values of mapping n, and
// reports whether the entry is valid.
func readEntry[T any](e *scope, rows []row[T], n *yaml.Node, into *T) bool {
	before := len(e.findings)
	readFields(e, rows, n, into)
	for i := before; i < len(e.findings); i++ {
		if f := &e.findings[i]; f.Severity == Error {
			f.Message = e.who + "refused: " + strings.TrimPrefix(f.Message, e.who)
		}
	}
	return !e.failed
}

// readFields is readEntry without a word on what becomes of the entry.
func readFields[T any](e *scope, rows []row[T], n *yaml.Node, into *T) {
	for _, r := range rows {
		if r.has(e.typ) {
			store(r.at(into), r.Kind, r.Default)
		}
	}
	before := len(e.findings)
	old := *into
	readMapping(e, rows, n, "", into, &old)
	for _, r := range rows {
		if r.Required && r.has(e.typ) && text(n, r.Key) == "" && !reported(e.findings[before:], e.prefix+r.Key) {
			e.report(Error, n, r.Key, "%s is missing", r.Key)
		}
	}
}

func reported(findings []Finding, key string) bool {
	for _, f := range findings {
		if f.Key == key && f.Severity == Error {
			return true
		}
	}
	return false
}

// keys reads server.keys: the valid entries, in order.
func (s *scope) keys(list *yaml.Node) []Key {
	var keys []Key
	lines, alike := map[setting.Secret]int{}, map[string][]Key{}
	for i, item := range list.Content {
		n := resolve(item)
		e := s.entry("key", "server.keys", i, n)
		if n.Kind != yaml.MappingNode {
			e.report(Error, n, "", "refused: an entry must hold keys and values, not %s", kindOf(setting.Field{}, n))
			continue
		}
		k := Key{Line: item.Line}
		if !readEntry(e, keyRows, n, &k) {
			continue
		}
		first, twice := lines[k.Key]
		switch {
		case k.Key.IsZero():
			e.report(Error, n, "key", "refused: key or key_env is missing")
			continue
		case twice:
			e.report(Error, n, "key", "refused: the same key as the entry in line %d; a key names one identity", first)
			continue
		case k.Admin && k.Kind == "agent":
			e.report(Warning, n, "admin", "admin has no effect on an agent")
		}
		spelled := k.Kind + " " + names.Key(k.Name)
		if i := slices.IndexFunc(alike[spelled], func(o Key) bool { return names.Twins(o.Name, k.Name) }); i >= 0 {
			first := alike[spelled][i]
			e.report(Error, n, "name", "refused: the name is another spelling of \"%s\" in line %d", shown(first.Name), first.Line)
			continue
		}
		alike[spelled] = append(alike[spelled], k)
		lines[k.Key] = k.Line
		keys = append(keys, k)
	}
	return keys
}

// checkConfig applies the rules that span keys.
func (p *parser) checkConfig(c, old *Config, top *yaml.Node) {
	if top == nil {
		return
	}
	s := &scope{parser: p}
	checkNamesake(s, c)
	checkCosts(s, c, top)
	if c.Model.Provider == "openai" && c.Model.Model == "" {
		s.report(Error, section(top, "model"), "model.model", "model.model is missing; provider openai needs it")
		c.Model.Provider, c.Model.Model = old.Model.Provider, old.Model.Model
	}
}

// checkNamesake warns of a delegate whose name equals or begins the lead's. A lead with the
// very name of a delegate would make one voice of two, on the thread and in each window, so
// it goes without its own.
func checkNamesake(s *scope, c *Config) {
	lead := c.Identity.Name
	for _, d := range c.Delegates {
		if !strings.HasPrefix(strings.ToLower(lead), strings.ToLower(d.Name)) {
			continue
		}
		but := ""
		if lead == d.Name {
			but, c.Identity.Name = "; the lead goes by the name assistant", ""
		}
		s.report(Warning, &yaml.Node{Line: d.Line, Column: 1}, "delegates."+d.Name+".name",
			"delegate %q: the name equals or begins the lead's name %q; the two are easily mixed up%s", d.Name, lead, but)
	}
}

// section returns the node of a top-level key, or top.
func section(top *yaml.Node, key string) *yaml.Node {
	for _, p := range pairs(top) {
		if p.key.Value == key {
			return p.key
		}
	}
	return top
}
