package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/thread"
)

// What a thread cost is for who may use it; what is unknown is told beside the sums.
func TestCosts(t *testing.T) {
	var fails error
	var asked string
	spent := langrooms.SpendingOf(&langrooms.Usage{InputTokens: 12, OutputTokens: 3})
	s := serveWith(t, func(c *httpapi.Config) {
		c.Costs = func(_ context.Context, who httpapi.Caller, id string) (exchange.Costs, error) {
			asked = who.Name + " " + id
			return exchange.Costs{Members: map[string]langrooms.Spending{"proto": spent}, Total: spent}, fails
		}
	})
	s.who = httpapi.Caller{Name: "bob"}
	status, v := s.call("GET", "/api/threads/t%2F1/costs", "")
	const want = "map[answers:1 cost_usd:0 input_tokens:12 output_tokens:3 unknown_cost:1]"
	if status != 200 || asked != "bob t/1" || fmt.Sprint(v["total"]) != want || fmt.Sprint(v["members"]) != "map[proto:"+want+"]" {
		t.Errorf("%d %v, asked %q", status, v, asked)
	}
	for err, want := range map[error]string{thread.ErrNone: "404 thread_not_found", errors.New("planted"): "500 internal"} {
		fails = fmt.Errorf("somewhere: %w", err)
		status, v := s.call("GET", "/api/threads/t/costs", "")
		if got := fmt.Sprint(status, " ", code(v)); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
	if status, v := serve(t, "").call("GET", "/api/threads/t/costs", ""); status != 404 || code(v) != "thread_not_found" {
		t.Errorf("without threads: %d %v", status, v)
	}
}
