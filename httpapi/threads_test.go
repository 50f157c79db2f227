package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/thread"
)

// whole notes what it is asked and fails as it is told.
type whole struct {
	asked string
	fails error
	wrote string // before it fails
}

func (w *whole) note(who httpapi.Caller, what ...any) {
	w.asked = strings.TrimSpace(fmt.Sprintln(append([]any{who.Name}, what...)...))
}

func (w *whole) Rewind(_ context.Context, who httpapi.Caller, id, message string) (int, error) {
	w.note(who, "rewind", id, message)
	return 3, w.fails
}

func (w *whole) Uncompact(_ context.Context, who httpapi.Caller, id string) (int, error) {
	w.note(who, "uncompact", id)
	return 5, w.fails
}

func (w *whole) Export(_ context.Context, who httpapi.Caller, id string, format lifecycle.Format, out io.Writer) error {
	w.note(who, "export", id, format)
	_, _ = io.WriteString(out, w.wrote)
	return w.fails
}

func (w *whole) Import(_ context.Context, who httpapi.Caller, id string, r io.Reader) (int, error) {
	data, err := io.ReadAll(r)
	w.note(who, "import", id, len(data))
	return 7, errors.Join(w.fails, err)
}

// What is done to whole threads is passed on as it was asked; what keeps it is told by a code.
func TestWholeThreads(t *testing.T) {
	w := &whole{}
	s := serveWith(t, func(c *httpapi.Config) { c.Threads = w })
	s.who = httpapi.Caller{Name: "ann", Admin: true}
	for _, c := range []struct{ request, body, answer, asked string }{
		{"POST /api/threads/a%2Fb/rewind", `{"message":"m1"}`, `map[removed:3]`, "ann rewind a/b m1"},
		{"POST /api/threads/t/uncompact", ``, `map[restored:5]`, "ann uncompact t"},
		{"POST /api/threads/t/import", `{"a":1}`, `map[messages:7]`, "ann import t 7"},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		status, v := s.call(method, path, c.body)
		if status != 200 || fmt.Sprint(v) != c.answer || w.asked != c.asked {
			t.Errorf("%s: %d %v, asked %q", c.request, status, v, w.asked)
		}
		if status, v := serve(t, "").call(method, path, c.body); status != 404 || code(v) != "thread_not_found" {
			t.Errorf("%s without threads: %d %v", c.request, status, v)
		}
	}
	if status, v := s.call("POST", "/api/threads/t/rewind", `{}`); status != 422 || code(v) != "invalid_request" {
		t.Errorf("no message: %d %v", status, v)
	}
	if status, v := s.call("POST", "/api/threads/t/import", strings.Repeat(" ", 17<<20)); status != 413 || code(v) != "body_too_large" {
		t.Errorf("a large import: %d %v", status, v)
	}
	for err, want := range map[error]string{
		thread.ErrNone:              "404 thread_not_found",
		lifecycle.ErrNoMessage:      "404 message_not_found",
		lifecycle.ErrImport:         "422 not_an_export",
		langrooms.ErrThreadID:       "422 invalid_thread_id",
		thread.ErrNotKept:           "409 not_kept",
		thread.ErrBusy:              "409 busy",
		context.DeadlineExceeded:    "409 busy",
		checkpointer.ErrConflict:    "409 conflict",
		checkpointer.ErrUnavailable: "503 store_unavailable",
		errors.New("planted"):       "500 internal",
	} {
		w.fails = fmt.Errorf("somewhere: %w", err)
		for _, request := range []string{"POST /api/threads/t/rewind", "POST /api/threads/t/uncompact", "POST /api/threads/t/import", "GET /api/threads/t/export"} {
			method, path, _ := strings.Cut(request, " ")
			status, v := s.call(method, path, `{"message":"m"}`)
			if got := fmt.Sprint(status, " ", code(v)); got != want || strings.Contains(fmt.Sprint(v), "planted") {
				t.Errorf("%s, %v: %s %v, want %s", request, err, got, v, want)
			}
		}
	}
}

// An export is to be saved, whatever it holds; one that breaks off does not look whole.
func TestExport(t *testing.T) {
	w := &whole{wrote: "<script>"}
	s := serveWith(t, func(c *httpapi.Config) { c.Threads = w })
	got := httptest.NewRecorder()
	s.api.ServeHTTP(got, httptest.NewRequest("GET", "/api/threads/t%2F..%2Fx/export?format=md", nil))
	h := got.Header()
	if got.Body.String() != "<script>" || w.asked != "export t/../x md" || h.Get("Content-Type") != "text/markdown; charset=utf-8" ||
		h.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") || strings.Contains(h.Get("Content-Disposition"), "..") {
		t.Errorf("%q, asked %q, %v", got.Body, w.asked, h)
	}
	w.fails = errors.New("planted")
	defer func() {
		if r := recover(); r != http.ErrAbortHandler {
			t.Errorf("recovered %v", r)
		}
	}()
	s.api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/api/threads/t/export", nil))
	t.Error("what breaks off ended like a whole one")
}
