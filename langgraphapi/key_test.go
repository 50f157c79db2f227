package langgraphapi

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/thread"
)

// A request for a run that is sent again with its key is answered with the run that it began,
// however it is followed; the key is the caller's own, and of one request.
func TestIdempotencyKey(t *testing.T) {
	s, saver := stand(t)
	s.cfg.Who = func(r *http.Request) thread.Caller { return thread.Caller{Name: r.Header.Get("Caller"), Admin: true} }
	send := func(path, body, caller, key string) (int, http.Header, string) {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Caller", caller)
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code, w.Header(), w.Body.String()
	}
	const body = `{"assistant_id":"agent","if_not_exists":"create","input":{"messages":"hi"}}`
	runOf := func(h http.Header) string {
		m := regexp.MustCompile(`^/threads/t/runs/([^/]+)$`).FindStringSubmatch(h.Get("Content-Location"))
		if m == nil {
			t.Fatalf("no run in %v", h)
		}
		return m[1]
	}
	_, head, _ := send("/threads/t/runs/wait", body, "ada", "k")
	first := runOf(head)
	if head.Get("Idempotency-Replayed") != "" {
		t.Error("the first is called a repetition")
	}
	for _, path := range []string{"/threads/t/runs", "/threads/t/runs/wait", "/threads/t/runs/stream"} {
		code, head, text := send(path, body, "ada", "k")
		if code != 200 || runOf(head) != first || head.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s: %d %v %s", path, code, head, text)
		}
	}
	if said := said(t, saver); said != 2 {
		t.Errorf("%d messages", said)
	}
	if _, head, _ := send("/threads/t/runs/wait", body, "bob", "k"); runOf(head) == first || said(t, saver) != 4 {
		t.Error("another's key leads to ada's run")
	}
	for name, tt := range map[string]struct{ path, body, key, words string }{
		"the key of another request": {"/threads/t/runs", strings.Replace(body, "hi", "ho", 1), "k", "used for another request"},
		"a key without end":          {"/threads/t/runs", body, strings.Repeat("é", 256), "more than 255 characters"},
		"a run that is not kept":     {"/runs/wait", body, "k", "a run without a thread"},
		"several that are not kept":  {"/runs/batch", "[" + body + "]", "k", "a run without a thread"},
	} {
		if code, _, text := send(tt.path, tt.body, "ada", tt.key); code != 422 || !strings.Contains(text, tt.words) {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
}

// said is the number of messages on the thread t.
func said(t *testing.T, saver checkpointer.Saver) (n int) {
	t.Helper()
	for _, err := range saver.Messages(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
