package setting

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Of is a key of an entry whose settings are a T.
type Of[T any] struct {
	// Field describes the key: Key as in an entry, with one dot at most. Types, Group and Live
	// are set by whoever shows it.
	Field
	// At points at the key's place: a *string for a Text and a Choice, a *[]string, a
	// *map[string]string or a *map[string]any, a *[Secret] for a SecretText and a Variable, a
	// *time.Duration for Seconds, an *int or *float64 for numbers, a *bool, a *[][MCPServer] for
	// Entries; **float64 and **bool are nil where the key is absent.
	At func(settings *T) any
}

// Problem is what is wrong with an entry whose keys are in order each by itself.
type Problem struct {
	// Key is the key that it is about, and Text says it.
	Key, Text string
	// Warning leaves the entry in use.
	Warning bool
	// AtKey has it told at the key's place in the file, in place of the entry's.
	AtKey bool
}

// Type is a type of the roster's entries.
type Type struct {
	Name   string
	Fields []TypeField
	// New makes the place for the settings of one entry, a pointer.
	New func() any
	// Check looks at what such a place has in it.
	Check func(settings any) []Problem
}

// TypeField is a key of a type; settings are what the type's New has returned.
type TypeField struct {
	Field
	At func(settings any) any
}

var registry struct {
	sync.RWMutex
	types []Type
}

// Register adds a type of the roster's entries, for the whole process: from now on an entry may
// have it, with these keys beside those that every entry has. setup.RegisterType does it, and
// says how the delegate of such an entry is made. check, if any, applies the rules that span
// keys.
//
// Like database/sql.Register it is for the start of a program, and panics when the type is there
// already or a field cannot be used.
func Register[T any](name string, check func(settings *T) []Problem, fields ...Of[T]) {
	t := Type{Name: name, New: func() any { return new(T) }, Check: func(settings any) []Problem {
		if check == nil {
			return nil
		}
		return check(settings.(*T))
	}}
	for _, f := range fields {
		same := func(other TypeField) bool { return other.Key == f.Key }
		if f.Key == "" || strings.Count(f.Key, ".") > 1 || slices.Contains(common, f.Key) || slices.ContainsFunc(t.Fields, same) {
			panic(fmt.Sprintf("setting: type %s: the key %q cannot be used", name, f.Key))
		}
		if !fits(f.Kind, f.At(new(T))) {
			panic(fmt.Sprintf("setting: type %s: a %s does not fit the place of %s", name, f.Kind, f.Key))
		}
		t.Fields = append(t.Fields, TypeField{f.Field, func(settings any) any { return f.At(settings.(*T)) }})
	}
	registry.Lock()
	defer registry.Unlock()
	if name == "" || slices.ContainsFunc(registry.types, func(other Type) bool { return other.Name == name }) {
		panic(fmt.Sprintf("setting: the type %q is empty or registered already", name))
	}
	registry.types = append(registry.types, t)
}

// common are the keys that every entry has.
var common = []string{"name", "type", "description", "instructions", "accepts", "cost.input_per_mtok", "cost.output_per_mtok"}

// fits reports whether a value of the kind can be put where at points.
func fits(kind Kind, at any) bool {
	places := map[Kind][]any{
		Text: {(*string)(nil)}, Choice: {(*string)(nil)}, SecretText: {(*Secret)(nil)}, Variable: {(*Secret)(nil)},
		Whole: {(*int)(nil)}, Number: {(*float64)(nil), (**float64)(nil)}, Seconds: {(*time.Duration)(nil)},
		Bool: {(*bool)(nil), (**bool)(nil)}, List: {(*[]string)(nil)}, Map: {(*map[string]string)(nil)},
		Values: {(*map[string]any)(nil)}, Entries: {(*[]MCPServer)(nil)},
	}
	return slices.ContainsFunc(places[kind], func(place any) bool { return reflect.TypeOf(place) == reflect.TypeOf(at) })
}

// Types returns the registered types, in order. They must not be changed.
func Types() []Type {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Clip(registry.types)
}
