package checkpointertest

import (
	"context"
	"encoding/json"
	"iter"
	"sync"

	"github.com/langrooms/langrooms/checkpointer"
)

type jsonText = json.RawMessage

func endRules() []rule {
	return []rule{
		{name: "cancelled-context", check: cancelledContext},
		{name: "cancel-while-reading", check: cancelWhileReading},
		{name: "closed-saver", check: closedSaver},
		{name: "close-is-idempotent", check: closeIdempotent},
	}
}

// oneError reports when seq does not yield exactly one error, target, and nothing else.
func (c *check) oneError(seq iter.Seq2[checkpointer.Checkpoint, error], target error, what string) {
	c.Helper()
	yields := 0
	for _, err := range seq {
		yields++
		c.is(err, target, "%s", what)
	}
	if yields != 1 {
		c.Errorf("%s yielded %d times, want one error", what, yields)
	}
}

// everyCall makes each call of the port once and reports when its error is not target.
func everyCall(ctx context.Context, c *check, s checkpointer.Saver, target error) {
	c.Helper()
	_, err := s.Put(ctx, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a")})
	c.is(err, target, "put")
	c.is(s.PutWrites(ctx, checkpointer.Ref{Thread: "t", ID: "c1"}, task("task"), []checkpointer.Write{write("x", "1")}), target, "writes")
	_, err = s.Get(ctx, thread("t"))
	c.is(err, target, "get")
	c.oneError(s.List(ctx, checkpointer.Query{Thread: "t"}), target, "list")
	_, err = readAll(ctx, s, thread("t"), checkpointer.Range{})
	c.is(err, target, "messages")
	c.is(s.DeleteThread(ctx, "t"), target, "delete")
	everyAbility(ctx, c, s, target)
}

func everyAbility(ctx context.Context, c *check, s checkpointer.Saver, target error) {
	c.Helper()
	if a, ok := s.(checkpointer.Locker); ok {
		_, err := a.Lock(ctx, "t")
		c.is(err, target, "lock")
	}
	if a, ok := s.(checkpointer.Lister); ok {
		_, err := threads(ctx, a)
		c.is(err, target, "threads")
	}
	if a, ok := s.(checkpointer.Forker); ok {
		_, err := a.Fork(ctx, thread("t"), nil, "u")
		c.is(err, target, "fork")
	}
	if a, ok := s.(checkpointer.Pruner); ok {
		_, err := a.Prune(ctx, "t", checkpointer.Retention{Keep: 1})
		c.is(err, target, "prune")
	}
	if a, ok := s.(checkpointer.Compacter); ok {
		_, err := a.Compact(ctx, thread("t"), message("s"), 1)
		c.is(err, target, "compact")
	}
	if a, ok := s.(checkpointer.Expirer); ok {
		c.is(a.SetTTL(ctx, "t", 0), target, "set TTL")
	}
	if a, ok := s.(checkpointer.Snapshotter); ok {
		_, _, err := a.Snapshot(ctx, thread("t"), checkpointer.Range{})
		c.is(err, target, "snapshot")
	}
}

func cancelledContext(c *check) {
	s := c.saver()
	ctx, cancel := context.WithCancel(c.Context())
	cancel()
	everyCall(ctx, c, s, context.Canceled)
	c.lists(s, checkpointer.Query{Thread: "t"}, "")
	c.put(s, thread("t"), checkpointer.Step{ID: "c1"})
	c.writes(c.get(s, thread("t")), "")
	everyCall(ctx, c, s, context.Canceled)
	c.lists(s, checkpointer.Query{Thread: "t"}, "c1")
}

// cancelWhileReading ends the context in the middle: the rest may still come, or an error
// does, but a piece is never taken for the whole.
func cancelWhileReading(c *check) {
	s := c.saver()
	c.put(s, thread("t"), checkpointer.Step{Log: appends(names(0, 500))})
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	n := 0
	var failure error
	for _, err := range s.Messages(ctx, thread("t"), checkpointer.Range{}) {
		if failure != nil {
			c.Errorf("something followed the error %v", failure)
		}
		if failure = err; err == nil {
			n++
		}
		cancel()
	}
	if failure != nil {
		c.is(failure, context.Canceled, "messages after %d", n)
	} else if n != 500 {
		c.Errorf("a cancelled reading ended after %d of 500 messages without an error", n)
	}
}

func closedSaver(c *check) {
	s := c.saver()
	c.put(s, thread("t"), checkpointer.Step{ID: "c1"})
	c.ok(s.Close(), "close")
	everyCall(c.Context(), c, s, checkpointer.ErrClosed)
	if w, ok := s.(checkpointer.Watcher); ok {
		for _, err := range w.Watch(c.Context(), "t") {
			c.is(err, checkpointer.ErrClosed, "watch")
			break
		}
	}
}

func closeIdempotent(c *check) {
	s := c.saver()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := s.Close(); err != nil {
				c.Errorf("close: %v", err)
			}
		})
	}
	wg.Wait()
	c.ok(s.Close(), "close after close")
}
