package checkpointertest

import (
	"context"
	"sync"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

func watchRules() []rule {
	return []rule{
		{name: "watch-sees-changes", needs: Watcher, check: watchSees},
		{name: "watch-ends-with-context", needs: Watcher, check: watchEnds},
	}
}

// watchSees lets one goroutine watch while puts, writes and a delete are made, each
// repeated until it is noticed: a watcher does not say when it has begun.
func watchSees(c *check) {
	s := c.saver()
	watcher := ability[checkpointer.Watcher](c, s)
	ctx, cancel := context.WithCancel(c.Context())
	changes := make(chan checkpointer.Change, 1000)
	var wg sync.WaitGroup
	wg.Go(func() {
		for change, err := range watcher.Watch(ctx, "t") {
			if err != nil {
				c.Errorf("watch: %v", err)
				return
			}
			changes <- change
		}
	})
	defer wg.Wait()
	defer cancel()
	noticed := func(what string, is func(checkpointer.Change) bool, do func()) {
		c.Helper()
		deadline := time.Now().Add(c.patience)
		for time.Now().Before(deadline) {
			do()
			select {
			case change := <-changes:
				if change.Thread != "t" {
					c.Errorf("the watcher of t was told of %q", change.Thread)
				}
				if is(change) {
					return
				}
			case <-time.After(500 * time.Millisecond):
			}
		}
		c.Errorf("the watcher was not told of %s", what)
	}
	alive := func(change checkpointer.Change) bool { return !change.Deleted }
	at := thread("t")
	put := func() { at = c.put(s, at, checkpointer.Step{}) }
	noticed("the first put", alive, put)
	noticed("a later put", alive, put)
	noticed("pending writes", alive, func() { c.putWrites(s, at, "task", write(checkpointer.ChannelResume, "x")) })
	c.chain(s, thread("other"), "a")
	noticed("the delete", func(change checkpointer.Change) bool { return change.Deleted }, func() {
		c.put(s, c.newest(s, "t"), checkpointer.Step{})
		c.ok(s.DeleteThread(c.Context(), "t"), "delete")
	})
}

// newest is the ref to put after.
func (c *check) newest(s checkpointer.Saver, name string) checkpointer.Ref {
	c.Helper()
	if c.missing(s, thread(name)) {
		return thread(name)
	}
	return c.get(s, thread(name)).Ref
}

func watchEnds(c *check) {
	s := c.saver()
	c.chain(s, thread("t"), "a")
	watcher := ability[checkpointer.Watcher](c, s)
	ctx, cancel := context.WithCancel(c.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, err := range watcher.Watch(ctx, "t") {
			if err != nil {
				c.Errorf("a watch that is ended by its context yielded %v", err)
			}
		}
	}()
	pause(c)
	cancel()
	select {
	case <-done:
	case <-time.After(c.patience):
		c.Errorf("the watch did not end with its context")
	}
	for _, err := range watcher.Watch(c.Context(), "") {
		c.is(err, checkpointer.ErrInvalid, "watch of an empty thread")
		break
	}
}
