package hotreload

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/langrooms/langrooms/setting"
)

// Value is one effective setting as it may be shown: secrets, the values of env and the
// passwords in addresses are hidden.
type Value struct {
	// Key is dotted; an entry's name stands in for its index.
	Key   string `json:"key"`
	Value string `json:"value"`
	// Default is true where the value is the default.
	Default bool `json:"default"`
}

// Values returns every setting that has a value, in schema order, the entries of lists
// field by field. Texts are as the file has them: whoever prints them to a terminal
// escapes them.
func (c Config) Values() []Value {
	var all []Value
	for _, r := range configRows {
		switch at := r.at(&c).(type) {
		case *[]Delegate:
			for i := range *at {
				d := &(*at)[i]
				all = appendValues(all, delegateRows(), d, d.Type, "delegates."+d.Name+".")
			}
		case *[]Key:
			for i := range *at {
				all = appendValues(all, keyRows, &(*at)[i], "", "server.keys."+(*at)[i].Name+".")
			}
		default:
			all = appendValue(all, r.Field, at, "")
		}
	}
	return all
}

func appendValues[T any](all []Value, rows []row[T], of *T, typ, prefix string) []Value {
	for _, r := range rows {
		if r.has(typ) {
			all = appendValue(all, r.Field, r.at(of), prefix)
		}
	}
	return all
}

func appendValue(all []Value, f setting.Field, at any, prefix string) []Value {
	text, ok := "", true
	switch v := at.(type) {
	case *[]setting.MCPServer:
		for i := range *v {
			all = appendValues(all, serverRows, &(*v)[i], "", prefix+f.Key+"."+(*v)[i].Name+".")
		}
		return all
	case *setting.Secret:
		text, ok = v.String(), !v.IsZero() && (f.Kind == setting.Variable) == (v.Env() != "")
	case *string:
		text, ok = *v, *v != ""
		if strings.HasSuffix(f.Key, "url") {
			text = setting.RedactURL(*v)
		}
	case *time.Duration:
		text = fmt.Sprint(v.Seconds())
	case **float64:
		if ok = *v != nil; ok {
			text = plain(**v)
		}
	case **bool:
		if ok = *v != nil; ok {
			text = fmt.Sprint(**v)
		}
	case *[]string:
		text, ok = "["+strings.Join(*v, ", ")+"]", *v != nil
	case *map[string]string:
		names := slices.Sorted(maps.Keys(*v))
		text, ok = strings.Join(names, "=(hidden) ")+"=(hidden)", len(names) > 0
	case *map[string]any:
		names := slices.Sorted(maps.Keys(*v))
		text, ok = strings.Join(names, "=(hidden) ")+"=(hidden)", len(names) > 0
	case *int:
		text, ok = fmt.Sprint(*v), *v != 0 || f.Default != nil
	default:
		text = fmt.Sprint(reflect.ValueOf(at).Elem().Interface())
	}
	if !ok {
		return all
	}
	return append(all, Value{Key: prefix + f.Key, Value: text, Default: isDefault(f, at)})
}

// isDefault reports whether what at points at is what an absent key means.
func isDefault(f setting.Field, at any) bool {
	fresh := reflect.New(reflect.TypeOf(at).Elem())
	store(fresh.Interface(), f.Kind, f.Default)
	return reflect.DeepEqual(fresh.Elem().Interface(), reflect.ValueOf(at).Elem().Interface())
}
