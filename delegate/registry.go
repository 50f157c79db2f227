package delegate

import (
	"fmt"
	"slices"
	"strings"
)

// Registry is the roster as one immutable value: delegates in their configured order,
// by unique name. The zero value is an empty roster.
type Registry struct {
	order  []Delegate
	byName map[string]Delegate
}

// NewRegistry returns a roster of delegates in the given order. It refuses a nil delegate
// and a second one of the same name.
func NewRegistry(delegates ...Delegate) (*Registry, error) {
	r := &Registry{order: slices.Clone(delegates), byName: make(map[string]Delegate, len(delegates))}
	for i, d := range delegates {
		if d == nil {
			return nil, fmt.Errorf("delegate %d is nil", i+1)
		}
		name := d.Info().Name
		if _, twice := r.byName[name]; twice {
			return nil, fmt.Errorf("delegate %q: a second entry with this name", name)
		}
		r.byName[name] = d
	}
	return r, nil
}

// Names returns the roster's names in order.
func (r *Registry) Names() []string {
	if r == nil {
		return nil
	}
	names := make([]string, len(r.order))
	for i, d := range r.order {
		names[i] = d.Info().Name
	}
	return names
}

// All returns the delegates in order.
func (r *Registry) All() []Delegate {
	if r == nil {
		return nil
	}
	return slices.Clone(r.order)
}

// Get returns the delegate of exactly this name.
func (r *Registry) Get(name string) (Delegate, bool) {
	if r == nil {
		return nil, false
	}
	d, ok := r.byName[name]
	return d, ok
}

// CheckName reports why name cannot be a roster name, or nil: it is one run without
// white space or control characters, holds no @, and is none of the names that the room
// itself uses.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the name is empty")
	case strings.ContainsRune(name, '@'):
		return fmt.Errorf("the name %q holds an @", name)
	}
	for _, r := range name {
		if !isNameRune(r) {
			return fmt.Errorf("the name %q holds white space or a character that cannot be shown", name)
		}
	}
	if slices.Contains(reserved, strings.ToLower(name)) {
		return fmt.Errorf("the name %q is reserved: %s mean the room's own voices", name, strings.Join(reserved, ", "))
	}
	return nil
}

var reserved = []string{"operator", "assistant", "lead", "room", "system"}
