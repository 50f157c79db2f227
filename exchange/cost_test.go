package exchange_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/redistest"
	"github.com/langrooms/langrooms/room"
)

// fill makes a thread of n messages, a chat of the operator with the lead in which a has
// spoken at the middle.
func fill(t testing.TB, s checkpointer.Saver, thread string, n int) {
	t.Helper()
	head := checkpointer.Ref{Thread: thread}
	const batch = 5000
	for from := 0; from < n; from += batch {
		var log []langrooms.Message
		for i := from; i < min(n, from+batch); i++ {
			m := langrooms.NewMessage(langrooms.RoleHuman, fmt.Sprintf("message %d: %s", i, strings.Repeat("word ", 20)))
			switch {
			case i == n/2:
				m = room.NewReply(langrooms.Stamp{From: "a", Exchange: "x", Round: 1, Seen: int64(i)}, "I am here")
			case i%2 == 1:
				m.Role = langrooms.RoleAI
			}
			log = append(log, m)
		}
		var err error
		if head, err = s.Put(context.Background(), head, checkpointer.Step{Log: checkpointer.Append(log...)}); err != nil {
			t.Fatal(err)
		}
	}
}

// An address to one member is six calls of the store, whatever the length of the thread, and
// reads no more than its window and the slack of one page (spec 3.9).
func TestCost(t *testing.T) {
	want := []string{"lock", "get", "put", "messages", "put", "release"}
	for _, n := range []int{10, 100, 100_000} {
		t.Run(fmt.Sprintf("%d messages", n), func(t *testing.T) {
			s := &watched{Saver: memory(t)}
			fill(t, s.Saver, "t", n)
			limits := room.Limits{Messages: 40, Chars: 8000}
			r := roomOf(t, 3, says("a", "auth did"))
			r.Limits = limits
			if _, err := take(t.Context(), s, "t", r, address("what broke?", "a")); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d calls, %d messages asked for", len(s.calls), s.read)
			if !slices.Equal(s.calls, want) {
				t.Errorf("the calls were %v, want %v", s.calls, want)
			}
			if s.read > limits.Messages+8 {
				t.Errorf("%d messages were asked for to fill a window of %d", s.read, limits.Messages)
			}
		})
	}
}

// On Redis that is four round trips (spec 3.9), counted on the wire: the lease comes with the head
// and goes with the last put.
func TestCostOnRedis(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	proxy := redistest.StartProxy(t, redisServer.Addr)
	s, err := openStore(t.Context(), "redis://"+proxy.Addr+"?prefix="+t.Name()+":")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, n := range []int{100, 100_000} {
		thread := fmt.Sprint(n)
		fill(t, s, thread, n)
		r := roomOf(t, 3, says("a", "so that the scripts are loaded", "auth did"))
		for range 2 {
			proxy.Reset()
			if _, err := take(t.Context(), s, thread, r, address("what broke?", "a")); err != nil {
				t.Fatal(err)
			}
		}
		count := proxy.Count()
		t.Logf("%d messages: %d round trips, %d bytes sent, %d received, %v", n, count.Turns, count.Sent, count.Received, count.Commands)
		if count.Turns > 4 {
			t.Errorf("%d messages: %d round trips, want 4 at most", n, count.Turns)
		}
	}
}

// A run of m dispatches is 4 + 2m calls when everyone speaks: each dispatch reads its window
// and puts its reply.
func TestCostOfRounds(t *testing.T) {
	s := &watched{Saver: memory(t)}
	fill(t, s.Saver, "t", 1000)
	r := roomOf(t, 3, says("a", "1", "2", "3"), says("b", "1", "2", "3"), says("c", "1", "2", "3"))
	result, err := take(t.Context(), s, "t", r, address("count", "a", "b", "c"))
	if err != nil || len(result.Outcomes) != 9 {
		t.Fatalf("%d outcomes, error %v", len(result.Outcomes), err)
	}
	if want := 4 + 2*9; len(s.calls) != want {
		t.Errorf("%d calls, want %d: %v", len(s.calls), want, s.calls)
	}
}

// What is shipped to the members in a run of 3 members and 3 rounds on a thread of 2 000
// messages is bounded by the windows; replaying the thread would be bounded by nothing.
func TestShipped(t *testing.T) {
	s := memory(t)
	fill(t, s, "t", 2000)
	shipped, replayed := 0, 0
	member := func(name string) *voice {
		return &voice{name, func(_ context.Context, req delegate.Request) (delegate.Reply, error) {
			shipped += utf8.RuneCountInString(req.Prompt)
			for _, m := range messages(t, s, "t") {
				replayed += utf8.RuneCountInString(m.Text())
			}
			return delegate.Reply{Text: name + " has something to say about that"}, nil
		}}
	}
	r := roomOf(t, 3, member("a"), member("b"), member("c"))
	r.Limits = room.Limits{Messages: 40, Chars: 8000}
	result, err := take(t.Context(), s, "t", r, address("what broke?", "a", "b", "c"))
	if err != nil || len(result.Outcomes) != 9 {
		t.Fatalf("%d outcomes, error %v", len(result.Outcomes), err)
	}
	t.Logf("shipped %d characters in 9 dispatches, %d each; replaying the thread: %d, %d each, %.0f times as many",
		shipped, shipped/9, replayed, replayed/9, float64(replayed)/float64(shipped))
	// The first round may fill each window; later ones hold what the others have said.
	const frame, laterRound = 400, 1000
	if bound := 3*(8000+40*4+frame) + 6*laterRound; shipped > bound {
		t.Errorf("shipped %d characters, more than %d", shipped, bound)
	}
	if shipped*20 > replayed {
		t.Errorf("shipped %d characters, replaying would be only %d", shipped, replayed)
	}
}

// BenchmarkAddress measures the turn around a delegate that answers at once: what the room
// adds to an address, by store and length of the thread.
func BenchmarkAddress(b *testing.B) {
	stores := map[string]func(b *testing.B) checkpointer.Saver{
		"memory": func(*testing.B) checkpointer.Saver { return memorysaver.New() },
		"sqlite": func(b *testing.B) checkpointer.Saver {
			return must(openStore(b.Context(), filepath.Join(b.TempDir(), "threads.db")))(b)
		},
		"redis": func(b *testing.B) checkpointer.Saver { return must(openStore(b.Context(), redisURL(b)))(b) },
	}
	for _, name := range []string{"memory", "sqlite", "redis"} {
		for _, n := range []int{100, 10_000} {
			b.Run(fmt.Sprintf("%s/%d messages", name, n), func(b *testing.B) {
				s := stores[name](b)
				defer s.Close()
				thread := langrooms.NewID()
				fill(b, s, thread, n)
				r := roomOf(b, 3, &voice{"a", func(context.Context, delegate.Request) (delegate.Reply, error) {
					return delegate.Reply{Text: "at once"}, nil
				}})
				r.Limits = room.Limits{Messages: 40, Chars: 8000}
				for b.Loop() {
					if _, err := take(b.Context(), s, thread, r, address("what broke?", "a")); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func must(s checkpointer.Saver, err error) func(testing.TB) checkpointer.Saver {
	return func(t testing.TB) checkpointer.Saver {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}
