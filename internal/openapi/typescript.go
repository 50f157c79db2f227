package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// TypeScript writes the components of a document as interfaces.
func (d *Document) TypeScript() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		s := d.Components.Schemas[name]
		if properties, ok := s["properties"].(map[string]Schema); ok {
			fmt.Fprintf(&b, "\nexport interface %s {%s\n}\n", name, members(s, properties))
		} else {
			fmt.Fprintf(&b, "\nexport type %s = %s;\n", name, typeOf(s))
		}
	}
	return b.String()
}

func members(s Schema, properties map[string]Schema) string {
	required, _ := s["required"].([]string)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		mark := "?"
		if slices.Contains(required, name) {
			mark = ""
		}
		fmt.Fprintf(&b, "\n  %s%s: %s;", name, mark, typeOf(properties[name]))
	}
	return b.String()
}

// typeOf is a schema as TypeScript has it.
func typeOf(s Schema) string {
	if ref, ok := s["$ref"].(string); ok {
		return ref[strings.LastIndex(ref, "/")+1:]
	}
	if words, ok := s["enum"].([]string); ok {
		return `"` + strings.Join(words, `" | "`) + `"`
	}
	if any, ok := s["anyOf"].([]Schema); ok {
		var all []string
		for _, one := range any {
			all = append(all, typeOf(one))
		}
		return strings.Join(all, " | ")
	}
	switch typ := s["type"].(type) {
	case string:
		return plain(typ, s)
	case []string:
		var all []string
		for _, one := range typ {
			all = append(all, plain(one, s))
		}
		return strings.Join(all, " | ")
	}
	return "unknown"
}

func plain(typ string, s Schema) string {
	switch typ {
	case "integer":
		return "number"
	case "array":
		items := typeOf(s["items"].(Schema))
		if strings.Contains(items, " | ") {
			items = "(" + items + ")"
		}
		return items + "[]"
	case "object":
		if properties, ok := s["properties"].(map[string]Schema); ok {
			return "{" + strings.ReplaceAll(members(s, properties), "\n  ", " ") + " }"
		}
		if values, ok := s["additionalProperties"].(Schema); ok {
			return "Record<string, " + typeOf(values) + ">"
		}
		return "Record<string, unknown>"
	}
	return typ
}
