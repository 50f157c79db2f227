package setting

// Kind is the kind of value that a key takes.
type Kind string

// The kinds of values.
const (
	Text       Kind = "text"
	Choice     Kind = "choice"
	Whole      Kind = "whole number"
	Number     Kind = "number"
	Seconds    Kind = "seconds"
	Bool       Kind = "true or false"
	SecretText Kind = "secret"
	Variable   Kind = "environment variable"
	List       Kind = "list of texts"
	Map        Kind = "map of texts"
	Values     Kind = "map of values"
	Entries    Kind = "list of entries"
)

// Day is the number of its seconds, for bounds.
const Day = 24 * 60 * 60

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
	// as the ceiling; one below Least is an error, and of a Knob is read as Least. Seconds are bounded in
	// seconds.
	Least   float64 `json:"least,omitempty"`
	Ceiling float64 `json:"ceiling,omitempty"`
	// Knob marks a forgiving whole number: what is zero, negative or unreadable means the
	// default (spec: rooms, section 10).
	Knob bool   `json:"knob,omitempty"`
	Unit string `json:"unit,omitempty"`
	// Choices are the values of a Choice, or those of a List's items.
	Choices []string `json:"choices,omitempty"`
	// Group is the heading under which a form shows the key.
	Group string `json:"group"`
	Help  string `json:"help"`
	// Live is true where a change takes effect while the program runs, false where it
	// needs a restart.
	Live bool `json:"live"`

	// Variables says that the values of a Map are names of environment variables.
	Variables bool `json:"-"`
	// Check reports what is wrong with a text, as in "names no host", or with a key of a Map,
	// which without it must be a variable's name; nil accepts all.
	Check func(text string) error `json:"-"`
}
