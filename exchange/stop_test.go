package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// The operator may stop a turn at any moment (spec 5.5): at each call of the store, and while
// each member works. It is no error once the address is stored, and the next turn works at once
// and has nothing to close.
func TestStoppedAnywhere(t *testing.T) {
	for n := 1; ; n++ {
		s := &watched{Saver: memory(t)}
		ctx, stop := context.WithCancel(t.Context())
		moments := 0
		moment := func() {
			if moments++; moments == n {
				stop()
			}
		}
		s.before = func(string) error { moment(); return nil }
		member := func(name string, texts ...string) *voice {
			v := says(name, texts...)
			answer := v.ask
			v.ask = func(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
				if moment(); ctx.Err() != nil {
					return delegate.Reply{}, ctx.Err()
				}
				return answer(ctx, req)
			}
			return v
		}
		r := roomOf(t, 3, member("a", "one", "pass", "three"), member("b", "two", "four"))
		result, err := take(ctx, s, "t", r, address("count", "a", "b"))
		stopped := ctx.Err() != nil
		stop()
		t.Run(fmt.Sprintf("moment %d", n), func(t *testing.T) { checkStopped(t, s, stopped, result, err) })
		if !stopped {
			if n < 15 {
				t.Errorf("a run had only %d moments", n-1)
			}
			return
		}
	}
}

// A stop costs nothing: the record that says so also closes the exchange.
func TestStopIsOnePut(t *testing.T) {
	s := &watched{Saver: memory(t)}
	ctx, stop := context.WithCancel(t.Context())
	a := &voice{"a", func(ctx context.Context, _ delegate.Request) (delegate.Reply, error) {
		stop()
		return delegate.Reply{}, ctx.Err()
	}}
	if _, err := take(ctx, s, "t", roomOf(t, 3, a, says("b")), address("count", "a", "b")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"lock", "get", "put", "messages", "put", "release"}; !slices.Equal(s.calls, want) {
		t.Errorf("the calls were %v, want %v", s.calls, want)
	}
}

func checkStopped(t *testing.T, s *watched, stopped bool, result langrooms.Result, err error) {
	s.before = nil
	all := messages(t, s.Saver, "t")
	if len(all) == 0 {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("stopped before the address was stored: error %v", err)
		}
		return
	}
	if err != nil {
		t.Errorf("error %v", err)
	}
	if !stopped && result.Reason != langrooms.ReasonCapped {
		t.Errorf("not stopped, ended as %s", result.Reason)
	}
	stops := 0
	for _, m := range all {
		if m.Stamp.Failed {
			stops++
			if m.Text() != "(stopped by the operator)" {
				t.Errorf("recorded %q", m.Text())
			}
		}
	}
	if told := strings.Count(result.Text, "did not answer: stopped by the operator"); told != stops {
		t.Errorf("%d records of a stop, told %d times:\n%s", stops, told, result.Text)
	}
	if want := result.Reason == langrooms.ReasonStopped; want != (stops == 1) || stops > 1 {
		t.Errorf("%d records of a stop in a run that ended as %s", stops, result.Reason)
	}
	next, err := take(t.Context(), s, "t", roomOf(t, 1, says("a", "yes")), address("are you there?", "a"))
	if err != nil || next.Text != "yes" {
		t.Errorf("the next turn says %q, error %v", next.Text, err)
	}
}
