package hotreload

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

var (
	// ErrUnknownDelegate: the file's roster has no entry of the name.
	ErrUnknownDelegate = errors.New("no such delegate")
	// ErrBadDelegate: the parser would refuse the entry; the error says why.
	ErrBadDelegate = errors.New("not a valid delegate")
)

// AddDelegate appends d to the roster of the file at path; no other byte changes. Only
// what differs from the defaults of its type is written. An entry that the parser would
// refuse, for instance for a name that is taken, is [ErrBadDelegate]; see [Save] for how
// the file is written.
func AddDelegate(path string, d Delegate) error {
	_, err := Save(path, "", func(data []byte) ([]byte, error) { return InsertDelegate(path, data, d) })
	return err
}

// RemoveDelegate takes the first entry of the given name out of the roster of the file at
// path, with the comments inside it; no other byte changes. No such entry is
// [ErrUnknownDelegate]; see [Save] for how the file is written.
func RemoveDelegate(path, name string) error {
	_, err := Save(path, "", func(data []byte) ([]byte, error) { return DropDelegate(path, data, name) })
	return err
}

// InsertDelegate is the edit of [AddDelegate], for [Save]: it returns data with d at the end of
// the roster. file is only a name for messages.
func InsertDelegate(file string, data []byte, d Delegate) ([]byte, error) {
	if !d.ownSettings() {
		return nil, fmt.Errorf("%w: the settings of %s are not those of type %s", ErrBadDelegate, shown(d.Name), shown(d.Type))
	}
	mark, body := cutBOM(data)
	top, err := load(file, body)
	if err != nil {
		return nil, err
	}
	e := &rosterEditor{editor{source: newSource(body)}}
	err = fmt.Errorf("%w: the end of the roster was not found", ErrNotEditable)
	for _, patches := range e.planInsert(top, d) {
		out := apply(body, patches)
		before, after, ok := rosters(file, top, out)
		if !ok || len(after) != len(before)+1 || !sameItems(before, after[:len(before)]) {
			continue
		}
		if err = refusal(file, body, out, d); err == nil {
			return append(mark, out...), nil
		}
	}
	return nil, err
}

// DropDelegate is the edit of [RemoveDelegate], for [Save].
func DropDelegate(file string, data []byte, name string) ([]byte, error) {
	mark, body := cutBOM(data)
	top, err := load(file, body)
	if err != nil {
		return nil, err
	}
	list := roster(top)
	at := -1
	if list != nil {
		at = slices.IndexFunc(list.Content, func(n *yaml.Node) bool { return text(resolve(n), "name") == name })
	}
	if at < 0 {
		return nil, fmt.Errorf("%w: %s", ErrUnknownDelegate, shown(name))
	}
	e := &rosterEditor{editor{source: newSource(body)}}
	refuse := fmt.Errorf("%w: line %d: the entry of %s cannot be taken out alone", ErrNotEditable, list.Content[at].Line, shown(name))
	p, err := e.planDrop(list, at)
	if err != nil {
		return nil, err
	}
	out := apply(body, []patch{p})
	before, after, ok := rosters(file, top, out)
	if !ok || !sameItems(slices.Delete(before, at, at+1), after) {
		return nil, refuse
	}
	return append(mark, out...), nil
}

// roster returns the list of delegates of the document itself, nil if there is none.
func roster(top *yaml.Node) *yaml.Node {
	if top == nil {
		return nil
	}
	if _, list := entryOf(top, "delegates"); list != nil && list.Kind == yaml.SequenceNode {
		return list
	}
	return nil
}

// rosters returns the outlines of the roster's items before and after an edit; ok means
// that the rest of the document is the same.
func rosters(file string, old *yaml.Node, out []byte) (before, after [][]leaf, ok bool) {
	top, err := load(file, out)
	if err != nil {
		return nil, nil, false
	}
	path := []string{"delegates"}
	ok = slices.Equal(without(outline(old), path), without(outline(top), path))
	return items(roster(old)), items(roster(top)), ok
}

func items(list *yaml.Node) [][]leaf {
	if list == nil {
		return nil
	}
	all := make([][]leaf, len(list.Content))
	for i, n := range list.Content {
		all[i] = outline(n)
	}
	return all
}

func sameItems(a, b [][]leaf) bool {
	return slices.EqualFunc(a, b, func(x, y []leaf) bool { return slices.Equal(x, y) })
}

// refusal reports why the parser does not read d out of the edited file.
func refusal(file string, before, after []byte, d Delegate) error {
	e := editor{source: newSource(before)}
	if err := e.newErrors(file, after); err != nil {
		return fmt.Errorf("%w: %s", ErrBadDelegate, strings.TrimPrefix(err.Error(), ErrWrongType.Error()+": "))
	}
	c, _, err := Parse(file, after)
	if err != nil {
		return err
	}
	if n := len(c.Delegates); n == 0 || !c.Delegates[n-1].Equal(withDefaults(d)) {
		return fmt.Errorf("%w: %s has a field that type %s does not have, or a value out of its bounds", ErrBadDelegate, shown(d.Name), shown(d.Type))
	}
	return nil
}

// withDefaults fills what is zero in d, whose settings are its own, with the defaults of its type;
// a temperature of 0 is a temperature.
func withDefaults(d Delegate) Delegate {
	for _, r := range delegateRows() {
		if r.has(d.Type) && r.Key != "temperature" && isZero(r.at(&d)) {
			store(r.at(&d), r.Kind, r.Default)
		}
	}
	return d
}
