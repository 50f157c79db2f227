package telemetry_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/telemetry"
)

// A request, its turn and the asks in it are one trace, that of who sent the request, and what is
// asked of peers bears the turn's place in it. No span holds a word.
func TestSpans(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	seen := telemetry.New(telemetry.Config{Tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("test")})
	const traceID = "0af7651916cd43dd8448eb211c80319c"
	parent := ""
	mux := http.NewServeMux()
	mux.HandleFunc("POST /threads/{thread}/runs", func(_ http.ResponseWriter, r *http.Request) {
		within, events, end := seen.Turn(seen.Carry(r.Context(), context.Background()), "t", "run-1", nil)
		parent, _ = delegate.TraceContextOf(within)
		for _, o := range []langrooms.Outcome{{Author: "proto", Round: 1, OK: true, Reply: "planted"},
			{Author: "oracle", Round: 1, Error: "planted", ErrorKind: langrooms.ErrorTimeout}} {
			events(langrooms.Event{Type: langrooms.EventDispatchStarted, Exchange: "x", Member: o.Author, Round: 1, Text: "planted"})
			events(langrooms.Event{Type: langrooms.EventDispatchEnded, Exchange: "x", Outcome: &o})
		}
		events(langrooms.Event{Type: langrooms.EventDispatchStarted, Exchange: "x", Member: "slow", Round: 1})
		end(langrooms.Result{Exchange: "x", Text: "planted"}, nil)
	})
	r := httptest.NewRequest(http.MethodPost, "/threads/t/runs?q=planted", strings.NewReader("planted"))
	r.Header.Set("traceparent", "00-"+traceID+"-b7ad6b7169203331-01")
	stack(seen, mux).ServeHTTP(httptest.NewRecorder(), r)
	parents := map[string]string{}
	ids := map[string]string{}
	for _, s := range spans.Ended() {
		name := s.Name()
		for _, a := range s.Attributes() {
			if a.Key == "langrooms.delegate" {
				name += " " + a.Value.AsString()
			}
			if strings.Contains(a.Value.AsString(), "planted") {
				t.Errorf("%s holds %s=%s", name, a.Key, a.Value.AsString())
			}
		}
		if s.SpanContext().TraceID().String() != traceID {
			t.Errorf("%s is of another trace", name)
		}
		if failed := s.Status().Code == codes.Error; failed != (name == "dispatch oracle" || name == "dispatch slow") {
			t.Errorf("%s: failed is %v", name, failed)
		}
		parents[name], ids[name] = s.Parent().SpanID().String(), s.SpanContext().SpanID().String()
	}
	request := ids["POST /threads/{thread}/runs"]
	want := map[string]string{"POST /threads/{thread}/runs": "b7ad6b7169203331", "turn": request,
		"dispatch proto": ids["turn"], "dispatch oracle": ids["turn"], "dispatch slow": ids["turn"]}
	if request == "" || fmt.Sprint(parents) != fmt.Sprint(want) {
		t.Errorf("the spans' parents are %v, want %v", parents, want)
	}
	if parent != "00-"+traceID+"-"+ids["turn"]+"-01" {
		t.Errorf("peers are told %s", parent)
	}
}
