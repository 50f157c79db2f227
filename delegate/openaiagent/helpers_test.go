package openaiagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

const testKey = "sk-planted-0123456789"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts an endpoint and returns an agent for it.
func serve(t *testing.T, handler http.HandlerFunc, change ...func(*Config)) *Agent {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	cfg := Config{Name: "oracle", URL: server.URL + "/v1", Model: "demo", APIKey: func() (string, error) { return testKey, nil }}
	for _, f := range change {
		f(&cfg)
	}
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return a
}

// sendEvents answers with events, each flushed by itself.
func sendEvents(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		io.WriteString(w, "data: "+e+"\n\n")
		w.(http.Flusher).Flush()
	}
}

// chunk is an event that carries a piece of text.
func chunk(piece string) string {
	encoded, err := json.Marshal(piece)
	if err != nil {
		panic(err)
	}
	return `{"choices":[{"index":0,"delta":{"content":` + string(encoded) + `}}]}`
}

const (
	stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	done = "[DONE]"
)

// whole is a completion that was not streamed.
func whole(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`, encoded)
}

// asked decodes a request's body.
func asked(t *testing.T, r *http.Request) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		t.Errorf("request body: %v", err)
	}
	return body
}

// failure asks and returns the error that must come.
func failure(t *testing.T, a *Agent, ctx context.Context) *delegate.Error {
	t.Helper()
	reply, err := a.Ask(ctx, delegate.Request{Prompt: "hi"})
	var e *delegate.Error
	if !errors.As(err, &e) {
		t.Fatalf("Ask = %q, %v; want a *delegate.Error", reply.Text, err)
	}
	if strings.Contains(err.Error(), testKey) {
		t.Errorf("the error says the key: %v", err)
	}
	return e
}

// recorder collects progress.
type recorder struct{ all []langrooms.Progress }

func (r *recorder) note(p langrooms.Progress) { r.all = append(r.all, p) }

func (r *recorder) text(kind langrooms.ProgressKind) string {
	var b strings.Builder
	for _, p := range r.all {
		if p.Kind == kind {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
