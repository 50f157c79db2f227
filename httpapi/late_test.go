package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/thread"
)

// Late answers that are waited for are listed and withdrawn on a thread that the caller may use.
func TestLate(t *testing.T) {
	var fails error
	var asked string
	list, was := []httpapi.Waiting{{Member: "slow", Task: "k1"}}, true
	s := serveWith(t, func(c *httpapi.Config) {
		c.Waiting = func(_ context.Context, who httpapi.Caller, id string) ([]httpapi.Waiting, error) {
			asked = who.Name + " " + id
			return list, fails
		}
		c.Withdraw = func(_ context.Context, who httpapi.Caller, id, member string) (bool, error) {
			asked = who.Name + " " + id + " " + member
			return was, fails
		}
	})
	s.who = httpapi.Caller{Name: "bob"}
	status, v := s.call("GET", "/api/threads/t/late", "")
	if got := fmt.Sprint(v["waiting"]); status != 200 || asked != "bob t" || got != "[map[member:slow since:0001-01-01T00:00:00Z task:k1]]" {
		t.Errorf("%d %v, asked %s", status, v, asked)
	}
	if status, v := s.call("DELETE", "/api/threads/t/late/slow", ""); status != 200 || v["withdrawn"] != "slow" || asked != "bob t slow" {
		t.Errorf("%d %v, asked %s", status, v, asked)
	}
	list, was = nil, false
	if status, v := s.call("GET", "/api/threads/t/late", ""); status != 200 || fmt.Sprint(v["waiting"]) != "[]" {
		t.Errorf("nothing: %d %v", status, v)
	}
	if status, v := s.call("DELETE", "/api/threads/t/late/slow", ""); status != 409 || code(v) != "not_waited" {
		t.Errorf("nothing: %d %v", status, v)
	}
	for err, want := range map[error]string{thread.ErrNone: "404 thread_not_found", errors.New("planted"): "500 internal"} {
		fails = err
		for method, path := range map[string]string{"GET": "/api/threads/t/late", "DELETE": "/api/threads/t/late/slow"} {
			if status, v := s.call(method, path, ""); fmt.Sprint(status, " ", code(v)) != want {
				t.Errorf("%s, %v: %d %v, want %s", method, err, status, v, want)
			}
		}
	}
	none := serve(t, "")
	for method, path := range map[string]string{"GET": "/api/threads/t/late", "DELETE": "/api/threads/t/late/slow"} {
		if status, v := none.call(method, path, ""); status != 404 || code(v) != "thread_not_found" {
			t.Errorf("without threads: %s %d %v", method, status, v)
		}
	}
}
