package lifecycle_test

import (
	"context"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
)

// leaseKeeper gives the lease of the newest turn away, as that of a killed process runs out.
type leaseKeeper struct {
	store
	lease checkpointer.Lease
}

func (l *leaseKeeper) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	lease, err := l.store.Lock(ctx, thread)
	l.lease = lease
	return lease, err
}

type died struct{}

type dier struct {
	member
	s *leaseKeeper
}

func (d *dier) Ask(context.Context, delegate.Request) (delegate.Reply, error) {
	if err := d.s.lease.Release(); err != nil {
		panic(err)
	}
	panic(died{})
}

// killedIn leaves an interrupted exchange on the thread "t", behind one ordinary message.
func killedIn(t *testing.T, s *leaseKeeper) (first string) {
	t.Helper()
	first = say(t, s, "t", said("before")...)[0]
	func() {
		defer func() {
			if v := recover(); v != nil {
				if _, ok := v.(died); !ok {
					panic(v)
				}
			}
		}()
		d := &dier{member{name: "proto"}, s}
		registry, _ := delegate.NewRegistry(d)
		turn, err := exchange.Begin(t.Context(), s, "t")
		if err != nil {
			t.Fatal(err)
		}
		turn.Address(t.Context(), exchange.Room{Roster: registry, MaxRounds: 1},
			exchange.Address{From: room.Operator, To: []string{"proto"}, Message: "the erased question"})
	}()
	return first
}

// next takes the thread's next turn and returns whom it says was interrupted.
func next(t *testing.T, s store, thread string) []string {
	t.Helper()
	m := &member{name: "reviewer", script: []string{"ok"}}
	registry, _ := delegate.NewRegistry(m)
	turn, err := exchange.Begin(t.Context(), s, thread)
	if err != nil {
		t.Fatal(err)
	}
	defer turn.End()
	r, err := turn.Address(t.Context(), exchange.Room{Roster: registry, MaxRounds: 1},
		exchange.Address{From: room.Operator, To: []string{"reviewer"}, Message: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %q", thread, r.Text)
	return r.Notes.Interrupted
}

func TestNoteOfAnErasedExchange(t *testing.T) {
	s := &leaseKeeper{store: closing(t, memorysaver.New(), nil)}
	first := killedIn(t, s)
	if _, err := threadsOf(s).Rewind(t.Context(), "t", first); err != nil {
		t.Fatal(err)
	}
	got := next(t, s, "t")
	all := strings.Join(texts(t, s, "t"), "\n")
	if len(got) > 0 && !strings.Contains(all, "interrupted") {
		t.Errorf("the turn tells of an interrupted exchange with %v and that the thread says so; the thread is\n%s", got, all)
	}
}

func TestNoteOfAnExchangeTheForkDoesNotHave(t *testing.T) {
	s := &leaseKeeper{store: closing(t, memorysaver.New(), nil)}
	first := killedIn(t, s)
	if err := threadsOf(s).Fork(t.Context(), "t", "f", first); err != nil {
		t.Fatal(err)
	}
	got := next(t, s, "f")
	all := strings.Join(texts(t, s, "f"), "\n")
	if len(got) > 0 && !strings.Contains(all, "interrupted") {
		t.Errorf("the fork's turn tells of an interrupted exchange with %v and that the thread says so; the fork is\n%s", got, all)
	}
	next(t, s, "t")
}
