package hotreload

import (
	"reflect"
	"slices"

	"github.com/langrooms/langrooms/setting"
)

// Change is what a subscriber is told: what was in force, what is now.
type Change struct {
	Old, New *Snapshot
	// Keys are the keys whose effective values differ, in schema order: none when only
	// comments, findings or the fault changed. A list of entries is one key. A secret is
	// named by its value's key, also when its variable changed.
	Keys []string
	// Restart are those of Keys that take effect only when the program starts again; New
	// has their new values already. A value that is back at what [Open] read, which is what
	// the program runs with, is not among them.
	Restart []string
	// Fault is why the newest bytes were not taken, or nil; New is then still the last
	// good snapshot.
	Fault error

	opened *Snapshot // what Open read
}

// changeOf describes the step from old to new in a program that was opened with opened.
func changeOf(opened, old, new *Snapshot, fault error) Change {
	c := Change{Old: old, New: new, Fault: fault, opened: opened}
	for _, r := range configRows {
		if r.Kind == setting.Variable || equalAt(r.at(&old.Config), r.at(&new.Config)) {
			continue
		}
		c.Keys = append(c.Keys, r.Key)
		if !r.Live && !equalAt(r.at(&opened.Config), r.at(&new.Config)) {
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
