package checkpointertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

func fenceRules() []rule {
	return []rule{
		{name: "fence-of-another-thread", check: fenceOfAnother},
		{name: "newer-token-raises-the-fence", check: newerToken},
		{name: "fenced-writes-nothing", needs: Locker, check: fencedWritesNothing},
		{name: "delete-fences-the-holder", needs: Locker, check: deleteFences},
	}
}

func lockRules() []rule {
	return []rule{
		{name: "lock-excludes", needs: Locker, check: lockExcludes},
		{name: "lock-in-order-of-arrival", needs: Locker, check: lockOrder},
		{name: "lock-wait-ends-with-context", needs: Locker, check: lockWaitEnds},
		{name: "lock-of-other-threads", needs: Locker, check: lockOthers},
		{name: "lock-does-not-create", needs: Locker, check: lockDoesNotCreate},
		{name: "lease-release", needs: Locker, check: leaseRelease},
		{name: "lease-tokens-ascend", needs: Locker, check: tokensAscend},
		{name: "lock-arguments", needs: Locker, check: lockArguments},
		{name: "close-ends-leases-and-waits", needs: Locker, check: closeEndsLeases},
	}
}

func (c *check) lock(s checkpointer.Saver, name string) checkpointer.Lease {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), c.patience)
	c.Cleanup(cancel)
	lease, err := ability[checkpointer.Locker](c, s).Lock(ctx, name)
	c.ok(err, "lock of %q", name)
	c.Cleanup(func() {
		if err := lease.Release(); err != nil {
			c.Errorf("release: %v", err)
		}
	})
	return lease
}

func (c *check) release(lease checkpointer.Lease) {
	c.Helper()
	c.ok(lease.Release(), "release")
}

// token is the fencing token that a lease carries.
func (c *check) token(lease checkpointer.Lease, name string) int64 {
	c.Helper()
	token, ok := checkpointer.Fence(lease.Context(), name)
	if !ok {
		c.Fatalf("the lease's context carries no fence for %q", name)
	}
	return token
}

func fenceOfAnother(c *check) {
	s := c.saver()
	ctx := checkpointer.WithFence(c.Context(), "other", 1)
	if _, err := s.Put(ctx, thread("t"), checkpointer.Step{ID: "c1"}); err != nil {
		c.Errorf("a fence of another thread counts: %v", err)
	}
}

func newerToken(c *check) {
	s := c.saver()
	with := func(token int64) context.Context { return checkpointer.WithFence(c.Context(), "t", token) }
	at, err := s.Put(with(5), thread("t"), checkpointer.Step{ID: "c1"})
	c.ok(err, "put with the first token")
	_, err = s.Put(with(4), at, checkpointer.Step{ID: "c2"})
	c.is(err, checkpointer.ErrFenced, "put with an older token")
	_, err = s.Put(with(9), thread("t"), checkpointer.Step{ID: "c2"})
	c.is(err, checkpointer.ErrConflict, "put with a newer token after an older checkpoint")
	_, err = s.Put(with(5), at, checkpointer.Step{ID: "c2"})
	if err != nil {
		c.Errorf("a put that failed has raised the fence: %v", err)
	}
	c.ok(s.PutWrites(with(6), at, task("task"), []checkpointer.Write{write("x", "1")}), "writes with a newer token")
	c.is(s.PutWrites(with(5), at, task("task"), nil), checkpointer.ErrFenced, "writes with an older token")
}

// everyWrite makes each fenced write with ctx and reports when its error is not ErrFenced.
func everyWrite(ctx context.Context, c *check, s checkpointer.Saver, at checkpointer.Ref) {
	c.Helper()
	_, err := s.Put(ctx, at, checkpointer.Step{ID: "fenced", Log: appends("x")})
	c.is(err, checkpointer.ErrFenced, "put")
	c.is(s.PutWrites(ctx, at, task("task"), []checkpointer.Write{write("x", "1")}), checkpointer.ErrFenced, "writes")
	c.is(s.DeleteThread(ctx, at.Thread), checkpointer.ErrFenced, "delete")
	if a, ok := s.(checkpointer.Pruner); ok {
		_, err := a.Prune(ctx, at.Thread, checkpointer.Retention{Keep: 1})
		c.is(err, checkpointer.ErrFenced, "prune")
	}
	if a, ok := s.(checkpointer.Compacter); ok {
		_, err := a.Compact(ctx, at, message("s"), 1)
		c.is(err, checkpointer.ErrFenced, "compact")
	}
	if a, ok := s.(checkpointer.Forker); ok {
		source := c.put(s, thread("source"), checkpointer.Step{})
		_, err := a.Fork(ctx, source, nil, at.Thread)
		c.is(err, checkpointer.ErrFenced, "fork onto the thread")
		c.ok(s.DeleteThread(c.Context(), "source"), "delete of the source")
	}
}

func fencedWritesNothing(c *check) {
	s := c.saver()
	first := c.lock(s, "t")
	at, err := s.Put(first.Context(), thread("t"), checkpointer.Step{ID: "c1", Log: appends("a b c")})
	c.ok(err, "put under the lease")
	token := c.token(first, "t")
	c.release(first)
	second := c.lock(s, "t")
	stale := checkpointer.WithFence(c.Context(), "t", token)
	everyWrite(stale, c, s, at)
	c.sees(s, thread("t"), "a b c")
	c.writes(c.get(s, at), "")
	c.lists(s, checkpointer.Query{Thread: "t"}, "c1")
	if _, err := s.Put(second.Context(), at, checkpointer.Step{ID: "c2", Log: appends("d")}); err != nil {
		c.Errorf("put under the newer lease: %v", err)
	}
	// Also a repetition of what is there is refused: the caller is no longer the holder.
	_, err = s.Put(stale, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a b c")})
	c.is(err, checkpointer.ErrFenced, "a repeated put with a stale fence")
}

func deleteFences(c *check) {
	s := c.saver()
	lease := c.lock(s, "t")
	at, err := s.Put(lease.Context(), thread("t"), checkpointer.Step{ID: "c1", Log: appends("a")})
	c.ok(err, "put under the lease")
	stale := checkpointer.WithFence(c.Context(), "t", c.token(lease, "t"))
	c.ok(s.DeleteThread(c.Context(), "t"), "delete without a fence")
	everyWrite(stale, c, s, at)
	c.lists(s, checkpointer.Query{Thread: "t"}, "")
	c.release(lease)
	next := c.lock(s, "t")
	if _, err := s.Put(next.Context(), thread("t"), checkpointer.Step{ID: "c1", Log: appends("new")}); err != nil {
		c.Errorf("put under a lease taken after the delete: %v", err)
	}
	everyWrite(stale, c, s, at)
	c.ok(s.DeleteThread(next.Context(), "t"), "delete under the lease")
	everyWrite(stale, c, s, at)
	c.lists(s, checkpointer.Query{Thread: "t"}, "")
}

func lockExcludes(c *check) {
	s := c.saver()
	exclusion(c, func(int) checkpointer.Saver { return s })
}

// exclusion counts, under the lease, in a variable that nothing else guards.
func exclusion(c *check, writer func(i int) checkpointer.Saver) {
	c.Helper()
	inside, total := 0, 0
	var mu sync.Mutex // makes the check itself no data race
	parallel(6, func(i int) {
		for range 3 {
			lease, err := writer(i).(checkpointer.Locker).Lock(c.Context(), "t")
			if err != nil {
				c.Errorf("lock: %v", err)
				return
			}
			mu.Lock()
			inside++
			if inside != 1 {
				c.Errorf("%d hold the lease at once", inside)
			}
			mu.Unlock()
			linger(c, 2*time.Millisecond)
			c.insist(fencedSaver{writer(i), lease.Context()}, thread("t"), fmt.Sprint(i))
			mu.Lock()
			inside--
			total++
			mu.Unlock()
			if err := lease.Release(); err != nil {
				c.Errorf("release: %v", err)
			}
		}
	})
	if total != 18 {
		c.Errorf("%d of 18 turns were had", total)
	}
}

// fencedSaver writes under a lease.
type fencedSaver struct {
	checkpointer.Saver
	lease context.Context
}

func (s fencedSaver) Put(_ context.Context, at checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	return s.Saver.Put(s.lease, at, step)
}

// pause gives a waiter time to take its place in the queue; a store does not say when.
func pause(c *check) { linger(c, 150*time.Millisecond) }

func linger(c *check, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.Context().Done():
	}
}

func lockOrder(c *check) {
	s := c.saver()
	order(c, func(int) checkpointer.Saver { return s })
}

func order(c *check, writer func(i int) checkpointer.Saver) {
	c.Helper()
	held := c.lock(writer(0), "t")
	const waiters = 5
	got := make(chan int, waiters)
	var wg sync.WaitGroup
	for i := range waiters {
		wg.Go(func() {
			lease, err := writer(i).(checkpointer.Locker).Lock(c.Context(), "t")
			if err != nil {
				c.Errorf("lock: %v", err)
				return
			}
			got <- i
			if err := lease.Release(); err != nil {
				c.Errorf("release: %v", err)
			}
		})
		pause(c)
	}
	c.release(held)
	wg.Wait()
	close(got)
	next := 0
	for i := range got {
		if i != next {
			c.Errorf("waiter %d had its turn in place of %d", i, next)
		}
		next++
	}
}

func lockWaitEnds(c *check) {
	s := c.saver()
	a := ability[checkpointer.Locker](c, s)
	held := c.lock(s, "t")
	ctx, cancel := context.WithCancel(c.Context())
	result := make(chan error, 1)
	go func() {
		_, err := a.Lock(ctx, "t")
		result <- err
	}()
	pause(c)
	cancel()
	select {
	case err := <-result:
		c.is(err, context.Canceled, "lock whose context ended")
	case <-time.After(c.patience):
		c.Fatalf("lock went on waiting after its context had ended")
	}
	// The one that gave up does not stand in the way.
	c.release(held)
	c.release(c.lock(s, "t"))
}

func lockOthers(c *check) {
	s := c.saver()
	for _, id := range HostileIDs() {
		c.lock(s, id)
	}
}

func lockDoesNotCreate(c *check) {
	s := c.saver()
	lease := c.lock(s, "t")
	_, err := s.Get(c.Context(), thread("t"))
	c.is(err, checkpointer.ErrNotFound, "get of a locked thread without checkpoints")
	c.lists(s, checkpointer.Query{Thread: "t"}, "")
	c.noThreads(s)
	c.release(lease)
	c.noThreads(s)
}

func leaseRelease(c *check) {
	s := c.saver()
	a := ability[checkpointer.Locker](c, s)
	ctx, cancel := context.WithCancel(context.WithValue(c.Context(), ctxKey{}, "value"))
	defer cancel()
	lease, err := a.Lock(ctx, "t")
	c.ok(err, "lock")
	if lease.Context().Err() != nil || lease.Context().Value(ctxKey{}) != "value" {
		c.Errorf("the context of a held lease has ended or is not derived from the caller's")
	}
	cancel() // Release works all the same
	c.release(lease)
	c.release(lease)
	if lease.Context().Err() == nil {
		c.Errorf("the context of a released lease has not ended")
	}
	next := c.lock(s, "t")
	c.release(lease) // does not touch the new holder's
	waiting, stop := context.WithTimeout(c.Context(), 200*time.Millisecond)
	defer stop()
	if _, err := a.Lock(waiting, "t"); !errors.Is(err, context.DeadlineExceeded) {
		c.Errorf("releasing a lease twice freed another's: %v", err)
	}
	if next.Context().Err() != nil {
		c.Errorf("releasing a lease twice ended another's")
	}
}

type ctxKey struct{}

func tokensAscend(c *check) {
	s := c.saver()
	last := int64(0)
	for i := range 10 {
		lease := c.lock(s, "t")
		if token := c.token(lease, "t"); token <= last {
			c.Errorf("token %d follows %d", token, last)
		} else {
			last = token
		}
		if i%3 == 0 {
			c.ok(s.DeleteThread(lease.Context(), "t"), "delete under the lease")
		}
		c.release(lease)
		if i == 5 {
			c.ok(s.DeleteThread(c.Context(), "t"), "delete")
		}
	}
}

func lockArguments(c *check) {
	a := ability[checkpointer.Locker](c, c.saver())
	for name, id := range badIDs() {
		_, err := a.Lock(c.Context(), id)
		c.is(err, checkpointer.ErrInvalid, "lock of %s thread", name)
	}
	_, err := a.Lock(c.Context(), "")
	c.is(err, checkpointer.ErrInvalid, "lock of an empty thread")
}

func closeEndsLeases(c *check) {
	s := c.saver()
	a := ability[checkpointer.Locker](c, s)
	held := c.lock(s, "t")
	result := make(chan error, 1)
	go func() {
		_, err := a.Lock(c.Context(), "t")
		result <- err
	}()
	pause(c)
	c.ok(s.Close(), "close")
	select {
	case err := <-result:
		c.is(err, checkpointer.ErrClosed, "lock that was waiting when the saver was closed")
	case <-time.After(c.patience):
		c.Fatalf("lock went on waiting after the saver was closed")
	}
	if held.Context().Err() == nil {
		c.Errorf("a lease outlived its saver")
	}
}

// isLost reports whether err or the end of lease says that it was lost.
func isLost(err error, lease checkpointer.Lease) bool {
	return errors.Is(err, checkpointer.ErrFenced) || errors.Is(context.Cause(lease.Context()), checkpointer.ErrFenced)
}
