package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms/hotreload"
)

// The lead's answer comes in pieces, and is whole in the end, however an endpoint cuts it.
func TestLeadStream(t *testing.T) {
	const end = "data: [DONE]\n\n"
	delta := func(json string) string { return `data: {"choices":[{"index":0,"delta":` + json + "}]}\n\n" }
	finish := func(why string) string {
		return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + why + "\"}]}\n\n"
	}
	for name, c := range map[string]struct {
		status             int
		kind, body         string
		text, calls, fails string
		pieces             []string
	}{
		"pieces": {body: delta(`{"role":"assistant","content":"It "}`) + delta(`{"content":"was auth."}`) + finish("stop") + end,
			text: "It was auth.", pieces: []string{"It ", "was auth."}},
		"no word that it is done": {body: delta(`{"content":"yes"}`) + finish("stop"), text: "yes", pieces: []string{"yes"}},
		"a call in pieces without a type": {body: delta(`{"content":"I ask.","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`) +
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`) + finish("tool_calls") + end,
			text: "I ask.", calls: `a f {"x":1};`, pieces: []string{"I ask."}},
		"two calls": {body: delta(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`) +
			delta(`{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}`) + end, calls: "a f {};b g {};"},
		"two calls without an index": {body: delta(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"g","arguments":"{}"}}]}`) + end,
			calls: "a f {};b g {};"},
		"an error in the stream": {body: delta(`{"content":"It "}`) + `data: {"error":{"message":"overloaded"}}` + "\n\n" + end,
			fails: "overloaded", pieces: []string{"It "}},
		"a stream that breaks off":  {body: delta(`{"content":"It "}`), fails: "broke off", pieces: []string{"It "}},
		"what cannot be read":       {body: "data: {\n\n" + end, fails: "the answer cannot be read"},
		"an answer that is at once": {kind: "application/json", body: `{"choices":[{"message":{"role":"assistant","content":"at once"}}]}`, text: "at once"},
		"an endpoint that does not": {status: 400, kind: "application/json", body: `{"error":{"message":"stream is not supported"}}`, text: "without"},
		"another refusal":           {status: 404, kind: "application/json", body: `{"error":{"message":"no such model"}}`, fails: "no such model"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if !strings.Contains(string(body), `"stream":true`) {
					io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"without"}}]}`)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				if c.kind != "" {
					w.Header().Set("Content-Type", c.kind)
				}
				if c.status != 0 {
					w.WriteHeader(c.status)
				}
				io.WriteString(w, c.body)
			}))
			defer server.Close()
			transport := http.DefaultTransport.(*http.Transport).Clone()
			defer transport.CloseIdleConnections()
			model := (&leadModels{transport: transport}).make(hotreload.Model{URL: server.URL, Model: "m", Timeout: 10 * time.Second}, "")
			var pieces []string
			resp, err := model.GenerateContent(t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hi")},
				llms.WithStreamingFunc(func(_ context.Context, piece []byte) error { pieces = append(pieces, string(piece)); return nil }))
			if diff := cmp.Diff(c.pieces, pieces); diff != "" {
				t.Errorf("pieces: %s", diff)
			}
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("the error is %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			calls := ""
			for _, call := range resp.Choices[0].ToolCalls {
				calls += fmt.Sprintf("%s %s %s;", call.ID, call.FunctionCall.Name, call.FunctionCall.Arguments)
			}
			if diff := cmp.Diff([]string{c.text, c.calls}, []string{resp.Choices[0].Content, calls}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whoever gets the pieces can end the call.
func TestLeadStreamEnds(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	stop := errors.New("enough")
	model := (&leadModels{transport: transport}).make(hotreload.Model{URL: server.URL, Model: "m", Timeout: 10 * time.Second}, "")
	_, err := model.GenerateContent(t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hi")},
		llms.WithStreamingFunc(func(context.Context, []byte) error { return stop }))
	if !errors.Is(err, stop) {
		t.Errorf("the error is %v", err)
	}
}
