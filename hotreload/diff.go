package hotreload

import (
	"reflect"
	"slices"
)

// Change is what a subscriber is told: what was in force, what is now.
type Change struct {
	Old, New *Snapshot
	// Keys are the keys whose effective values differ, in schema order: none when only
	// comments, findings or the fault changed. A list of entries is one key. A secret is
	// named by its value's key, also when its variable changed.
	Keys []string
	// Restart are those of Keys that take effect only when the program starts again; New
	// has their new values already.
	Restart []string
	// Fault is why the newest bytes were not taken, or nil; New is then still the last
	// good snapshot.
	Fault error
}

// changeOf describes the step from old to new.
func changeOf(old, new *Snapshot, fault error) Change {
	c := Change{Old: old, New: new, Fault: fault}
	for _, r := range configRows {
		if r.Kind == KindVariable || equalAt(r.at(&old.Config), r.at(&new.Config)) {
			continue
		}
		c.Keys = append(c.Keys, r.Key)
		if !r.Live {
			c.Restart = append(c.Restart, r.Key)
		}
	}
	return c
}

func equalAt(a, b any) bool {
	switch a := a.(type) {
	case *[]Delegate:
		return slices.EqualFunc(*a, *b.(*[]Delegate), Delegate.Equal)
	case *[]Key:
		return slices.EqualFunc(*a, *b.(*[]Key), func(x, y Key) bool {
			x.Line, y.Line = 0, 0
			return reflect.DeepEqual(x, y)
		})
	}
	return reflect.DeepEqual(a, b)
}
