package checkpointertest

import (
	"github.com/langrooms/langrooms/checkpointer"
)

func sharedRules() []rule {
	return []rule{
		{name: "shared-persistence", shared: true, check: sharedPersistence},
		{name: "shared-one-winner-a-race", shared: true, check: sharedRace},
		{name: "shared-no-lost-put", shared: true, check: sharedInsist},
		{name: "shared-lock-excludes", shared: true, needs: Locker, check: sharedLock},
		{name: "shared-lock-in-order-of-arrival", shared: true, needs: Locker, check: sharedOrder},
		{name: "shared-close-gives-the-lease-back", shared: true, needs: Locker, check: sharedClose},
		{name: "shared-delete-fences", shared: true, needs: Locker, check: sharedDelete},
	}
}

func (c *check) reopen(s checkpointer.Saver) checkpointer.Saver {
	c.Helper()
	return c.cfg.Reopen(c.TB, s)
}

// sharedPersistence reads through a second handle, and through a third one after the
// first is closed.
func sharedPersistence(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: checkpointer.Append(rich()...), Channels: values("x=1"),
		Metadata: checkpointer.Metadata{"k": "v"}})
	c.putWrites(s, at, "task", write("x", "1"))
	read := func(s checkpointer.Saver) {
		c.Helper()
		cp := c.get(s, at)
		c.channels(cp, "x=1")
		c.writes(cp, "task/0/x=1")
		if cp.Metadata["k"] != "v" || stored(c.read(s, at, checkpointer.Range{})...) != stored(rich()...) {
			c.Errorf("the second handle reads something else: %+v", cp)
		}
	}
	second := c.reopen(s)
	read(second)
	third := c.reopen(s)
	c.ok(s.Close(), "close of the first handle")
	read(third)
	next := c.put(third, at, checkpointer.Step{ID: "c2"})
	if cp := c.get(second, thread("t")); cp.Ref != next {
		c.Errorf("the second handle does not see what the third has put: %+v", cp.Ref)
	}
}

// handles returns the writers of a race: the first handle and three others.
func (c *check) handles() (s checkpointer.Saver, writer func(i int) checkpointer.Saver) {
	c.Helper()
	s = c.saver()
	all := []checkpointer.Saver{s, c.reopen(s), c.reopen(s), c.reopen(s)}
	return s, func(i int) checkpointer.Saver { return all[i%len(all)] }
}

func sharedRace(c *check) {
	s, writer := c.handles()
	race(c, s, writer)
}

func sharedInsist(c *check) {
	s, writer := c.handles()
	insistAll(c, s, writer)
}

func sharedLock(c *check) {
	_, writer := c.handles()
	exclusion(c, writer)
}

func sharedOrder(c *check) {
	_, writer := c.handles()
	order(c, writer)
}

func sharedClose(c *check) {
	s := c.saver()
	second := c.reopen(s)
	c.lock(s, "t")
	c.ok(s.Close(), "close of the holder")
	c.release(c.lock(second, "t"))
}

func sharedDelete(c *check) {
	s := c.saver()
	second := c.reopen(s)
	lease := c.lock(s, "t")
	at, err := s.Put(lease.Context(), thread("t"), checkpointer.Step{ID: "c1"})
	c.ok(err, "put under the lease")
	c.ok(second.DeleteThread(c.Context(), "t"), "delete through the second handle")
	_, err = s.Put(lease.Context(), at, checkpointer.Step{ID: "c2"})
	// The lease may already have ended with that cause.
	if err == nil || !isLost(err, lease) {
		c.Errorf("put of a holder whose thread was deleted elsewhere: %v, want ErrFenced", err)
	}
	c.lists(second, checkpointer.Query{Thread: "t"}, "")
}
