package checkpointertest

import (
	"errors"
	"fmt"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

func expireRules() []rule {
	return []rule{
		{name: "expiry-takes-the-whole-thread", needs: Expirer, check: expiryWhole},
		{name: "expiry-counts-from-the-last-put", needs: Expirer, check: expiryLastPut},
		{name: "ttl-zero-pins", needs: Expirer, check: ttlZero},
		{name: "ttl-errors", needs: Expirer, check: ttlErrors},
	}
}

// eventually asks cond every few milliseconds until it holds, and reports when it never does.
func (c *check) eventually(what string, cond func() bool) {
	c.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(c.patience); !cond(); <-tick.C {
		if time.Now().After(deadline) {
			c.Fatalf("%s did not happen within %v", what, c.patience)
		}
	}
}

func (c *check) setTTL(s checkpointer.Saver, name string, ttl time.Duration) {
	c.Helper()
	c.ok(ability[checkpointer.Expirer](c, s).SetTTL(c.Context(), name, ttl), "set TTL of %q", name)
}

func (c *check) missing(s checkpointer.Saver, ref checkpointer.Ref) bool {
	c.Helper()
	_, err := s.Get(c.Context(), ref)
	if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
		c.Fatalf("get of %+v: %v", ref, err)
	}
	return err != nil
}

func expiryWhole(c *check) {
	s := c.saver()
	first := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a"), Channels: values("x=1")})
	c.chain(s, first, "c2")
	c.put(s, checkpointer.Ref{Thread: "t", Namespace: "n"}, checkpointer.Step{ID: "n1"})
	c.putWrites(s, first, "task", write("x", "1"))
	c.putWrites(s, checkpointer.Ref{Thread: "t", ID: "later"}, "task", write("x", "1"))
	c.chain(s, thread("stays"), "a")
	c.setTTL(s, "t", 200*time.Millisecond)
	c.eventually("the expiry of the thread", func() bool {
		gone := c.missing(s, first)
		if gone {
			// What is gone is gone with everything, at the same moment.
			for _, ref := range []checkpointer.Ref{thread("t"), {Thread: "t", ID: "c2"}, {Thread: "t", Namespace: "n"}} {
				if !c.missing(s, ref) {
					c.Errorf("%+v outlived its thread", ref)
				}
			}
			c.lists(s, checkpointer.Query{Thread: "t"}, "")
		}
		return gone
	})
	if a, ok := s.(checkpointer.Lister); ok {
		all, err := threads(c.Context(), a)
		c.ok(err, "threads")
		if len(all) != 1 || all[0].Thread != "stays" {
			c.Errorf("threads after the expiry: %v", all)
		}
	}
	c.put(s, thread("t"), checkpointer.Step{ID: "later", Log: appends("new")})
	cp := c.get(s, thread("t"))
	c.channels(cp, "")
	c.writes(cp, "")
	c.sees(s, thread("t"), "new")
	c.sees(s, thread("stays"), "a")
}

// patiently judges with ever longer TTLs, until the machine has not stood still for as long.
func (c *check) patiently(ttl time.Duration, judge func(at checkpointer.Ref, ttl time.Duration) bool) {
	c.Helper()
	for try := range 5 {
		if judge(thread(fmt.Sprint("t", try)), ttl) {
			return
		}
		ttl *= 2
	}
	c.Fatalf("the machine stands still too long to judge")
}

func expiryLastPut(c *check) {
	s := c.saver()
	c.patiently(time.Second, func(at checkpointer.Ref, ttl time.Duration) bool {
		last := time.Now() // before the last put: the thread lives at least until last + ttl
		at = c.chain(s, at, "a")
		c.setTTL(s, at.Thread, ttl)
		for began := time.Now(); time.Since(began) < ttl+ttl/2; pause(c) {
			before := time.Now()
			next, err := s.Put(c.Context(), at, checkpointer.Step{})
			if err != nil && time.Since(last) >= ttl {
				return false
			}
			c.ok(err, "put %v after the one before, with a TTL of %v", time.Since(last), ttl)
			at, last = next, before
		}
		c.eventually("the expiry of the thread", func() bool { return c.missing(s, at) })
		if lived := time.Since(last); lived < ttl/2 {
			c.Errorf("the thread ended %v after its last put, its TTL is %v", lived, ttl)
		}
		return true
	})
}

func ttlZero(c *check) {
	s := c.saver()
	c.patiently(300*time.Millisecond, func(at checkpointer.Ref, ttl time.Duration) bool {
		began := time.Now()
		at = c.chain(s, at, "a")
		c.setTTL(s, at.Thread, ttl)
		err := ability[checkpointer.Expirer](c, s).SetTTL(c.Context(), at.Thread, 0)
		if err != nil && time.Since(began) >= ttl {
			return false
		}
		c.ok(err, "set TTL of %q", at.Thread)
		c.chain(s, thread("u"), "a")
		c.setTTL(s, "u", ttl+ttl/3)
		c.eventually("the expiry of the other thread", func() bool { return c.missing(s, thread("u")) })
		c.sees(s, at, "a")
		return true
	})
}

func ttlErrors(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "a")
	a := ability[checkpointer.Expirer](c, s)
	c.is(a.SetTTL(c.Context(), "none", time.Hour), checkpointer.ErrNotFound, "TTL of an unknown thread")
	c.putWrites(s, checkpointer.Ref{Thread: "w", ID: "c"}, "task", write("x", "1"))
	c.is(a.SetTTL(c.Context(), "w", time.Hour), checkpointer.ErrNotFound, "TTL of a thread with pending writes only")
	c.is(a.SetTTL(c.Context(), "t", -1), checkpointer.ErrInvalid, "a negative TTL")
	c.is(a.SetTTL(c.Context(), "", time.Hour), checkpointer.ErrInvalid, "TTL of an empty thread")
	c.sees(s, at, "a")
}
