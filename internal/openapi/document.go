// Package openapi describes an HTTP API as an OpenAPI 3.1 document, from the Go types that its
// handlers decode and encode, and writes those types for TypeScript.
//
// # Concurrency
//
// The functions are pure. A [Document] must not be changed while it is read.
package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Operation is what a route takes and answers. The types are those of the values, which are not looked at.
type Operation struct {
	// Pattern is the route's of http.ServeMux, with its method.
	Pattern string
	// Summary is one sentence.
	Summary string
	// Query are the parameters of the query string.
	Query []Param
	// Body is a value of the type that the body is decoded into; nil where there is none.
	Body any
	// Answer is a value of the type that is encoded; nil where there is no JSON.
	Answer any
	// Partial says that any field of the answer may be left out.
	Partial bool
	// Media is the type of an answer that is no JSON, such as text/event-stream.
	Media string
	// Admin says that only admins may ask.
	Admin bool
}

// Param is a parameter of the query string.
type Param struct{ Name, About string }

// API is a part of the document.
type API struct {
	// Tag names the part.
	Tag        string
	Operations []Operation
	// Refusal is a value of the type of every answer that is not the one hoped for.
	Refusal any
	// Names are those of types that are not to have their Go name.
	Names map[reflect.Type]string
	// Words are the values of types that are texts.
	Words map[reflect.Type][]string
	// More are schemas that fields refer to by their tag `ref:"Name"`.
	More map[string]Schema
}

// Document is an OpenAPI document.
type Document struct {
	OpenAPI    string                               `json:"openapi"`
	Info       Info                                 `json:"info"`
	Security   []map[string][]string                `json:"security"`
	Paths      map[string]map[string]map[string]any `json:"paths"`
	Components Components                           `json:"components"`
}

// Info says what the document describes.
type Info struct {
	Title   string `json:"title"`
	Version string `json:"version"`
}

// Components are what the paths refer to.
type Components struct {
	Schemas  map[string]Schema         `json:"schemas"`
	Security map[string]map[string]any `json:"securitySchemes"`
}

// New makes the document of several parts. Two types of one name in it, or a route that is described twice, is an error.
func New(title, version string, parts ...API) (*Document, error) {
	d := &Document{OpenAPI: "3.1.0", Info: Info{title, version}, Paths: map[string]map[string]map[string]any{},
		// Either is taken, and none where the server knows no keys.
		Security: []map[string][]string{{"key": {}}, {"bearer": {}}, {}},
		Components: Components{Schemas: map[string]Schema{}, Security: map[string]map[string]any{
			"key":    {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
			"bearer": {"type": "http", "scheme": "bearer"},
		}}}
	named := map[string]reflect.Type{}
	for _, part := range parts {
		g := &generator{API: part, schemas: d.Components.Schemas, named: named}
		maps.Copy(d.Components.Schemas, part.More)
		for _, op := range part.Operations {
			method, path, ok := strings.Cut(op.Pattern, " ")
			if !ok || d.Paths[path][strings.ToLower(method)] != nil {
				return nil, fmt.Errorf("openapi: %q has no method, or is there twice", op.Pattern)
			}
			if d.Paths[path] == nil {
				d.Paths[path] = map[string]map[string]any{}
			}
			d.Paths[path][strings.ToLower(method)] = g.operation(op, path)
		}
		if g.err != nil {
			return nil, g.err
		}
	}
	return d, nil
}

// JSON is the document as it is served.
func (d *Document) JSON() []byte {
	data, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		panic("openapi: a document does not marshal: " + err.Error())
	}
	return append(data, '\n')
}

// Patterns are the routes that the document describes.
func (d *Document) Patterns() []string {
	var all []string
	for path, methods := range d.Paths {
		for method := range methods {
			all = append(all, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(all)
	return all
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

func (g *generator) operation(op Operation, path string) map[string]any {
	params := []map[string]any{}
	for _, m := range pathParam.FindAllStringSubmatch(path, -1) {
		params = append(params, map[string]any{"name": m[1], "in": "path", "required": true, "schema": Schema{"type": "string"}})
	}
	for _, p := range op.Query {
		params = append(params, map[string]any{"name": p.Name, "in": "query", "description": p.About, "schema": Schema{"type": "string"}})
	}
	fine := map[string]any{"description": "It is done."}
	switch {
	case op.Answer != nil:
		s := g.schema(reflect.TypeOf(op.Answer))
		if op.Partial {
			s = g.partial(reflect.TypeOf(op.Answer))
		}
		fine["content"] = content("application/json", s)
	case op.Media != "":
		fine["content"] = content(op.Media, Schema{"type": "string"})
	}
	out := map[string]any{"summary": op.Summary, "tags": []string{g.Tag}, "parameters": params, "responses": map[string]any{
		"2XX":     fine,
		"default": map[string]any{"description": "It is refused.", "content": content("application/json", g.schema(reflect.TypeOf(g.Refusal)))},
	}}
	if op.Admin {
		out["description"] = "For admins."
	}
	if op.Body != nil {
		// What is missing has its default, and what a body has beyond this is passed over.
		out["requestBody"] = map[string]any{"content": content("application/json", g.partial(reflect.TypeOf(op.Body)))}
	}
	return out
}

func content(media string, s Schema) map[string]any {
	return map[string]any{media: map[string]any{"schema": s}}
}
