package delegate

import (
	"fmt"
	"slices"

	"github.com/langrooms/langrooms/internal/names"
)

// Registry is the roster as one immutable value: delegates in their configured order,
// by unique name. The zero value is an empty roster.
type Registry struct {
	order  []Delegate
	byName map[string]Delegate
}

// NewRegistry returns a roster of delegates in the given order. It refuses a nil delegate
// and a second one of the same name, in whatever Unicode spelling; names that differ in case alone are two.
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
		for _, other := range r.order[:i] {
			if twin := other.Info().Name; names.Twins(name, twin) {
				return nil, fmt.Errorf("delegate %q: the name is another spelling of %q", name, twin)
			}
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

// CheckName reports why name cannot be a roster name, or nil: it must pass
// [langrooms.CheckName] and not look like the name of one of the room's own voices.
func CheckName(name string) error { return names.CheckName(name) }
