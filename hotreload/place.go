package hotreload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/langrooms/langrooms/setting"
)

// place is where a key stands in a document: a field of the mapping within, which is the
// document itself or an entry of a list, steps away from it.
type place struct {
	field  setting.Field
	within *yaml.Node // nil in an empty document
	steps  []string   // a list's key and the entry's index; none for the document
}

// locate finds the place of a dotted key; an entry of a list is named by its name.
func locate(top *yaml.Node, key string) (place, error) {
	for _, list := range []string{"delegates", "server.keys"} {
		if rest, ok := strings.CutPrefix(key, list+"."); ok {
			return locateInEntry(top, list, rest)
		}
	}
	r, ok := find(configRows, key, "")
	switch {
	case ok && r.Kind == setting.Entries:
		return place{}, fmt.Errorf("%w: %s is a list of entries, not one value; name one, as in %s.NAME.KEY", ErrUnknownKey, key, key)
	case !ok:
		return place{}, unknownPlace(key, key, rowKeys(configRows))
	}
	return place{field: r.Field, within: top}, editable(r.Field, key)
}

// editable refuses what is more than one value.
func editable(f setting.Field, key string) error {
	if f.Kind == setting.List || f.Kind == setting.Map || f.Kind == setting.Values || f.Kind == setting.Entries {
		return fmt.Errorf("%w: %s is a %s; change it in the file itself", ErrNotEditable, key, f.Kind)
	}
	return nil
}

func unknownPlace(key, part string, known []string) error {
	hint := ""
	if near := nearest(part, known); near != "" {
		hint = "; did you mean " + strings.TrimSuffix(key, part) + near + "?"
	}
	return fmt.Errorf("%w: %s%s", ErrUnknownKey, shown(key), hint)
}

// locateInEntry finds NAME.KEY in a list of entries. Names may hold dots, so the longest one
// that fits is meant.
func locateInEntry(top *yaml.Node, list, rest string) (place, error) {
	steps := strings.Split(list, ".")
	at := top
	for _, name := range steps {
		if at != nil {
			at = step(at, name)
		}
	}
	name, index := "", -1
	if at != nil && at.Kind == yaml.SequenceNode {
		for i, item := range at.Content {
			n := text(resolve(item), "name")
			if strings.HasPrefix(rest, n+".") && len(n) > len(name) {
				name, index = n, i
			}
		}
	}
	if index < 0 {
		return place{}, fmt.Errorf("%w: %s has no entry for %s", ErrUnknownDelegate, list, shown(rest))
	}
	item, key := at.Content[index], strings.TrimPrefix(rest, name+".")
	if item.Kind != yaml.MappingNode {
		return place{}, fmt.Errorf("%w: line %d: the entry %s stands elsewhere, under an anchor", ErrNotEditable, item.Line, shown(name))
	}
	f, err := entryField(list, name, key, text(item, "type"))
	return place{field: f, within: item, steps: append(slices.Clone(steps), strconv.Itoa(index))}, err
}

// entryField finds the field key of an entry of list.
func entryField(list, name, key, typ string) (f setting.Field, err error) {
	var known []string
	found := false
	if list == "delegates" {
		r, ok := find(delegateRows(), key, typ)
		f, found = r.Field, ok
		for _, r := range delegateRows() {
			if r.has(typ) {
				known = append(known, r.Key)
			}
		}
	} else {
		r, ok := find(keyRows, key, "")
		f, found, known = r.Field, ok, rowKeys(keyRows)
	}
	full := list + "." + name + "." + key
	switch {
	case !found:
		return f, unknownPlace(full, key, known)
	case key == "name":
		return f, fmt.Errorf("%w: %s would be another entry; rename it in the file itself", ErrNotEditable, full)
	}
	return f, editable(f, full)
}

// step goes one step down: into the value of a key, or to the item of an index.
func step(n *yaml.Node, name string) *yaml.Node {
	if n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(name); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	_, value := entryOf(n, name)
	return value
}
