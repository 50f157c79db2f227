package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/langrooms/langrooms/internal/clitest"
)

// A server that is given an endpoint sends its spans there; they and what a peer over A2A is sent
// are of the trace of who asked, and hold no word of what was said.
func TestTracesAreSent(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	spans, all, key := map[string]string{}, "", ""
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var export collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(body, &export) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		key = r.Header.Get("Collector-Key")
		all += export.String()
		for _, of := range export.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				for _, s := range scope.Spans {
					spans[s.Name] = string(s.TraceId)
				}
			}
		}
	}))
	t.Cleanup(endpoint.Close)
	peer := clitest.NewAgent(t, func(clitest.Task) clitest.TaskEnd { return clitest.Completed("planted-reply") })
	f := folder(t, says(t, "hi"), roster(a2aEntry("proto", peer, "")))
	f.Env = append(f.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint.URL, "OTEL_EXPORTER_OTLP_HEADERS=collector-key=planted-key")
	s := serve(t, f)
	s.ask(t, "POST", "/threads", `{"thread_id":"t"}`)
	const trace = "0af7651916cd43dd8448eb211c80319c"
	code, body := s.ask(t, "POST", "/threads/t/runs/wait", `{"assistant_id":"agent","input":{"messages":"@proto planted-words"}}`,
		"traceparent", "00-"+trace+"-b7ad6b7169203331-01")
	expect(t, "a run: "+body, 200, code)
	s.end(t) // sends the last
	tasks := peer.Tasks()
	expect(t, "tasks of the peer", 1, len(tasks))
	expectContains(t, "what the peer is told", "00-"+trace+"-", tasks[0].TraceParent)
	mu.Lock()
	defer mu.Unlock()
	want := "\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c"
	for _, name := range []string{"POST /threads/{thread}/runs/wait", "turn", "dispatch"} {
		if spans[name] != want {
			t.Errorf("the span %q is of the trace %x", name, spans[name])
		}
	}
	expectContains(t, "who made them", `string_value:"langrooms"`, strings.ReplaceAll(all, ": ", ":"))
	if key != "planted-key" || strings.Contains(all, "planted") {
		t.Errorf("the key %q came with what was sent:\n%s", key, all)
	}
}

// Without an endpoint nothing is traced, and one that is not there costs a word and no turn.
func TestTracesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), roster(openaiEntry("proto", says(t, "quick"))))
	f.Env = append(f.Env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://planted-user:planted-key@127.0.0.1:1/v1/traces", "OTEL_BSP_EXPORT_TIMEOUT=500")
	s := serve(t, f)
	code, body := s.ask(t, "POST", "/threads/t/runs/wait", `{"assistant_id":"agent","if_not_exists":"create","input":{"messages":"@proto well?"}}`)
	expect(t, "a run", 200, code)
	expectContains(t, "its answer", "quick", body)
	s.end(t)
	if said := s.Wait().Diag; strings.Contains(said, "planted") || strings.Count(said, "traces cannot be sent") != 1 {
		t.Errorf("what is said of it:\n%s", said)
	}
}
