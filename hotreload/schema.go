package hotreload

import "slices"

// Kind is the kind of value that a key takes.
type Kind string

// The kinds of values.
const (
	KindText     Kind = "text"
	KindChoice   Kind = "choice"
	KindWhole    Kind = "whole number"
	KindNumber   Kind = "number"
	KindSeconds  Kind = "seconds"
	KindBool     Kind = "true or false"
	KindSecret   Kind = "secret"
	KindVariable Kind = "environment variable"
	KindList     Kind = "list of texts"
	KindMap      Kind = "map of texts"
	KindValues   Kind = "map of values"
	KindEntries  Kind = "list of entries"
)

// Field describes one key of the configuration file: what the parser, the clamps, the
// settings form, Set and the reference page know about it.
type Field struct {
	// Key is dotted; inside a list it is written as in "delegates[].url".
	Key  string `json:"key"`
	Kind Kind   `json:"kind"`
	// Types are the delegate types that have the key; none means all of them.
	Types []string `json:"types,omitempty"`
	// Required is set where an entry without the key is refused.
	Required bool `json:"required,omitempty"`
	// Default is nil where an absent key means that nothing is set.
	Default any `json:"default,omitempty"`
	// Least and Ceiling bound numbers; a Ceiling of 0 means none. A value above it is read
	// as the ceiling, one below Least is an error. Seconds are bounded in seconds.
	Least   float64 `json:"least,omitempty"`
	Ceiling float64 `json:"ceiling,omitempty"`
	// Knob marks a forgiving whole number: what is zero, negative or unreadable means the
	// default (spec: rooms, section 10).
	Knob bool   `json:"knob,omitempty"`
	Unit string `json:"unit,omitempty"`
	// Choices are the values of a KindChoice, or those of a KindList's items.
	Choices []string `json:"choices,omitempty"`
	// Group is the heading under which a form shows the key.
	Group string `json:"group"`
	Help  string `json:"help"`
	// Live is true where a change takes effect while the program runs, false where it
	// needs a restart.
	Live bool `json:"live"`

	check func(string) error // of a text's form
}

// Schema returns the description of every key in the order of the reference page. The
// caller owns the slice.
func Schema() []Field {
	var all []Field
	for _, r := range configRows {
		all = append(all, r.Field)
		switch r.Key {
		case "delegates":
			all = appendEntryFields(all, delegateRows(), r.Field)
			at := slices.IndexFunc(all, func(f Field) bool { return f.Key == "delegates[].mcp_servers" })
			all = slices.Insert(all, at+1, appendEntryFields(nil, serverRows, all[at])...)
		case "server.keys":
			all = appendEntryFields(all, keyRows, r.Field)
		}
	}
	return all
}

func appendEntryFields[T any](all []Field, rows []row[T], of Field) []Field {
	for _, r := range rows {
		f := r.Field
		f.Key, f.Live, f.Group = of.Key+"[]."+f.Key, of.Live, of.Group
		if f.Types == nil {
			f.Types = of.Types
		}
		all = append(all, f)
	}
	return all
}

// row ties a key to its place in T.
type row[T any] struct {
	Field
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

func (f Field) has(typ string) bool {
	if len(f.Types) == 0 {
		return true
	}
	for _, t := range f.Types {
		if t == typ {
			return true
		}
	}
	return false
}
