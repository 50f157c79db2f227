package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// The console's types are those of the document that is served.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	s := serve(t, folder(t, says(t, "hello"), ""))
	code, body := s.ask(t, "GET", "/openapi.json", "")
	expect(t, "status", 200, code)
	d, err := apiDocument()
	if err != nil {
		t.Fatal(err)
	}
	built := regexp.MustCompile(`(?m)^  "version": ".*"$`) // a program knows its commit, a test does not
	expect(t, "the document", built.ReplaceAllString(string(d.JSON()), ""), built.ReplaceAllString(body, ""))
	const path = "../../console/web/src/schema.ts"
	want := "// Made from the document that is served as /openapi.json: go test ./cmd/langrooms -run TestOpenAPI -update\n" + d.TypeScript()
	if *updateScreens { // -update
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the document says; write it anew with -update: %v", path, err)
	}
	described, err := theDocument()
	if err != nil {
		t.Fatal(err)
	}
	for answer, fine := range map[string]bool{`{"members":{},"total":{"answers":1,"input_tokens":0,"output_tokens":0,"cost_usd":0}}`: true, `{"members":{}}`: false, `{"members":{"a":5},"total":{}}`: false} {
		var v any
		if err := json.Unmarshal([]byte(answer), &v); err != nil {
			t.Fatal(err)
		}
		if err := described.answers["GET /api/threads/{id}/costs"][true].Validate(v); (err == nil) != fine {
			t.Errorf("%s: %v", answer, err)
		}
	}
	s.end(t)
}

// described finds what the document says of an answer.
type described struct {
	mux     *http.ServeMux
	answers map[string]map[bool]*jsonschema.Resolved // by pattern, and whether it is the one hoped for
}

var theDocument = sync.OnceValues(func() (*described, error) {
	d, err := apiDocument()
	if err != nil {
		return nil, err
	}
	out := &described{http.NewServeMux(), map[string]map[bool]*jsonschema.Resolved{}}
	defs, err := json.Marshal(d.Components.Schemas)
	if err != nil {
		return nil, err
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			pattern := strings.ToUpper(method) + " " + path
			out.mux.Handle(pattern, http.NotFoundHandler())
			out.answers[pattern] = map[bool]*jsonschema.Resolved{}
			for status, response := range op["responses"].(map[string]any) {
				content, _ := response.(map[string]any)["content"].(map[string]any)
				media, ok := content["application/json"].(map[string]any)
				if !ok {
					continue
				}
				one, err := json.Marshal(media["schema"])
				if err != nil {
					return nil, err
				}
				text := `{"$defs":` + string(defs) + `,"allOf":[` + string(one) + `]}`
				var schema jsonschema.Schema
				if err := json.Unmarshal([]byte(strings.ReplaceAll(text, "#/components/schemas/", "#/$defs/")), &schema); err != nil {
					return nil, err
				}
				if out.answers[pattern][status == "2XX"], err = schema.Resolve(nil); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
})

// asDescribed reports an answer that is not as the document says.
func asDescribed(t testing.TB, r *http.Request, code int, kind string, body []byte) {
	t.Helper()
	d, err := theDocument()
	if err != nil {
		t.Fatal(err)
	}
	_, pattern := d.mux.Handler(r)
	schema := d.answers[pattern][code < 300]
	if schema == nil || code == http.StatusUnauthorized || code == http.StatusTooManyRequests || len(bytes.TrimSpace(body)) == 0 || !strings.HasPrefix(kind, "application/json") {
		return
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	} else if err := schema.Validate(v); err != nil {
		t.Errorf("%s %s: %d is not as the document says: %v\n%.300s", r.Method, r.URL.Path, code, err, body)
	}
}
