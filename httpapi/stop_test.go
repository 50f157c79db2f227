package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/thread"
)

// One member is stopped on a thread that the caller may use.
func TestStopMember(t *testing.T) {
	var fails error
	var asked string
	runs := []string{"r1"}
	s := serveWith(t, func(c *httpapi.Config) {
		c.StopMember = func(_ context.Context, who httpapi.Caller, id, member string) ([]string, error) {
			asked = fmt.Sprintf("%s %s %q", who.Name, id, member)
			return runs, fails
		}
	})
	s.who = httpapi.Caller{Name: "bob"}
	for body, want := range map[string]string{`{"member":"@proto"}`: `bob t "proto"`, `{"member":"proto"}`: `bob t "proto"`, `{}`: `bob t ""`} {
		if status, v := s.call("POST", "/api/threads/t/stop", body); status != 200 || fmt.Sprint(v["runs"]) != "[r1]" || asked != want {
			t.Errorf("%s: %d %v, asked %s", body, status, v, asked)
		}
	}
	runs = nil
	if status, v := s.call("POST", "/api/threads/t/stop", `{"member":"nobody"}`); status != 409 || code(v) != "not_asked" {
		t.Errorf("nobody: %d %v", status, v)
	}
	for err, want := range map[error]string{thread.ErrNone: "404 thread_not_found", errors.New("planted"): "500 internal"} {
		fails = err
		status, v := s.call("POST", "/api/threads/t/stop", `{}`)
		if got := fmt.Sprint(status, " ", code(v)); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
	if status, v := serve(t, "").call("POST", "/api/threads/t/stop", `{}`); status != 404 || code(v) != "thread_not_found" {
		t.Errorf("without threads: %d %v", status, v)
	}
}
