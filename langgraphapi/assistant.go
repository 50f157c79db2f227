package langgraphapi

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// The assistants, by their graph ids: one graph, whose replies carry their author as the name
// alone, or also in the text for clients that show no names.
const (
	graphPlain = "agent"
	graphNamed = "agent-named"
	// graphRoom is another name of the plain one.
	graphRoom = "room"
)

var graphs = []string{graphPlain, graphNamed, graphRoom}

// assistant is an Assistant object.
type assistant struct {
	ID          string         `json:"assistant_id"`
	GraphID     string         `json:"graph_id"`
	Name        string         `json:"name"`
	Description *string        `json:"description"`
	Config      map[string]any `json:"config"`
	Context     map[string]any `json:"context"`
	Metadata    map[string]any `json:"metadata"`
	Version     int            `json:"version"`
	Created     string         `json:"created_at"`
	Updated     string         `json:"updated_at"`
}

// assistantsSince is when the assistants came into being: they are part of the program.
const assistantsSince = "2026-12-01T00:00:00.000Z"

func newAssistant(graph string) assistant {
	return assistant{ID: assistantID(graph), GraphID: graph, Name: graph, Config: map[string]any{}, Context: map[string]any{},
		Metadata: map[string]any{"created_by": "system"}, Version: 1, Created: assistantsSince, Updated: assistantsSince}
}

// assistantID is the UUIDv5 of a graph id in LangGraph's name space.
func assistantID(graph string) string {
	space := []byte{0x6b, 0xa7, 0xb8, 0x21, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}
	sum := sha1.Sum(append(space, graph...))
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// findAssistant takes an assistant's id or a graph's.
func findAssistant(id string) (assistant, error) {
	for _, g := range graphs {
		if id == g || strings.EqualFold(id, assistantID(g)) {
			return newAssistant(g), nil
		}
	}
	return assistant{}, refused(http.StatusNotFound, "there is no assistant %q", id)
}

type assistantQuery struct {
	GraphID   *string        `json:"graph_id"`
	Name      *string        `json:"name"`
	Metadata  map[string]any `json:"metadata"`
	Limit     *int           `json:"limit"`
	Offset    int            `json:"offset"`
	SortBy    string         `json:"sort_by"`
	SortOrder string         `json:"sort_order"`
	Select    []string       `json:"select"`
}

func (q assistantQuery) find() []assistant {
	var found []assistant
	for _, g := range graphs {
		a := newAssistant(g)
		if (q.GraphID == nil || *q.GraphID == g) && contains(a.Metadata, q.Metadata) &&
			(q.Name == nil || strings.Contains(strings.ToLower(a.Name), strings.ToLower(*q.Name))) {
			found = append(found, a)
		}
	}
	if q.SortBy == "name" || q.SortBy == "graph_id" || q.SortBy == "assistant_id" {
		slices.SortStableFunc(found, func(a, b assistant) int {
			if q.SortBy == "assistant_id" {
				return cmp.Compare(a.ID, b.ID)
			}
			return cmp.Compare(a.Name, b.Name)
		})
		if strings.EqualFold(q.SortOrder, "desc") {
			slices.Reverse(found)
		}
	}
	return found
}

func (s *Server) assistantsSearch(w http.ResponseWriter, r *http.Request) {
	var q assistantQuery
	if !read(w, r, &q) {
		return
	}
	limit, err := limitOf(q.Limit, 1000)
	if err != nil {
		s.fail(w, err)
		return
	}
	found := q.find()
	reply(w, selected(paged(w, found, limit, q.Offset), q.Select))
}

func (s *Server) assistantsCount(w http.ResponseWriter, r *http.Request) {
	var q assistantQuery
	if read(w, r, &q) {
		reply(w, len(q.find()))
	}
}

func (s *Server) assistantGet(w http.ResponseWriter, r *http.Request) {
	s.withAssistant(w, r, func(a assistant) any { return a })
}

func (s *Server) withAssistant(w http.ResponseWriter, r *http.Request, do func(assistant) any) {
	a, err := findAssistant(r.PathValue("id"))
	if err != nil {
		s.fail(w, err)
		return
	}
	reply(w, do(a))
}

func (s *Server) assistantSubgraphs(w http.ResponseWriter, r *http.Request) {
	s.withAssistant(w, r, func(assistant) any { return map[string]any{} })
}

// assistantSchemas names `messages`, which clients look for before they send state keys.
func (s *Server) assistantSchemas(w http.ResponseWriter, r *http.Request) {
	s.withAssistant(w, r, func(a assistant) any {
		state := map[string]any{"type": "object", "title": "State", "properties": map[string]any{
			"messages": map[string]any{"type": "array", "items": map[string]any{"type": "object"}}}}
		config := map[string]any{"type": "object", "title": "Configurable", "properties": map[string]any{
			"incognito": map[string]any{"type": "boolean", "description": "Keep what @name addresses say out of logs, exports and summaries."},
			"ask":       map[string]any{"type": "boolean", "description": "Members may ask leave while the run goes on, as custom events of the type question."},
			"answer":    map[string]any{"type": "boolean", "description": "The text after @name goes to the task of that member that waits for an answer."}}}
		return map[string]any{"graph_id": a.GraphID, "input_schema": state, "output_schema": state, "state_schema": state,
			"config_schema": config, "context_schema": map[string]any{"type": "object", "properties": map[string]any{}}}
	})
}

type node struct {
	ID   string         `json:"id"`
	Type string         `json:"type"`
	Data map[string]any `json:"data"`
}

type edge struct {
	Source      string `json:"source"`
	Target      string `json:"target"`
	Conditional bool   `json:"conditional"`
}

// assistantGraph draws the room: a message goes to the lead or to members.
func (s *Server) assistantGraph(w http.ResponseWriter, r *http.Request) {
	s.withAssistant(w, r, func(assistant) any {
		nodes := []node{{"__start__", "schema", map[string]any{"name": "__start__"}}}
		var edges []edge
		for _, name := range append([]string{s.lead()}, s.cfg.Names()...) {
			nodes = append(nodes, node{name, "runnable", map[string]any{"name": name}})
			edges = append(edges, edge{"__start__", name, true}, edge{name, "__end__", false})
		}
		nodes = append(nodes, node{"__end__", "schema", map[string]any{"name": "__end__"}})
		return map[string]any{"nodes": nodes, "edges": edges}
	})
}

// contains reports whether have holds all of want, nested objects included.
func contains(have, want map[string]any) bool {
	for k, w := range want {
		h, ok := have[k]
		if !ok || !equal(h, w) {
			return false
		}
	}
	return true
}

func equal(h, w any) bool {
	if inner, ok := w.(map[string]any); ok {
		outer, ok := h.(map[string]any)
		return ok && contains(outer, inner)
	}
	if list, ok := w.([]any); ok {
		have, ok := h.([]any)
		return ok && slices.EqualFunc(have, list, equal)
	}
	return h == w
}

// merged is a with b's values over it.
func merged(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return all
}
