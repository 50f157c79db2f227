package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/internal/telemetry"
)

const idHeader = "X-Request-Id"

// stack is a mux behind t, with an id for each request.
func stack(t *telemetry.Telemetry, mux *http.ServeMux) http.Handler {
	named := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(idHeader, "r-1")
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		t.Routes(idHeader, mux).ServeHTTP(w, r)
	})
	return t.Requests(idHeader, named)
}

func metrics(t *testing.T, seen *telemetry.Telemetry) string {
	t.Helper()
	w := httptest.NewRecorder()
	seen.Metrics().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

func wants(t *testing.T, what, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s:\n%s", what, want, text)
		}
	}
}

// Requests are counted by route, never by path; methods and paths of a stranger's making make no
// new series; a refusal in front of the routes counts too.
func TestRequests(t *testing.T) {
	var log bytes.Buffer
	seen := telemetry.New(telemetry.Config{Log: slog.New(slog.NewTextHandler(&log, nil)), Members: func() int { return 3 }, Version: "v9"})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /threads/{thread}/runs", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	h := stack(seen, mux)
	for _, r := range []struct{ method, path string }{
		{"POST", "/threads/t1/runs?q=planted-query"}, {"POST", "/threads/t2/runs"}, {"GET", "/refused"}, {"BREW", "/x"}, {"STEEP", "/y"}, {"GET", "/stream"},
	} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(r.method, r.path, nil))
	}
	wants(t, "the metrics", metrics(t, seen),
		`langrooms_http_requests_total{method="POST",route="/threads/{thread}/runs",status="200"} 2`,
		`langrooms_http_requests_total{method="GET",route="other",status="401"} 1`,
		`langrooms_http_requests_total{method="other",route="other",status="404"} 2`,
		`langrooms_http_requests_total{method="GET",route="/stream",status="200"} 1`,
		`langrooms_http_requests_open 0`, `langrooms_http_streams_open 0`, `langrooms_roster_delegates 3`, `langrooms_info{version="v9"} 1`)
	wants(t, "the log", log.String(), "request=r-1", "thread=t1", "route=/threads/{thread}/runs", "bytes=5", "status=401")
	if strings.Contains(log.String(), "planted-query") || strings.Contains(log.String(), "route=/stream") {
		t.Errorf("the log holds a query, or what only looked:\n%s", log.String())
	}
}

// A client that does not read is let go of, whatever wrote to it and however.
func TestAReaderThatDoesNotRead(t *testing.T) {
	seen := telemetry.New(telemetry.Config{WriteBound: 50 * time.Millisecond})
	ended := make(chan error, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		c := http.NewResponseController(w)
		_ = c.SetWriteDeadline(time.Time{}) // as one does who means to stream for long
		piece := bytes.Repeat([]byte("x"), 64<<10)
		for {
			_, err := w.Write(piece)
			if err = errors.Join(err, c.Flush()); err != nil {
				ended <- err
				return
			}
		}
	})
	s := httptest.NewServer(stack(seen, mux))
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case err := <-ended:
		var late net.Error
		if !errors.As(err, &late) || !late.Timeout() {
			t.Errorf("the writer ended by %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the writer still waits for its reader")
	}
}

// The bound of one request is not that of the next on the same connection, nor of a long silence.
func TestSilenceIsNoSlowReader(t *testing.T) {
	const bound = 20 * time.Millisecond
	seen := telemetry.New(telemetry.Config{WriteBound: bound})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /quiet", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-time.After(3 * bound) // longer than any piece may take
		w.WriteHeader(http.StatusNoContent)
	})
	s := httptest.NewServer(stack(seen, mux))
	defer s.Close()
	for range 3 {
		resp, err := s.Client().Post(s.URL+"/quiet", "text/plain", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNoContent {
			t.Errorf("status %d", resp.StatusCode)
		}
		<-time.After(3 * bound)
	}
}

// Turns and asks are counted and logged by ids, with the request that they came from, and without
// a word of what was said.
func TestTurns(t *testing.T) {
	var log bytes.Buffer
	seen := telemetry.New(telemetry.Config{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	var turn context.Context
	mux := http.NewServeMux()
	mux.HandleFunc("POST /", func(_ http.ResponseWriter, r *http.Request) {
		turn = seen.Carry(r.Context(), context.Background())
	})
	stack(seen, mux).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil))
	log.Reset()
	passed := 0
	_, events, end := seen.Turn(turn, "t\n1", "run-1", func(langrooms.Event) { passed++ })
	cost := 0.5
	for _, o := range []langrooms.Outcome{
		{Author: "proto", Round: 1, OK: true, Reply: "planted-reply", Usage: &langrooms.Usage{InputTokens: 7, OutputTokens: 3, CostUSD: &cost}},
		{Author: "oracle", Round: 1, Error: "planted-error", ErrorKind: langrooms.ErrorTimeout},
		{Author: "proto", Round: 2, OK: true, Silent: true},
	} {
		events(langrooms.Event{Type: langrooms.EventDispatchEnded, Thread: "t\n1", Exchange: "x-1", Text: "planted-text", Outcome: &o})
	}
	wants(t, "the metrics in the middle", metrics(t, seen), "langrooms_turns_running 1")
	end(langrooms.Result{Exchange: "x-1", Reason: langrooms.ReasonCapped, Text: "planted-result"}, nil)
	_, _, end = seen.Turn(turn, "t", "run-2", nil)
	end(langrooms.Result{}, errors.New("planted-failure"))
	text := metrics(t, seen)
	wants(t, "the metrics", text, `langrooms_dispatches_total{delegate="proto",outcome="ok"} 1`, `langrooms_dispatches_total{delegate="oracle",outcome="timeout"} 1`,
		`langrooms_dispatches_total{delegate="proto",outcome="silent"} 1`, `langrooms_tokens_total{delegate="proto",kind="input"} 7`,
		`langrooms_cost_usd_total{delegate="proto"} 0.5`, `langrooms_turns_total{status="answered"} 1`, `langrooms_turns_total{status="failed"} 1`, "langrooms_turns_running 0")
	wants(t, "the log", log.String(), `"msg":"dispatch"`, `"request":"r-1"`, `"thread":"t\n1"`, `"run":"run-1"`, `"exchange":"x-1"`, `"delegate":"oracle"`, `"reason":"capped"`)
	if passed != 3 || strings.Contains(log.String()+text, "planted") {
		t.Errorf("%d events passed; the log and the metrics:\n%s%s", passed, log.String(), text)
	}
	var none *telemetry.Telemetry
	_, events, end = none.Turn(turn, "t", "r", func(langrooms.Event) { passed++ })
	events(langrooms.Event{})
	end(langrooms.Result{}, nil)
	if passed != 4 {
		t.Error("without telemetry an event did not pass")
	}
}
