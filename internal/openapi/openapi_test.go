package openapi_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms/internal/openapi"
)

type kind string

type base struct {
	ID string `json:"id"`
}

type thing struct {
	base
	Kind   kind            `json:"kind"`
	Named  *string         `json:"named"`
	Left   *int            `json:"left,omitempty"`
	At     time.Time       `json:"at"`
	Any    json.RawMessage `json:"any"`
	List   []*thing        `json:"list"`
	Of     map[string]base `json:"of"`
	Word   string          `json:"word,omitempty" enum:"a,b"`
	Inner  struct{ N int } `json:"inner"`
	Hidden string          `json:"-"`
	Self   *base           `json:"self"`
	more   bool            //lint:ignore U1000 the document leaves it out
}

type refused struct {
	Detail string `json:"detail"`
}

func api(ops ...openapi.Operation) openapi.API {
	return openapi.API{Tag: "t", Refusal: refused{}, Operations: ops, Names: map[reflect.Type]string{reflect.TypeFor[base](): "Root"},
		Words: map[reflect.Type][]string{reflect.TypeFor[kind](): {"x", "y"}}}
}

// What encoding/json writes of a type is what the document says, and what TypeScript is told.
func TestDocument(t *testing.T) {
	d, err := openapi.New("it", "1", api(
		openapi.Operation{Pattern: "GET /things/{id}", Summary: "One.", Answer: thing{}, Query: []openapi.Param{{Name: "q"}}, Admin: true},
		openapi.Operation{Pattern: "POST /things", Body: thing{}, Media: "text/event-stream"}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `
export interface Refused {
  detail: string;
}

export interface Root {
  id: string;
}

export interface Thing {
  any: unknown;
  at: string;
  id: string;
  inner: { N: number; };
  kind: "x" | "y";
  left?: number;
  list: (Thing | null)[];
  named: string | null;
  of: Record<string, Root>;
  self: Root | null;
  word?: "a" | "b";
}
`
	if got := d.TypeScript(); got != want {
		t.Errorf("TypeScript:%s", got)
	}
	if got := strings.Join(d.Patterns(), ", "); got != "GET /things/{id}, POST /things" {
		t.Errorf("patterns: %s", got)
	}
	var all map[string]any
	if err := json.Unmarshal(d.JSON(), &all); err != nil || all["openapi"] != "3.1.0" {
		t.Errorf("%v %v", all["openapi"], err)
	}
	for _, part := range []string{`"name": "id"`, `"in": "query"`, `"text/event-stream"`, `"For admins."`, `"2XX"`, `"default"`} {
		if !strings.Contains(string(d.JSON()), part) {
			t.Errorf("the document lacks %s", part)
		}
	}
}

// What cannot be described is an error, and not a document that lies.
func TestFaults(t *testing.T) {
	type Refused struct{ N int }
	for what, ops := range map[string][]openapi.Operation{
		"no method":           {{Pattern: "/x"}},
		"there twice":         {{Pattern: "GET /x"}, {Pattern: "GET /x"}},
		"both called":         {{Pattern: "GET /x", Answer: Refused{}}},
		"cannot be described": {{Pattern: "GET /x", Answer: func() {}}},
	} {
		if _, err := openapi.New("it", "1", api(ops...)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
