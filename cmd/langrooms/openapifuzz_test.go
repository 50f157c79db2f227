package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms/internal/openapi"
)

// fuzzed is how often each operation is asked.
const fuzzed = 20

// Whatever is asked for by the document, with values that are meant badly, is answered, and never as the document does
// not have it.
func TestOpenAPIFuzz(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hello"), roster(openaiEntry("proto", says(t, "I am here"))))
	s := serve(t, f)
	d, err := apiDocument()
	if err != nil {
		t.Fatal(err)
	}
	_, body := s.ask(t, "POST", "/api/rooms", `{"name":"r","agents":["proto"]}`)
	z := fuzzer{t, rand.New(rand.NewPCG(15, 12)), d, []string{"main", between(body, `"id":"`, `"`), "proto", "nobody", "..", "a/b", "\x00", "room_0123456789abcdef", strings.Repeat("x", 300), "\u202e\u202eé", "agent"}}
	for _, pattern := range d.Patterns() {
		for i := range fuzzed {
			if i%5 == 0 { // it may have been deleted
				s.ask(t, "POST", "/threads", `{"thread_id":"main","if_exists":"do_nothing"}`)
			}
			if i == fuzzed/2 {
				s.ask(t, "POST", "/threads/main/state", `{"values":{"messages":[{"type":"human","content":"x"},{"type":"ai","content":"y"}]}}`)
			}
			z.one(s.url, pattern)
		}
	}
	s.end(t)
}

type fuzzer struct {
	t   testing.TB
	r   *rand.Rand
	d   *openapi.Document
	ids []string
}

func pick[T any](z fuzzer, all []T) T { return all[z.r.IntN(len(all))] }

var inBraces = regexp.MustCompile(`\{\w+\}`)

// one asks one operation once.
func (z fuzzer) one(base, pattern string) {
	z.t.Helper()
	method, path, _ := strings.Cut(pattern, " ")
	op := z.d.Paths[path][strings.ToLower(method)]
	to := inBraces.ReplaceAllStringFunc(path, func(string) string { return url.PathEscape(pick(z, z.ids)) })
	query := url.Values{}
	for _, p := range op["parameters"].([]map[string]any) {
		if p["in"] == "query" && z.r.IntN(2) == 0 {
			query.Set(p["name"].(string), z.text())
		}
	}
	var data []byte
	if b, ok := op["requestBody"].(map[string]any); ok {
		schema := b["content"].(map[string]any)["application/json"].(map[string]any)["schema"].(openapi.Schema)
		data, _ = json.Marshal(z.value(schema, 0)) // ours marshal
	}
	ctx, cancel := context.WithTimeout(z.t.Context(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, base+to+"?"+query.Encode(), bytes.NewReader(data))
	if err != nil {
		z.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		z.t.Errorf("%s %s %s: %v", pattern, to, data, err)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 500 {
		z.t.Errorf("%s %s?%s %s: %d", pattern, to, query.Encode(), data, resp.StatusCode)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return // it may go on for ever
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		z.t.Errorf("%s: %v", pattern, err)
	}
	asDescribed(z.t, req, resp.StatusCode, resp.Header.Get("Content-Type"), got)
}

// value is what a schema has, or something else.
func (z fuzzer) value(s openapi.Schema, deep int) any {
	if z.r.IntN(6) == 0 || deep > 4 {
		return pick(z, []any{nil, true, -1, 1e300, "", "\x00", []any{}, map[string]any{}, strings.Repeat("é", 9000)})
	}
	if ref, ok := s["$ref"].(string); ok {
		s = z.d.Components.Schemas[ref[strings.LastIndex(ref, "/")+1:]]
	}
	if words, ok := s["enum"].([]string); ok {
		return pick(z, words)
	}
	typ, _ := s["type"].(string)
	if types, ok := s["type"].([]string); ok {
		typ = types[0]
	}
	switch typ {
	case "boolean":
		return z.r.IntN(2) == 0
	case "integer", "number":
		return pick(z, []any{0, 1, 2, 20, -5, 1 << 40})
	case "array":
		items, _ := s["items"].(openapi.Schema)
		return []any{z.value(items, deep+1)}
	case "object":
		out := map[string]any{}
		properties, _ := s["properties"].(map[string]openapi.Schema)
		var names []string
		for name := range properties {
			names = append(names, name)
		}
		slices.Sort(names) // the same each time
		for _, name := range names {
			if z.r.IntN(3) > 0 {
				out[name] = z.value(properties[name], deep+1)
			}
		}
		return out
	}
	return z.text()
}

func (z fuzzer) text() string {
	return pick(z, append([]string{"", "@proto hi", "1", "-1", "true", "md", "agent", "values", "__remove_all__", "<script>", "\u0000"}, z.ids...))
}
