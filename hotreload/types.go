package hotreload

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// TypeField is a key of a type of delegates.
type TypeField[T any] struct {
	// Field describes the key: Key as in an entry, at most one dot in it, and Kind, any but
	// KindEntries. Types, Group and Live are set by [RegisterType].
	Field
	// At points at the key's place in an entry's settings: a *string for texts and choices, a
	// *[]string, *map[string]string or *map[string]any, a *[Secret] for a secret or a variable, a
	// *time.Duration for seconds, an *int or *float64 for numbers, a *bool; **float64 and **bool
	// are nil where the key is absent.
	At func(settings *T) any
	// Check reports what is wrong with a text, as in "names no host", or with a key of a
	// KindMap, which without it must be the name of an environment variable; nil accepts all.
	Check func(text string) error
}

// registry is the types of delegates and of stores. It only grows.
var registry struct {
	sync.RWMutex
	types []string
	rows  []row[Delegate] // common ones first
	// settings makes the place for an entry's settings, by type; a type of this module has none.
	settings map[string]func() any
	schemes  []string
}

func init() {
	registry.types = []string{typeA2A, typeOpenAI, typeACP}
	registry.rows = moduleRows
	registry.settings = map[string]func() any{}
	registry.schemes = []string{"memory:", "sqlite:", "redis://", "rediss://", "redis+sentinel://", "redis+cluster://"}
}

// RegisterType adds a type of delegates, for the whole process: from now on an entry of
// delegates may have it, with these keys beside those that every entry has, and they are read,
// checked, shown, edited and described as those of this module. The entry's Settings point at
// a T. setup.RegisterType does it, and says how such a delegate is made.
//
// Like database/sql.Register it is for the start of a program, and panics when the type is
// there already or a field cannot be used.
func RegisterType[T any](name string, fields ...TypeField[T]) {
	registry.Lock()
	defer registry.Unlock()
	if name == "" || slices.Contains(registry.types, name) {
		panic(fmt.Sprintf("hotreload: the type of delegates %q is empty or registered already", name))
	}
	rows := slices.Clone(registry.rows)
	for _, f := range fields {
		r := row[Delegate]{f.Field, func(d *Delegate) any { return f.At(d.Settings.(*T)) }}
		r.Types, r.check = []string{name}, f.Check
		if _, taken := find(rows, r.Key, name); taken || r.Key == "" || strings.Count(r.Key, ".") > 1 {
			panic(fmt.Sprintf("hotreload: type %s: the key %q cannot be used", name, r.Key))
		}
		if !fits(r.Field, f.At(new(T))) {
			panic(fmt.Sprintf("hotreload: type %s: a %s does not fit the place of %s", name, r.Kind, r.Key))
		}
		rows = append(rows, r)
	}
	for i, r := range rows {
		if r.Key == "type" {
			rows[i].Choices = append(slices.Clone(r.Choices), name)
		}
	}
	registry.types, registry.rows = append(registry.types, name), rows
	registry.settings[name] = func() any { return new(T) }
}

// fits reports whether a value of the field, and its default, can be put where at points.
func fits(f Field, at any) bool {
	var ok bool
	switch f.Kind {
	case KindText, KindChoice:
		_, ok = at.(*string)
	case KindSecret, KindVariable:
		_, ok = at.(*Secret)
	case KindSeconds:
		_, ok = at.(*time.Duration)
	case KindWhole:
		_, ok = at.(*int)
	case KindNumber:
		switch at.(type) {
		case *float64, **float64:
			ok = true
		}
	case KindBool:
		switch at.(type) {
		case *bool, **bool:
			ok = true
		}
	case KindList:
		_, ok = at.(*[]string)
	case KindMap:
		_, ok = at.(*map[string]string)
	case KindValues:
		_, ok = at.(*map[string]any)
	}
	return ok
}

// RegisterStore adds the scheme of a store's url, as in "postgres:", for the whole process.
// setup.RegisterStore does it, and says how such a store is opened. It panics when the scheme
// is there already.
func RegisterStore(scheme string) {
	registry.Lock()
	defer registry.Unlock()
	if slices.ContainsFunc(registry.schemes, func(known string) bool { return strings.HasPrefix(known, scheme) }) {
		panic(fmt.Sprintf("hotreload: the store %q is registered already", scheme))
	}
	registry.schemes = append(registry.schemes, scheme)
}

// delegateRows describes one entry of delegates, of whatever type.
func delegateRows() []row[Delegate] {
	registry.RLock()
	defer registry.RUnlock()
	return registry.rows
}

// newSettings makes the place for the settings of an entry of type typ; nil where that has none.
func newSettings(typ string) any {
	registry.RLock()
	defer registry.RUnlock()
	if settings, ok := registry.settings[typ]; ok {
		return settings()
	}
	return nil
}

// ownSettings gives d settings that nobody else has, those of d or new ones. It reports false
// when they are not of d's type.
func (d *Delegate) ownSettings() bool {
	fresh := newSettings(d.Type)
	if fresh != nil && d.Settings != nil {
		if reflect.TypeOf(d.Settings) != reflect.TypeOf(fresh) || reflect.ValueOf(d.Settings).IsNil() {
			return false
		}
		reflect.ValueOf(fresh).Elem().Set(reflect.ValueOf(d.Settings).Elem())
	}
	ok := fresh != nil || d.Settings == nil
	d.Settings = fresh
	return ok
}

func storeSchemes() []string {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Clone(registry.schemes)
}
