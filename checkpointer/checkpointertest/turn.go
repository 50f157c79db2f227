package checkpointertest

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/langrooms/langrooms/checkpointer"
)

func turnRules() []rule {
	return []rule{
		{name: "lock-head", needs: HeadLocker, check: lockHead},
		{name: "lock-head-errors", needs: HeadLocker, check: lockHeadErrors},
		{name: "put-last-gives-the-lease-back", needs: HeadLocker, check: putLast},
		{name: "put-last-that-fails-keeps-the-lease", needs: HeadLocker, check: putLastFails},
		{name: "fences-are-exact", check: fencesExact},
		{name: "fence-of-each-thread", check: fencesApart},
		{name: "success-raises-the-fence", check: successRaises},
	}
}

// lockHead locks and reads, or ends the rule.
func (c *check) lockHead(s checkpointer.Saver, at checkpointer.Ref, r checkpointer.Range) (checkpointer.Lease, checkpointer.Checkpoint, string) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), c.patience)
	c.Cleanup(cancel)
	lease, cp, messages, err := ability[checkpointer.HeadLocker](c, s).LockHead(ctx, at, r)
	c.ok(err, "lock of the head of %+v", at)
	c.Cleanup(func() { _ = lease.Release() })
	return lease, cp, texts(messages)
}

func lockHead(c *check) {
	s := c.saver()
	lease, cp, messages := c.lockHead(s, thread("t"), checkpointer.Range{})
	if cp.Ref.ID != "" || messages != "" {
		c.Errorf("the head of nothing is %+v with [%s]", cp.Ref, messages)
	}
	at, err := s.Put(lease.Context(), thread("t"), checkpointer.Step{ID: "c1", Log: appends("a b c"), Channels: values("x=1")})
	c.ok(err, "put under the lease")
	c.putWrites(s, at, "task", write("x", "1"))
	if _, err := s.Put(checkpointer.WithFence(c.Context(), "t", c.token(lease, "t")-1), at, checkpointer.Step{}); err == nil {
		c.Errorf("an older token was taken beside the lease")
	}
	// A waiter reads what there is when it gets the lease, not when it began to wait.
	type head struct {
		lease    checkpointer.Lease
		cp       checkpointer.Checkpoint
		messages string
	}
	waiter := make(chan head, 1)
	go func() {
		l, cp, messages, err := s.(checkpointer.HeadLocker).LockHead(c.Context(), thread("t"), checkpointer.Range{Backward: true, Limit: checkpointer.N(2)})
		if err != nil {
			c.Errorf("lock of the head by a waiter: %v", err)
		}
		waiter <- head{l, cp, texts(messages)}
	}()
	_, err = s.Put(lease.Context(), at, checkpointer.Step{ID: "c2", Log: appends("d")})
	c.ok(err, "put under the lease")
	c.release(lease)
	got := <-waiter
	if got.lease == nil {
		return
	}
	if got.cp.Ref.ID != "c2" || got.messages != "d c" || c.token(got.lease, "t") <= c.token(lease, "t") {
		c.Errorf("the waiter read %+v with [%s]", got.cp.Ref, got.messages)
	}
	c.channels(got.cp, "x=1")
	c.release(got.lease)
	other, cp, _ := c.lockHead(s, checkpointer.Ref{Thread: "t", Namespace: "n"}, checkpointer.Range{})
	if cp.Ref.ID != "" {
		c.Errorf("the head of an empty namespace is %+v", cp.Ref)
	}
	c.release(other)
}

func lockHeadErrors(c *check) {
	s := c.saver()
	c.chain(s, thread("t"), "a")
	a := ability[checkpointer.HeadLocker](c, s)
	soon, stop := context.WithTimeout(c.Context(), c.patience)
	defer stop()
	for name, at := range map[string]checkpointer.Ref{"an empty thread": {}, "a checkpoint id": {Thread: "t", ID: "a"}, "bad UTF-8": {Thread: "\xff"}} {
		_, _, _, err := a.LockHead(soon, at, checkpointer.Range{})
		c.is(err, checkpointer.ErrInvalid, "lock of a head with %s", name)
	}
	_, _, _, err := a.LockHead(soon, thread("t"), checkpointer.Range{From: -1})
	c.is(err, checkpointer.ErrInvalid, "lock of a head with a negative from")
	c.release(c.lock(s, "t")) // none of them holds it
	held := c.lock(s, "t")
	ctx, cancel := context.WithCancel(c.Context())
	cancel()
	_, _, _, err = a.LockHead(ctx, thread("t"), checkpointer.Range{})
	c.is(err, context.Canceled, "lock of a head with a context that has ended")
	c.release(held)
}

// last is a lease's ability to end with a put.
func (c *check) last(lease checkpointer.Lease) checkpointer.LastPutter {
	c.Helper()
	l, ok := lease.(checkpointer.LastPutter)
	if !ok {
		c.Fatalf("the lease %T is no checkpointer.LastPutter", lease)
	}
	return l
}

func putLast(c *check) {
	s := c.saver()
	for i, lock := range []func() checkpointer.Lease{
		func() checkpointer.Lease { return c.lock(s, "t") },
		func() checkpointer.Lease { l, _, _ := c.lockHead(s, thread("t"), checkpointer.Range{}); return l },
	} {
		lease := lock()
		at := thread("t")
		if i > 0 {
			at = c.get(s, at).Ref
		}
		ref, err := c.last(lease).PutLast(c.Context(), at, checkpointer.Step{ID: fmt.Sprint("c", i), Log: appends(fmt.Sprint("m", i))})
		c.ok(err, "last put")
		if ref != (checkpointer.Ref{Thread: "t", ID: fmt.Sprint("c", i)}) {
			c.Errorf("the last put returned %+v", ref)
		}
		c.sees(s, ref, names(0, i+1))
		if lease.Context().Err() == nil {
			c.Errorf("the lease's context goes on after the last put")
		}
		c.release(c.lock(s, "t")) // at once
		c.release(lease)
		second := c.lock(s, "t")
		c.release(lease) // not the other's
		if second.Context().Err() != nil {
			c.Errorf("a lease ended with the release of one that was given back")
		}
		_, err = c.last(lease).PutLast(c.Context(), ref, checkpointer.Step{ID: "late"})
		c.is(err, checkpointer.ErrFenced, "a last put after another has the lease")
		c.release(second)
	}
}

func putLastFails(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "a")
	newest := c.chain(s, at, "b")
	lease := c.lock(s, "t")
	_, err := c.last(lease).PutLast(c.Context(), at, checkpointer.Step{ID: "x"})
	c.is(err, checkpointer.ErrConflict, "a last put after an older checkpoint")
	_, err = c.last(lease).PutLast(c.Context(), newest, checkpointer.Step{Log: []checkpointer.Entry{{Op: "merge"}}})
	c.is(err, checkpointer.ErrInvalid, "a last put with an unknown op")
	_, err = c.last(lease).PutLast(c.Context(), thread("other"), checkpointer.Step{})
	c.is(err, checkpointer.ErrInvalid, "a last put to another thread")
	if lease.Context().Err() != nil {
		c.Errorf("the lease ended with a put that failed")
	}
	if _, err := s.Put(lease.Context(), newest, checkpointer.Step{ID: "c"}); err != nil {
		c.Errorf("put under the lease after a last put that failed: %v", err)
	}
	c.release(lease)
}

func fencesExact(c *check) {
	s := c.saver()
	tokens := []int64{1 << 53, 1<<53 + 1, 1e17 + 1, 1e17 + 2, math.MaxInt64 - 1, math.MaxInt64}
	at := thread("t")
	for i, token := range tokens {
		var err error
		at, err = s.Put(checkpointer.WithFence(c.Context(), "t", token), at, checkpointer.Step{ID: fmt.Sprint(token)})
		c.ok(err, "put with the token %d", token)
		_, err = s.Put(checkpointer.WithFence(c.Context(), "t", token-1), at, checkpointer.Step{ID: "x"})
		c.is(err, checkpointer.ErrFenced, "put with the token %d after %d", token-1, token)
		if i > 0 {
			c.is(s.PutWrites(checkpointer.WithFence(c.Context(), "t", tokens[i-1]), at, task("task"), nil), checkpointer.ErrFenced, "writes with an older token")
		}
	}
	_, err := s.Put(checkpointer.WithFence(c.Context(), "negative", -5), thread("negative"), checkpointer.Step{ID: "a"})
	c.is(err, checkpointer.ErrFenced, "put with a negative token")
}

// fencesApart: no thread is fenced by what another has seen, also not when that one is
// gone.
func fencesApart(c *check) {
	s := c.saver()
	for i, name := range strings.Fields("a b c") {
		token := int64(1000 - i)
		_, err := s.Put(checkpointer.WithFence(c.Context(), name, token), thread(name), checkpointer.Step{})
		c.ok(err, "put to %q with the token %d", name, token)
		c.ok(s.DeleteThread(checkpointer.WithFence(c.Context(), name, token), name), "delete of %q", name)
		_, err = s.Put(checkpointer.WithFence(c.Context(), name, token-1), thread(name), checkpointer.Step{})
		c.is(err, checkpointer.ErrFenced, "put to the deleted %q with an older token", name)
	}
}

// successRaises: a call with a newer token that had nothing to do makes it the fence.
func successRaises(c *check) {
	s := c.saver()
	with := func(token int64) context.Context { return checkpointer.WithFence(c.Context(), "t", token) }
	at, err := s.Put(with(1), thread("t"), checkpointer.Step{ID: "a"})
	c.ok(err, "put")
	token := int64(1)
	calls := map[string]func(ctx context.Context) error{
		"a repeated put": func(ctx context.Context) error {
			_, err := s.Put(ctx, thread("t"), checkpointer.Step{ID: "a"})
			return err
		},
		"no writes": func(ctx context.Context) error { return s.PutWrites(ctx, at, task("task"), nil) },
	}
	if a, ok := s.(checkpointer.Pruner); ok {
		calls["a prune that removes nothing"] = func(ctx context.Context) error {
			_, err := a.Prune(ctx, "t", checkpointer.Retention{Keep: 1})
			return err
		}
	}
	if a, ok := s.(checkpointer.Compacter); ok {
		calls["a compaction with nothing to do"] = func(ctx context.Context) error {
			_, err := a.Compact(ctx, at, message("s"), 1)
			return err
		}
	}
	for name, call := range calls {
		token++
		c.ok(call(with(token)), "%s with a newer token", name)
		c.is(s.DeleteThread(with(token-1), "t"), checkpointer.ErrFenced, "delete with the older token after %s", name)
	}
	c.ok(s.DeleteThread(with(token+1), "t"), "delete")
	c.ok(s.DeleteThread(with(token+2), "t"), "delete of what is gone")
	_, err = s.Put(with(token+1), thread("t"), checkpointer.Step{})
	c.is(err, checkpointer.ErrFenced, "put with the older token after a delete")
}
