package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/httpapi"
)

// A search is asked with the caller and a bound; what was found before its time was over is the answer.
func TestSearch(t *testing.T) {
	var asked string
	var found []httpapi.Found
	var fails error
	s := serveWith(t, func(c *httpapi.Config) {
		c.Search = func(ctx context.Context, who httpapi.Caller, text string, most int) ([]httpapi.Found, error) {
			asked = fmt.Sprint(who.Name, " ", text, " ", most)
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("a search has all the time there is")
			}
			return found, fails
		}
	})
	s.who = httpapi.Caller{Name: "bob"}
	if status, v := s.call("GET", "/api/search?q=a+needle", ""); status != 200 || fmt.Sprint(v) != "map[found:[] more:false]" || asked != "bob a needle 20" {
		t.Errorf("%d %v, asked %q", status, v, asked)
	}
	found = []httpapi.Found{{Thread: "t", Kind: "thread", Message: "m", Excerpt: "a needle"}}
	if status, v := s.call("GET", "/api/search?q=needle&limit=1", ""); status != 200 || v["more"] != true || len(v["found"].([]any)) != 1 || asked != "bob needle 1" {
		t.Errorf("%d %v, asked %q", status, v, asked)
	}
	for query, want := range map[string]string{
		"q=x&limit=0": "422 invalid_request", "q=x&limit=101": "422 invalid_request", "q=x&limit=many": "422 invalid_request",
		"q=" + strings.Repeat("x", 201): "422 invalid_request", "q=%ff": "422 invalid_request",
	} {
		status, v := s.call("GET", "/api/search?"+query, "")
		if got := fmt.Sprint(status, " ", code(v)); got != want {
			t.Errorf("%.20s: %s, want %s", query, got, want)
		}
	}
	for err, want := range map[error]string{httpapi.ErrNoText: "422 invalid_request", errors.New("planted"): "500 internal"} {
		fails = fmt.Errorf("somewhere: %w", err)
		status, v := s.call("GET", "/api/search?q=x", "")
		if got := fmt.Sprint(status, " ", code(v)); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
	if status, v := serve(t, "").call("GET", "/api/search?q=x", ""); status != 404 || code(v) != "no_search" {
		t.Errorf("without threads: %d %v", status, v)
	}
}
