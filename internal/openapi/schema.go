package openapi

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Schema is a JSON Schema.
type Schema map[string]any

// generator makes the schemas of one part.
type generator struct {
	API
	schemas map[string]Schema
	named   map[string]reflect.Type
	err     error
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()

	marshaler   = reflect.TypeFor[json.Marshaler]()
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
	texts       = reflect.TypeFor[encoding.TextMarshaler]()
)

// written reports whether a type writes or reads itself.
func written(t, by reflect.Type) bool {
	return t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && (t.Implements(by) || reflect.PointerTo(t).Implements(by))
}

// schema is what encoding/json makes of a value of type t; structs with a name are components.
func (g *generator) schema(t reflect.Type) Schema {
	if words := g.Words[t]; words != nil {
		return Schema{"type": "string", "enum": words}
	}
	switch {
	case t == timeType:
		return Schema{"type": "string", "format": "date-time"}
	case t == rawType, written(t, marshaler), written(t, unmarshaler):
		return Schema{} // it may be anything
	case written(t, texts):
		return Schema{"type": "string"}
	case t.Kind() == reflect.Struct && (t.Name() != "" || g.Names[t] != ""):
		return g.component(t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Schema{"type": "integer"}
	case reflect.Float32, reflect.Float64:
		return Schema{"type": "number"}
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Interface:
		return Schema{}
	case reflect.Pointer:
		return nullable(g.schema(t.Elem()))
	case reflect.Slice, reflect.Array:
		return Schema{"type": "array", "items": g.schema(t.Elem())}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": g.schema(t.Elem())}
	case reflect.Struct:
		return g.object(t)
	}
	g.fail(fmt.Errorf("openapi: %v cannot be described", t))
	return Schema{}
}

func (g *generator) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// nullable is s or null.
func nullable(s Schema) Schema {
	if typ, ok := s["type"].(string); ok && s["enum"] == nil {
		s = maps.Clone(s)
		s["type"] = []string{typ, "null"}
		return s
	}
	if len(s) == 0 {
		return s
	}
	return Schema{"anyOf": []Schema{s, {"type": "null"}}}
}

// component describes a struct once, under its name, and refers to it.
func (g *generator) component(t reflect.Type) Schema {
	name := g.Names[t]
	if name == "" {
		name = strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }); i >= 0 {
		g.fail(fmt.Errorf("openapi: %v needs a name", t))
	}
	switch other := g.named[name]; {
	case other == nil:
		g.named[name] = t // before its fields, which may be of its type
		g.schemas[name] = g.object(t)
	case other != t:
		g.fail(fmt.Errorf("openapi: %v and %v are both called %s", other, t, name))
	}
	return refTo(name)
}

func refTo(name string) Schema { return Schema{"$ref": "#/components/schemas/" + name} }

// object describes the fields of a struct.
func (g *generator) object(t reflect.Type) Schema {
	properties, required := map[string]Schema{}, []string{}
	for _, f := range fields(t) {
		s := g.schema(f.typ)
		if f.optional && f.typ.Kind() == reflect.Pointer {
			s = g.schema(f.typ.Elem()) // nil is left out
		}
		if words := f.Tag.Get("enum"); words != "" {
			s = Schema{"type": "string", "enum": strings.Split(words, ",")}
		}
		if ref := f.Tag.Get("ref"); ref != "" {
			s = refTo(ref)
		}
		if properties[f.name] = s; !f.optional {
			required = append(required, f.name)
		}
	}
	s := Schema{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// partial is schema with nothing in its outermost objects required.
func (g *generator) partial(t reflect.Type) Schema {
	switch t.Kind() {
	case reflect.Slice:
		return Schema{"type": "array", "items": g.partial(t.Elem())}
	case reflect.Struct:
		s := g.object(t)
		delete(s, "required")
		return s
	}
	return g.schema(t)
}

type field struct {
	reflect.StructField
	name     string
	typ      reflect.Type
	optional bool
}

// fields are what encoding/json writes of a struct; those of embedded structs are its own.
func fields(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-", !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			all = append(all, fields(f.Type)...)
		default:
			if name == "" {
				name = f.Name
			}
			all = append(all, field{f, name, f.Type, strings.Contains(options, "omit")})
		}
	}
	// A field of the struct goes before one of that name of an embedded struct.
	seen := map[string]bool{}
	slices.Reverse(all)
	all = slices.DeleteFunc(all, func(f field) bool {
		twice := seen[f.name]
		seen[f.name] = true
		return twice
	})
	slices.Reverse(all)
	return all
}
