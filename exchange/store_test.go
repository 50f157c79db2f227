package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/internal/redistest"
)

// toldWithin is how soon a reply is shown that could not be stored.
const toldWithin = 30 * time.Second

// When the store goes away while a member works, its reply is shown within 30 seconds, with a
// word that it could not be stored, and nobody else is asked: however the store fails, and
// whichever member it is.
func TestStoreGoesAway(t *testing.T) {
	faults := map[string]error{
		"refuses": fmt.Errorf("%w: connection refused", checkpointer.ErrUnavailable),
		"hangs":   nil,
	}
	for name, fault := range faults {
		for ask := 1; ask <= 4; ask++ {
			t.Run(fmt.Sprintf("%s in ask %d", name, ask), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { goAway(t, fault, ask) })
			})
		}
	}
}

func goAway(t *testing.T, fault error, ask int) {
	s := &hanging{Saver: memory(t), fault: fault}
	asked := 0
	member := func(name string) *voice {
		return &voice{name, func(context.Context, delegate.Request) (delegate.Reply, error) {
			if asked++; asked == ask {
				s.away = true
			}
			return delegate.Reply{Text: fmt.Sprintf("answer %d", asked)}, nil
		}}
	}
	begun := time.Now()
	result, err := take(t.Context(), s, "t", roomOf(t, 3, member("a"), member("b")), address("count", "a", "b"))
	if err != nil {
		t.Errorf("error %v", err)
	}
	if took := time.Since(begun); took > toldWithin {
		t.Errorf("the operator was told after %v", took)
	}
	if asked != ask {
		t.Errorf("%d members were asked, want %d", asked, ask)
	}
	for i := 1; i <= ask; i++ {
		if !strings.Contains(result.Text, fmt.Sprintf("answer %d", i)) {
			t.Errorf("answer %d is not shown:\n%s", i, result.Text)
		}
	}
	last := result.Outcomes[ask-1]
	if !last.Unrecorded || len(result.Notes.Unrecorded) != 1 || !strings.Contains(result.Text, "could not be stored") {
		t.Errorf("not told that it could not be stored:\n%s", result.Text)
	}
	if cut := strings.Contains(result.Text, "@b did not answer: stopped"); cut != (ask == 1) {
		t.Errorf("whether b, who was owed an answer, is told of: %t:\n%s", cut, result.Text)
	}
	s.away = false
	next, err := take(t.Context(), s, "t", roomOf(t, 1, says("a", "yes")), address("and now?", "a"))
	if err != nil || len(next.Notes.Interrupted) == 0 {
		t.Errorf("the next turn has closed nothing: %v, error %v", next.Notes.Interrupted, err)
	}
	checkWhole(t, messages(t, s.Saver, "t"))
}

// hanging is a store that, while it is away, fails every call: with fault, or by not
// answering.
type hanging struct {
	checkpointer.Saver
	fault error
	away  bool
}

func (h *hanging) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	switch {
	case h.away && h.fault != nil:
		return checkpointer.Ref{}, h.fault
	case h.away:
		<-ctx.Done()
		return checkpointer.Ref{}, fmt.Errorf("%w: %w", checkpointer.ErrUnavailable, ctx.Err())
	}
	return h.Saver.Put(ctx, parent, step)
}

func (h *hanging) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	return h.Saver.(checkpointer.Locker).Lock(ctx, thread)
}

// The same with a server that is killed.
func TestRedisGoesAway(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, err := redissaver.Open("redis://" + server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	begun := time.Now()
	r := roomOf(t, 1, &voice{"a", func(context.Context, delegate.Request) (delegate.Reply, error) {
		server.Kill()
		begun = time.Now()
		return delegate.Reply{Text: "the answer"}, nil
	}})
	result, err := take(t.Context(), s, "t", r, address("what broke?", "a"))
	if took := time.Since(begun); took > toldWithin {
		t.Errorf("the operator was told after %v, error %v", took, err)
	}
	if !strings.HasPrefix(result.Text, "the answer\n\n") || !strings.Contains(result.Text, "could not be stored") {
		t.Errorf("told %q, error %v", result.Text, err)
	}
}

// A failed write is repeated with the same checkpoint, so one that had happened all the same
// is not there twice.
func TestRepeatedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &forgetful{Saver: memory(t), t: t}
		result, err := take(t.Context(), s, "t", roomOf(t, 1, says("a", "the answer")), address("what broke?", "a"))
		if err != nil || result.Text != "the answer" || result.Notes.Unrecorded != nil {
			t.Errorf("got %q, error %v", result.Text, err)
		}
		if got := messages(t, s.Saver, "t"); len(got) != 2 {
			t.Errorf("the thread holds %q", lines(got))
		}
	})
}

// forgetful is a store whose every first answer to a put is lost.
type forgetful struct {
	checkpointer.Saver
	t    *testing.T
	puts int
}

func (f *forgetful) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	ref, err := f.Saver.Put(ctx, parent, step)
	if f.puts++; err == nil && f.puts%2 == 1 {
		return checkpointer.Ref{}, fmt.Errorf("%w: connection reset", checkpointer.ErrUnavailable)
	}
	return ref, err
}

// The lease passes to another writer in the middle of a run: here another process deletes the
// thread. The member is told to stop, an answer that it gives all the same is shown, nothing is
// written, and the error is ErrFenced and names the thread.
func TestThreadIsLost(t *testing.T) {
	for _, heeds := range []bool{true, false} {
		t.Run(fmt.Sprintf("the member heeds it: %t", heeds), func(t *testing.T) {
			s := memory(t)
			var events []langrooms.EventType
			r := roomOf(t, 3, &voice{"a", func(ctx context.Context, _ delegate.Request) (delegate.Reply, error) {
				if err := s.DeleteThread(context.Background(), "t"); err != nil {
					t.Error(err)
				}
				<-ctx.Done()
				if heeds {
					return delegate.Reply{}, ctx.Err()
				}
				return delegate.Reply{Text: "the answer"}, nil
			}}, says("b", "never asked"))
			r.Events = func(e langrooms.Event) { events = append(events, e.Type) }
			result, err := take(t.Context(), s, "t", r, address("what broke?", "a", "b"))
			if !errors.Is(err, checkpointer.ErrFenced) || !strings.Contains(err.Error(), `"t"`) {
				t.Errorf("error %v, want ErrFenced with the thread's name", err)
			}
			want := "@a did not answer: stopped: the hold on the thread was lost"
			if !heeds {
				want = "**@a** — the answer"
			}
			if !strings.HasPrefix(result.Text, want+"\n\n") || strings.Contains(result.Text, "@b") {
				t.Errorf("told %q", result.Text)
			}
			if len(events) != 2 || events[1] != langrooms.EventDispatchEnded {
				t.Errorf("events %v", events)
			}
			if got := messages(t, s, "t"); got != nil {
				t.Errorf("the deleted thread holds %q", lines(got))
			}
		})
	}
}

// A lease that ends because the store is out of reach does not stop the member: its answer can
// still be shown. Nobody else is asked on a thread that is not held any more.
func TestLeaseOutOfReach(t *testing.T) {
	for _, to := range [][]string{{"a"}, {"a", "b"}} {
		synctest.Test(t, func(t *testing.T) {
			s := &leaseless{Saver: memory(t)}
			r := roomOf(t, 1, &voice{"a", func(ctx context.Context, _ delegate.Request) (delegate.Reply, error) {
				s.end(fmt.Errorf("%w: %w", checkpointer.ErrFenced, checkpointer.ErrUnavailable))
				synctest.Wait()
				return delegate.Reply{Text: "the answer"}, ctx.Err()
			}}, says("b", "never asked"))
			result, err := take(t.Context(), s, "t", r, address("what broke?", to...))
			if !strings.HasSuffix(result.Text, "the answer") || len(result.Outcomes) != 1 {
				t.Errorf("to %v: told %q", to, result.Text)
			}
			if lost := errors.Is(err, checkpointer.ErrFenced); lost != (len(to) == 2) {
				t.Errorf("to %v: error %v", to, err)
			}
		})
	}
}

// leaseless gives out leases that the test ends.
type leaseless struct {
	checkpointer.Saver
	ctx context.Context
	end context.CancelCauseFunc
}

func (l *leaseless) Lock(ctx context.Context, _ string) (checkpointer.Lease, error) {
	l.ctx, l.end = context.WithCancelCause(ctx)
	return l, nil
}

func (l *leaseless) Context() context.Context { return l.ctx }
func (l *leaseless) Release() error           { l.end(nil); return nil }

// Errors of ours are told as such, and nobody is asked.
func TestAddressRefuses(t *testing.T) {
	s := memory(t)
	if _, err := exchange.Begin(t.Context(), s, "bad \xff id"); !errors.Is(err, langrooms.ErrThreadID) {
		t.Errorf("a thread id that is no UTF-8: %v", err)
	}
	for _, to := range [][]string{nil, {"a", "nobody"}} {
		if _, err := take(t.Context(), s, "t", roomOf(t, 1, says("a")), address("hi", to...)); !errors.Is(err, exchange.ErrNoMember) {
			t.Errorf("to %v: %v", to, err)
		}
	}
	if got := messages(t, s, "t"); got != nil {
		t.Errorf("the thread holds %q", lines(got))
	}
	result, err := take(t.Context(), s, "t", roomOf(t, 3, says("a", "once")), address("hi", "a", "a"))
	if err != nil || result.Text != "once" {
		t.Errorf("a name given twice: %q, error %v", result.Text, err)
	}
}
