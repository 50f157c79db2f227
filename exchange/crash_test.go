package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
)

// died is what a scripted death of the process panics with.
type died struct{}

// dying runs a turn whose process may die in it, and reports whether it did.
func dying(t *testing.T, turn func() (langrooms.Result, error)) (dead bool) {
	t.Helper()
	defer func() {
		switch v := recover(); v {
		case nil:
		case died{}:
			dead = true
		default:
			panic(v)
		}
	}()
	if _, err := turn(); err != nil {
		t.Fatal(err)
	}
	return false
}

// die takes the lease away, which of a dead process runs out, and ends the turn.
func (w *watched) die() {
	if err := w.lease.Release(); err != nil {
		panic(err)
	}
	panic(died{})
}

// A process may die before and after every put and while every member works (spec 2.4). The
// next turn closes what it left, once, and what was put stays.
func TestDiesAnywhere(t *testing.T) {
	steps := []string{"before put", "after put", "in ask"}
	for _, step := range steps {
		for n := 1; ; n++ {
			s := &watched{Saver: memory(t)}
			dead := dieAt(t, s, step, n)
			if !dead {
				if n < 6 {
					t.Errorf("a run had only %d of %q", n-1, step)
				}
				break
			}
			t.Run(fmt.Sprintf("%s %d", step, n), func(t *testing.T) { checkAfterDeath(t, s) })
		}
	}
}

// dieAt runs three members over three rounds, with a pass in the second, until the nth step.
func dieAt(t *testing.T, s *watched, step string, n int) bool {
	seen := 0
	at := func(what string) {
		if what == step {
			if seen++; seen == n {
				s.die()
			}
		}
	}
	s.before = func(op string) error { at("before " + op); return nil }
	s.after = func(op string) { at("after " + op) }
	speaker := func(name string, texts ...string) *voice {
		v := says(name, texts...)
		answer := v.ask
		v.ask = func(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
			at("in ask")
			return answer(ctx, req)
		}
		return v
	}
	r := roomOf(t, 3, speaker("a", "one", "pass", "three"), speaker("b", "two", "four"), speaker("c"))
	return dying(t, func() (langrooms.Result, error) {
		return take(t.Context(), s, "t", r, address("count", "a", "b", "c"))
	})
}

func checkAfterDeath(t *testing.T, s *watched) {
	s.before, s.after = nil, nil
	before := messages(t, s.Saver, "t")
	swept, err := exchange.Sweep(t.Context(), s, "t")
	if err != nil {
		t.Fatal(err)
	}
	after := messages(t, s.Saver, "t")
	if got := lines(after[:len(before)]); !slices.Equal(got, lines(before)) {
		t.Errorf("what stood on the thread has changed: %q", got)
	}
	for i, m := range after[len(before):] {
		if !m.Stamp.Failed || m.Stamp.From != swept[i] || m.Stamp.ErrorKind != langrooms.ErrorInterrupted {
			t.Errorf("swept %q, recorded %s", swept, lines(after[len(before):]))
		}
	}
	if n := len(swept); n > 1 && after[len(after)-1].Stamp.Round > 1 {
		t.Errorf("%d members were interrupted in round %d, where only the one being asked is owed an answer", n, after[len(after)-1].Stamp.Round)
	}
	addressed := len(before) > 0
	answered := slices.ContainsFunc(after, func(m langrooms.Message) bool { return m.Stamp.From == "a" })
	if addressed && !answered {
		t.Errorf("the address has no record from a:\n%s", strings.Join(lines(after), "\n"))
	}
	// Nobody has read what the sweep did: the next turn tells it, and only that one.
	for n, want := range [][]string{swept, nil} {
		result, err := take(t.Context(), s, "t", roomOf(t, 1, says("a", "yes")), address("are you there?", "a"))
		if err != nil || !slices.Equal(result.Notes.Interrupted, want) {
			t.Errorf("turn %d after the sweep tells of %v, want %v; error %v", n+1, result.Notes.Interrupted, want, err)
		}
	}
	all := messages(t, s.Saver, "t")
	if want := len(after) + 4; len(all) != want {
		t.Errorf("the next turns left %d messages, want %d", len(all), want)
	}
	checkSpokenOnce(t, all)
}

func checkSpokenOnce(t *testing.T, all []langrooms.Message) {
	t.Helper()
	seen := map[string]bool{}
	for _, m := range all {
		at := fmt.Sprint(m.Stamp.Exchange, m.Stamp.From, m.Stamp.Round)
		if seen[at] {
			t.Errorf("a second record of %s:\n%s", m.Stamp.From, strings.Join(lines(all), "\n"))
		}
		seen[at] = true
	}
}

func TestSweep(t *testing.T) {
	s := &watched{Saver: memory(t)}
	sweep := func() []string {
		t.Helper()
		swept, err := exchange.Sweep(t.Context(), s, "t")
		if err != nil {
			t.Fatal(err)
		}
		return swept
	}
	if swept := sweep(); swept != nil || len(s.calls) != 1 {
		t.Errorf("a thread that does not exist: swept %v with %v", swept, s.calls)
	}
	if !dieAt(t, s, "in ask", 2) {
		t.Fatal("nobody died")
	}
	if swept := sweep(); !slices.Equal(swept, []string{"b", "c"}) {
		t.Errorf("swept %v, want b and c", swept)
	}
	s.calls = nil
	if swept := sweep(); swept != nil || len(s.calls) != 1 {
		t.Errorf("a thread with nothing open: swept %v with %v", swept, s.calls)
	}
	s.before = func(string) error { return checkpointer.ErrUnavailable }
	if _, err := exchange.Sweep(t.Context(), s, "t"); !errors.Is(err, checkpointer.ErrUnavailable) {
		t.Errorf("a store that is away: %v", err)
	}
}

// What stands in the channel of open exchanges was written by another program, perhaps: one
// that cannot be read is an error and changes nothing.
func TestUnreadableOpenExchange(t *testing.T) {
	s := memory(t)
	step := checkpointer.Step{Channels: map[string][]byte{"room.open": []byte("{")}}
	if _, err := s.Put(t.Context(), checkpointer.Ref{Thread: "t"}, step); err != nil {
		t.Fatal(err)
	}
	if _, err := exchange.Begin(t.Context(), s, "t"); !errors.Is(err, checkpointer.ErrFormat) {
		t.Errorf("got %v, want ErrFormat", err)
	}
	if got := messages(t, s, "t"); got != nil {
		t.Errorf("written all the same: %v", lines(got))
	}
}
