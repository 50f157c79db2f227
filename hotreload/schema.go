package hotreload

import (
	"reflect"
	"slices"

	"github.com/langrooms/langrooms/setting"
)

// Schema returns the description of every key in the order of the reference page. The
// caller owns the slice.
func Schema() []setting.Field {
	var all []setting.Field
	for _, r := range configRows {
		all = append(all, r.Field)
		switch r.Key {
		case "delegates":
			all = appendEntryFields(all, merged(delegateRows()), r.Field)
		case "server.keys":
			all = appendEntryFields(all, keyRows, r.Field)
		}
	}
	return all
}

func appendEntryFields[T any](all []setting.Field, rows []row[T], of setting.Field) []setting.Field {
	for _, r := range rows {
		f := r.Field
		f.Key, f.Live, f.Group = of.Key+"[]."+f.Key, of.Live, of.Group
		if f.Types == nil {
			f.Types = of.Types
		}
		all = append(all, f)
		if f.Kind == setting.Entries {
			all = appendEntryFields(all, serverRows, f)
		}
	}
	return all
}

// merged makes one of the rows that several types have alike, where the last of them stands.
func merged(rows []row[Delegate]) []row[Delegate] {
	var all []row[Delegate]
	for _, r := range rows {
		i := slices.IndexFunc(all, func(o row[Delegate]) bool { return alike(o.Field, r.Field) })
		if i >= 0 {
			r.Types = slices.Concat(all[i].Types, r.Types)
			all = slices.Delete(all, i, i+1)
		}
		all = append(all, r)
	}
	return all
}

func alike(a, b setting.Field) bool {
	a.Types, b.Types, a.Check, b.Check = nil, nil, nil, nil
	return reflect.DeepEqual(a, b)
}

// row ties a key to its place in T.
type row[T any] struct {
	setting.Field
	at func(*T) any
}

// find returns the row of key for an entry of the given type ("" where there are none).
func find[T any](rows []row[T], key, typ string) (row[T], bool) {
	for _, r := range rows {
		if r.Key == key && r.has(typ) {
			return r, true
		}
	}
	return row[T]{}, false
}

// has reports whether an entry of type typ has the key.
func (r row[T]) has(typ string) bool { return len(r.Types) == 0 || slices.Contains(r.Types, typ) }
