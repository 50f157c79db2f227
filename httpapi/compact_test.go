package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/thread"
)

// A compaction is for who may use the thread; what keeps it from happening is told by a code.
func TestCompact(t *testing.T) {
	var fails error
	var asked string
	s := serveWith(t, func(c *httpapi.Config) {
		c.Compact = func(_ context.Context, who httpapi.Caller, id string, keep int, text string) (int, error) {
			asked = fmt.Sprint(who.Name, " ", id, " ", keep, " ", text)
			return 7, fails
		}
	})
	s.who = httpapi.Caller{Name: "bob"}
	if status, v := s.call("POST", "/api/threads/t%2F1/compact", `{"keep":5,"summary":"so far"}`); status != 200 || v["replaced"] != 7.0 || asked != "bob t/1 5 so far" {
		t.Errorf("%d %v, asked %q", status, v, asked)
	}
	if s.call("POST", "/api/threads/t/compact", `{}`); asked != "bob t 20 " {
		t.Errorf("by default asked %q", asked)
	}
	for err, want := range map[error]string{
		thread.ErrNone:           "404 thread_not_found",
		lifecycle.ErrNoSummary:   "422 no_summary",
		langrooms.ErrText:        "422 invalid_request",
		checkpointer.ErrInvalid:  "422 invalid_request",
		context.DeadlineExceeded: "409 busy",
		errors.New("planted"):    "500 internal",
	} {
		fails = fmt.Errorf("somewhere: %w", err)
		status, v := s.call("POST", "/api/threads/t/compact", `{}`)
		if got := fmt.Sprint(status, " ", code(v)); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
	if status, v := s.call("POST", "/api/threads/t/compact", `{"keep":"x"}`); status != 422 || code(v) != "invalid_request" {
		t.Errorf("no number: %d %v", status, v)
	}
	if status, v := serve(t, "").call("POST", "/api/threads/t/compact", `{}`); status != 404 || code(v) != "thread_not_found" {
		t.Errorf("without threads: %d %v", status, v)
	}
}
