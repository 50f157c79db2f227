package hotreload

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/langrooms/langrooms/setting"
)

var rowsOfTypes struct {
	sync.Mutex
	of   int // the number of registered types that rows are made of
	rows []row[Delegate]
}

// delegateRows describes one entry of delegates: what every entry has, and what the registered
// types have.
func delegateRows() []row[Delegate] {
	types := setting.Types()
	rowsOfTypes.Lock()
	defer rowsOfTypes.Unlock()
	if rowsOfTypes.rows != nil && rowsOfTypes.of == len(types) {
		return rowsOfTypes.rows
	}
	rows := slices.Clone(commonRows)
	for _, t := range types {
		for i, r := range rows {
			if r.Key == "type" {
				rows[i].Choices = append(slices.Clone(r.Choices), t.Name)
			}
		}
		for _, f := range t.Fields {
			f.Field.Types = []string{t.Name}
			rows = append(rows, row[Delegate]{f.Field, func(d *Delegate) any { return f.At(d.Settings) }})
		}
	}
	rowsOfTypes.of, rowsOfTypes.rows = len(types), rows
	return rows
}

// typeOf returns the registered type of this name.
func typeOf(name string) (setting.Type, bool) {
	types := setting.Types()
	i := slices.IndexFunc(types, func(t setting.Type) bool { return t.Name == name })
	if i < 0 {
		return setting.Type{}, false
	}
	return types[i], true
}

// ownSettings gives d settings that nobody else has, those of d or new ones. It reports false
// when they are not of d's type.
func (d *Delegate) ownSettings() bool {
	t, ok := typeOf(d.Type)
	if !ok {
		return d.Settings == nil // the parser says what is wrong
	}
	fresh := t.New()
	if d.Settings != nil {
		if reflect.TypeOf(d.Settings) != reflect.TypeOf(fresh) || reflect.ValueOf(d.Settings).IsNil() {
			return false
		}
		reflect.ValueOf(fresh).Elem().Set(reflect.ValueOf(d.Settings).Elem())
	}
	d.Settings = fresh
	return true
}

var stores struct {
	sync.RWMutex
	schemes []string // as an address begins
}

func init() {
	stores.schemes = []string{"memory:", "sqlite:", "redis://", "rediss://", "redis+sentinel://", "redis+cluster://"}
}

// RegisterStore adds the scheme of a store's url, as in "postgres:", for the whole process.
// setup.RegisterStore does it, and says how such a store is opened. It panics when the scheme
// is there already.
func RegisterStore(scheme string) {
	stores.Lock()
	defer stores.Unlock()
	if slices.ContainsFunc(stores.schemes, func(known string) bool { return strings.HasPrefix(known, scheme) }) {
		panic(fmt.Sprintf("hotreload: the store %q is registered already", scheme))
	}
	stores.schemes = append(stores.schemes, scheme)
}
func storeSchemes() []string {
	stores.RLock()
	defer stores.RUnlock()
	return slices.Clone(stores.schemes)
}
