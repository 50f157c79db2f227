package redissaver_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

func tokenOf(t testing.TB, l checkpointer.Lease) int64 {
	t.Helper()
	token, ok := checkpointer.Fence(l.Context(), "t")
	if !ok {
		t.Fatal("the lease's context carries no token")
	}
	return token
}

// Waiters get the lease in the order in which they came, each with a greater token.
func TestLeaseInOrderOfArrival(t *testing.T) {
	s := fresh(t)
	ctx := within(t, time.Minute)
	first, err := s.Lock(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	const waiters = 6
	order := make(chan int, waiters)
	done := make(chan error, waiters)
	c := client(t, sharedAddr(t))
	for i := range waiters {
		before := queueLength(t, c, s)
		go func() {
			lease, err := s.Lock(ctx, "t")
			if err == nil {
				order <- i
				err = lease.Release()
			}
			done <- err
		}()
		// The next one comes when this one stands in the line.
		if err := redistest.Eventually(10*time.Second, func() error {
			if queueLength(t, c, s) == before {
				return errors.New("the line does not grow")
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	token := tokenOf(t, first)
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	for range waiters {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	close(order)
	var got []int
	for i := range order {
		got = append(got, i)
	}
	if !slices.IsSorted(got) {
		t.Errorf("the lease was given in the order %v", got)
	}
	last, err := s.Lock(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	if tokenOf(t, last) < token+waiters+1 {
		t.Errorf("after %d leases the token went from %d to %d", waiters, token, tokenOf(t, last))
	}
	if err := errors.Join(last.Release(), last.Release()); err != nil {
		t.Errorf("release is not idempotent: %v", err)
	}
}

// A waiter whose context ends leaves the line at once; the next one is not held up by it.
func TestWaiterGivesUp(t *testing.T) {
	s := fresh(t)
	ctx := within(t, time.Minute)
	first, err := s.Lock(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancelCause(ctx)
	failed := make(chan error, 1)
	c := client(t, sharedAddr(t))
	before := queueLength(t, c, s)
	go func() { _, err := s.Lock(gone, "t"); failed <- err }()
	if err := redistest.Eventually(10*time.Second, func() error {
		if queueLength(t, c, s) == before {
			return errors.New("not in the line")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	cancel(errors.New("changed my mind"))
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Fatalf("lock with an ended context: %v", err)
	}
	if n := queueLength(t, c, s); n != before {
		t.Errorf("the waiter that gave up is still in the line (%d, %d bytes)", before, n)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	second, err := s.Lock(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	second.Release()
}

// What a holder writes after its lease has passed on is refused, with nothing written,
// and its context ends when it next renews. Deletion takes the lease too.
func TestFencing(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, other := open(t, server.Addr), open(t, server.Addr)
	c := client(t, server.Addr)
	ctx := within(t, time.Minute)
	old, err := s.Lock(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	ref := grow(t, s, "t", 1)
	c.Set(ctx, "langrooms:{t}:f", tokenOf(t, old), 0) // as if the lease had run out
	lease, err := other.Lock(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	message := langrooms.NewMessage(langrooms.RoleHuman, "late")
	state := dump(t, c, redissaver.ThreadKeys(s, "t")[:fence])
	late := map[string]func(context.Context) error{
		"put": func(ctx context.Context) error {
			_, err := s.Put(ctx, ref, checkpointer.Step{Log: checkpointer.Append(message)})
			return err
		},
		"writes": func(ctx context.Context) error { return s.PutWrites(ctx, ref, checkpointer.Task{ID: "task"}, nil) },
		"delete": func(ctx context.Context) error { return s.DeleteThread(ctx, "t") },
		"prune": func(ctx context.Context) error {
			_, err := s.Prune(ctx, "t", checkpointer.Retention{Keep: 1})
			return err
		},
		"compact": func(ctx context.Context) error { _, err := s.Compact(ctx, ref, message, 0); return err },
	}
	for name, do := range late {
		if err := do(checkpointer.WithFence(ctx, "t", tokenOf(t, old))); !errors.Is(err, checkpointer.ErrFenced) {
			t.Errorf("%s after the lease has passed on: %v", name, err)
		}
	}
	if dump(t, c, redissaver.ThreadKeys(s, "t")[:fence]) != state {
		t.Error("a fenced call has written")
	}
	<-old.Context().Done()
	if !errors.Is(context.Cause(old.Context()), checkpointer.ErrFenced) {
		t.Errorf("the lost lease's context ended with %v", context.Cause(old.Context()))
	}
	if err := old.Release(); err != nil {
		t.Errorf("release of a lost lease: %v", err)
	}
	if err := s.DeleteThread(ctx, "t"); err != nil { // without a lease: it takes it
		t.Fatal(err)
	}
	ref = checkpointer.Ref{Thread: "t"}
	if err := late["put"](lease.Context()); !errors.Is(err, checkpointer.ErrFenced) {
		t.Errorf("put after the thread was deleted: %v", err)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

// A token so old that the store has forgotten it is refused too.
func TestForgottenToken(t *testing.T) {
	s := fresh(t)
	old := time.Now().Add(-25 * time.Hour).UnixMilli()
	_, err := s.Put(checkpointer.WithFence(t.Context(), "t", old), checkpointer.Ref{Thread: "t"}, checkpointer.Step{})
	if !errors.Is(err, checkpointer.ErrFenced) {
		t.Errorf("put with a token of yesterday: %v", err)
	}
	if _, err := s.Put(checkpointer.WithFence(t.Context(), "t", time.Now().UnixMilli()), checkpointer.Ref{Thread: "t"}, checkpointer.Step{}); err != nil {
		t.Errorf("put with a fresh token: %v", err)
	}
}

// A failover to a replica that had received neither the lease nor its token: the next
// holder's token is above it by the clock, and the earlier holder is refused.
func TestTokenLostInAFailover(t *testing.T) {
	c := client(t, sharedAddr(t))
	s := fresh(t)
	ctx := within(t, time.Minute)
	old, err := s.Lock(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	defer old.Release()
	ref, err := s.Put(old.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{})
	if err != nil {
		t.Fatal(err)
	}
	keys := redissaver.ThreadKeys(s, "t")
	if err := c.Del(ctx, keys[fence]).Err(); err != nil {
		t.Fatal(err)
	}
	next, err := s.Lock(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	defer next.Release()
	if tokenOf(t, next) <= tokenOf(t, old) {
		t.Errorf("the token %d follows %d", tokenOf(t, next), tokenOf(t, old))
	}
	if _, err := s.Put(old.Context(), ref, checkpointer.Step{}); !errors.Is(err, checkpointer.ErrFenced) {
		t.Errorf("put of the earlier holder: %v", err)
	}
	if _, err := s.Put(next.Context(), ref, checkpointer.Step{}); err != nil {
		t.Errorf("put of the next holder: %v", err)
	}
}

// Close gives the held leases back.
func TestCloseReleases(t *testing.T) {
	server := redistest.Start(t)
	s, other := open(t, server.Addr), open(t, server.Addr)
	lease, err := s.Lock(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := context.Cause(lease.Context()); !errors.Is(err, checkpointer.ErrClosed) {
		t.Errorf("the lease's context ended with %v", err)
	}
	next, err := other.Lock(within(t, 5*time.Second), "t")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(next.Release(), lease.Release()); err != nil {
		t.Error(err)
	}
}

// A process that is stopped loses its lease within 20 seconds. When it wakes it is
// refused, writes nothing, and learns that its lease is gone. A process that is killed
// loses its lease in the same time.
func TestStoppedAndKilledHolders(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a lease to run out, 15 seconds")
	}
	t.Parallel()
	addr, prefix := sharedAddr(t), nextPrefix()
	s := open(t, addr, "prefix="+prefix)
	ctx := within(t, time.Minute)
	stopped, killed := startChild(t, "hold t", addr, prefix), startChild(t, "hold u", addr, prefix)
	stopped.expect(t, "held")
	killed.expect(t, "held")
	began := time.Now()
	stopped.signal(t, syscall.SIGSTOP)
	killed.signal(t, syscall.SIGKILL)
	leases := make(chan error, 2)
	for _, thread := range []string{"t", "u"} {
		go func() {
			lease, err := s.Lock(ctx, thread)
			if err == nil {
				_, err = s.Put(lease.Context(), checkpointer.Ref{Thread: thread}, checkpointer.Step{ID: "mine"})
			}
			leases <- err
		}()
	}
	for range 2 {
		if err := <-leases; err != nil {
			t.Fatal(err)
		}
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("the leases were free after %v", d)
	}
	stopped.signal(t, syscall.SIGCONT)
	stopped.say(t, "put")
	stopped.expect(t, "fenced")
	stopped.expect(t, "lost")
	var ids []string
	for c, err := range s.List(ctx, checkpointer.Query{Thread: "t"}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.Ref.ID)
	}
	if fmt.Sprint(ids) != "[mine]" {
		t.Errorf("the thread holds %v", ids)
	}
	var exit *exec.ExitError
	if err := killed.wait(); !errors.As(err, &exit) {
		t.Errorf("the killed child ended with %v", err)
	}
}
