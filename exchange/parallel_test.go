package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
)

// slow answers after a time.
func slow(name string, after time.Duration) *voice {
	return &voice{name, func(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
		req.Progress(langrooms.Progress{Kind: langrooms.ProgressText, Text: "…"})
		select {
		case <-time.After(after):
			return delegate.Reply{Text: "I am " + name}, nil
		case <-ctx.Done():
			return delegate.Reply{}, ctx.Err()
		}
	}}
}

// Three slow members side by side take one member's time; their records stand in written order,
// and their events come one at a time (spec 4.8).
func TestSideBySideTakesOneMembersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory(t)
		r := roomOf(t, 1, slow("a", 2*time.Second), slow("b", 2*time.Second), slow("c", time.Second))
		r.Parallel = true
		var events []string // without a lock: the race detector sees two at once
		r.Events = func(e langrooms.Event) {
			if e.Progress == nil || e.Progress.Kind == langrooms.ProgressText {
				events = append(events, string(e.Type)+" "+e.Member)
			}
		}
		began := time.Now()
		result, err := take(t.Context(), s, "t", r, address("who are you?", "a", "b", "c"))
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("the round took %s", took)
		}
		for i, want := range []time.Duration{2 * time.Second, 2 * time.Second, time.Second} {
			if got := result.Outcomes[i].Duration; got != want {
				t.Errorf("@%s took %s", result.Outcomes[i].Author, got)
			}
		}
		want := "operator to a,b,c: who are you?|a 1: I am a|b 1: I am b|c 1: I am c"
		if got := strings.Join(lines(messages(t, s, "t")), "|"); got != want {
			t.Errorf("the thread: %s", got)
		}
		if len(events) != 9 {
			t.Errorf("events: %q", events)
		}
	})
}

// Who waits for its place behind a slower one is told of as ended, when it has, so that a person sees
// whom a round waits for; nothing of its words is told before its record (spec 4.8).
func TestSideBySideTellsWhoHasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory(t)
		broken := &voice{"b", func(context.Context, delegate.Request) (delegate.Reply, error) {
			return delegate.Reply{}, &delegate.Error{Kind: delegate.KindRefused, Err: errors.New("no")}
		}}
		r := roomOf(t, 1, slow("a", 4*time.Second), broken, slow("c", 2*time.Second), slow("d", time.Hour))
		r.Parallel = true
		began := time.Now()
		var steer delegate.Steering
		time.AfterFunc(3*time.Second, func() { steer.Stop("d", langrooms.Stop{Kind: langrooms.ErrorStopped}) })
		var told []string
		ids := map[string]string{}
		r.Events = func(e langrooms.Event) {
			switch {
			case e.Type == langrooms.EventProgress && e.Progress.Kind == langrooms.ProgressStatus:
				told = append(told, fmt.Sprintf("%s %s %s%s", time.Since(began), e.Member, e.Progress.State, e.Progress.Text))
				if e.MessageID == "" || e.MessageID != ids[e.Member] || e.Round != 1 {
					t.Errorf("%+v", e)
				}
			case e.Type == langrooms.EventDispatchEnded:
				told = append(told, fmt.Sprintf("%s %s", time.Since(began), e.Member))
			default:
				ids[e.Member] = e.MessageID
			}
		}
		if _, err := take(delegate.WithSteering(t.Context(), &steer), s, "t", r, address("who are you?", "a", "b", "c", "d")); err != nil {
			t.Fatal(err)
		}
		want := "0s b refused|2s c answered|3s d stopped|4s a|4s b|4s c|4s d"
		if got := strings.Join(told, "|"); got != want {
			t.Errorf("told: %s", got)
		}
	})
}

// A side by side round that is stopped at any call of the store, or whose store dies there, leaves
// a whole thread: one record for each member that was asked.
func TestSideBySideStopsAnywhere(t *testing.T) {
	for n := 1; ; n++ {
		s := &watched{Saver: memory(t)}
		ctx, stop := context.WithCancel(t.Context())
		calls := 0
		s.before = func(string) error {
			if calls++; calls == n {
				stop()
			}
			return nil
		}
		r := roomOf(t, 2, says("a", "one"), says("b", "two"), says("c"))
		r.Parallel = true
		result, err := take(ctx, s, "t", r, address("count", "a", "b", "c"))
		stopped := ctx.Err() != nil
		stop()
		if err != nil && (!stopped || !errors.Is(err, context.Canceled)) {
			t.Fatalf("call %d: %v", n, err)
		}
		s.before = nil
		if err == nil && stopped && len(result.Outcomes) < 3 {
			t.Errorf("call %d: outcomes %+v", n, result.Outcomes)
		}
		if _, err := take(t.Context(), s, "t", roomOf(t, 1, says("a", "again")), address("and now?", "a")); err != nil {
			t.Errorf("call %d: the next turn: %v", n, err)
		}
		for i, line := range lines(messages(t, s, "t")) {
			if strings.Contains(line, "interrupted") {
				t.Errorf("call %d: message %d: %s", n, i, line)
			}
		}
		if !stopped {
			if n < 7 {
				t.Errorf("a run had only %d calls", n-1)
			}
			return
		}
	}
}

// A store that goes away for a moment while passes are taken off what is open loses nothing.
func TestSideBySidePassWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &watched{Saver: memory(t)}
		var away atomic.Bool
		var once sync.Once
		s.before = func(call string) error {
			if away.Load() && call == "put" {
				return checkpointer.ErrUnavailable
			}
			return nil
		}
		pass := &voice{"a", func(context.Context, delegate.Request) (delegate.Reply, error) {
			once.Do(func() {
				away.Store(true)
				time.AfterFunc(13*time.Second, func() { away.Store(false) }) // longer than one put is tried
			})
			return delegate.Reply{Text: "pass"}, nil
		}}
		r := roomOf(t, 2, pass, slow("b", 20*time.Second))
		r.Parallel = true
		result, err := take(t.Context(), s, "t", r, address("count", "a", "b"))
		if err != nil || len(result.Outcomes) < 2 || result.Outcomes[1].Reply != "I am b" {
			t.Errorf("%+v, %v", result, err)
		}
		if got := strings.Join(lines(messages(t, s, "t")), "|"); !strings.Contains(got, "b 1: I am b") {
			t.Errorf("the thread: %s", got)
		}
	})
}
