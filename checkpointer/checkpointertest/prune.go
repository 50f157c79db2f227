package checkpointertest

import (
	"fmt"
	"strings"

	"github.com/langrooms/langrooms/checkpointer"
)

func pruneRules() []rule {
	return []rule{
		{name: "prune-keeps-newest", needs: Pruner, check: pruneKeepsNewest},
		{name: "prune-keeps-interrupted", needs: Pruner, check: pruneKeepsInterrupted},
		{name: "prune-of-a-run", needs: Pruner, check: pruneRun},
		{name: "prune-branches", needs: Pruner, check: pruneBranches},
		{name: "prune-then-go-on", needs: Pruner, check: pruneGoOn},
		{name: "prune-arguments", needs: Pruner, check: pruneArguments},
	}
}

// prune prunes and reports when another number than want was removed.
func (c *check) prune(s checkpointer.Saver, name string, keep int, runID string, want int) {
	c.Helper()
	removed, err := ability[checkpointer.Pruner](c, s).Prune(c.Context(), name, checkpointer.Retention{Keep: keep, RunID: runID})
	c.ok(err, "prune of %q", name)
	if removed != want {
		c.Errorf("prune of %q to %d removed %d, want %d", name, keep, removed, want)
	}
}

// gone reports when one of the checkpoints named by words is still there.
func (c *check) gone(s checkpointer.Saver, name, ids string) {
	c.Helper()
	for _, id := range strings.Fields(ids) {
		ref := checkpointer.Ref{Thread: name, ID: id}
		_, err := s.Get(c.Context(), ref)
		c.is(err, checkpointer.ErrNotFound, "get of the pruned %q", id)
		_, err = readAll(c.Context(), s, ref, checkpointer.Range{})
		c.is(err, checkpointer.ErrNotFound, "messages of the pruned %q", id)
	}
}

func pruneKeepsNewest(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a"), Channels: values("x=1", "y=1")})
	c2 := c.put(s, c1, checkpointer.Step{ID: "c2", Log: appends("b"), Channels: values("x=2")})
	c3 := c.put(s, c2, checkpointer.Step{ID: "c3", Log: append(appends("c"), replace("a", "A"))})
	sub := c.put(s, checkpointer.Ref{Thread: "t", Namespace: "n"}, checkpointer.Step{ID: "s1"})
	c.put(s, sub, checkpointer.Step{ID: "s2"})
	c.putWrites(s, c3, "task", write("x", "1"))
	c.putWrites(s, c2, "task", write("x", "1"))
	c.chain(s, thread("other"), "a b c")
	before := c.get(s, c3)

	c.prune(s, "t", 2, "", 1)
	c.gone(s, "t", "c1")
	c.prune(s, "t", 1, "", 2)
	c.prune(s, "t", 1, "", 0)
	c.gone(s, "t", "c1 c2")
	c.lists(s, checkpointer.Query{Thread: "t"}, "s2 c3")
	c.sees(s, c3, "A b c")
	cp := c.get(s, c3)
	c.channels(cp, "x=2 y=1")
	c.writes(cp, "task/0/x=1")
	if cp.Parent != before.Parent || cp.Length != before.Length || !cp.Time.Equal(before.Time) {
		c.Errorf("what remains has changed: %+v, was %+v", cp, before)
	}
	c.lists(s, checkpointer.Query{Thread: "other"}, "c b a")
	c.prune(s, "unknown", 1, "", 0)
}

func pruneKeepsInterrupted(c *check) {
	s := c.saver()
	c.chain(s, thread("t"), "a b c d")
	at := func(id string) checkpointer.Ref { return checkpointer.Ref{Thread: "t", ID: id} }
	c.putWrites(s, at("b"), "task", write(checkpointer.ChannelInterrupt, "?"))
	c.putWrites(s, at("a"), "task", write("x", "1"), write(checkpointer.ChannelError, "e"))
	c.prune(s, "t", 1, "", 2)
	c.lists(s, checkpointer.Query{Thread: "t"}, "d b")
	c.sees(s, at("b"), "a b")
	c.writes(c.get(s, at("b")), "task/-3/__interrupt__=?")
	c.sees(s, thread("t"), "a b c d")
}

// pruneRun: a run's checkpoints go, but never one of the namespace's newest.
func pruneRun(c *check) {
	s := c.saver()
	at := thread("t")
	for i, run := range strings.Fields("r1 r1 r2 r1 r2 r1") {
		at = c.put(s, at, checkpointer.Step{ID: fmt.Sprintf("c%d", i), Log: appends(fmt.Sprintf("m%d", i)), Metadata: checkpointer.Metadata{"run_id": run}})
	}
	c.prune(s, "t", 1, "r3", 0)
	c.prune(s, "t", 1, "r2", 2)
	c.lists(s, checkpointer.Query{Thread: "t"}, "c5 c3 c1 c0")
	c.prune(s, "t", 2, "r1", 2)
	c.lists(s, checkpointer.Query{Thread: "t"}, "c5 c3")
	c.sees(s, at, names(0, 6))
	c.sees(s, checkpointer.Ref{Thread: "t", ID: "c3"}, names(0, 4))
}

func pruneBranches(c *check) {
	s := c.saver()
	a := c.chain(s, thread("t"), "a")
	c.chain(s, a, "lost1 lost2")
	b := c.put(s, a, checkpointer.Step{ID: "b", Log: append(appends("b"), replace("a", "A")), Fork: true})
	c.chain(s, b, "lost3")
	d := c.put(s, b, checkpointer.Step{ID: "d", Log: appends("d"), Fork: true, Truncate: ptr(int64(2))})
	c.prune(s, "t", 1, "", 5)
	c.sees(s, d, "A b d")
	c.gone(s, "t", "a lost1 lost2 b lost3")
	c.sees(s, c.chain(s, d, "e"), "A b d e")
}

func pruneGoOn(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "a b c")
	c.prune(s, "t", 1, "", 2)
	at = c.chain(s, at, "d e")
	c.sees(s, at, "a b c d e")
	back := c.put(s, checkpointer.Ref{Thread: "t", ID: "c"}, checkpointer.Step{ID: "f", Log: appends("f"), Fork: true})
	c.sees(s, back, "a b c f")
	c.prune(s, "t", 1, "", 3)
	c.sees(s, back, "a b c f")
	c.sees(s, c.chain(s, back, "g"), "a b c f g")
	_, err := s.Put(c.Context(), checkpointer.Ref{Thread: "t", ID: "a"}, checkpointer.Step{Fork: true})
	c.is(err, checkpointer.ErrNotFound, "fork after a pruned checkpoint")
	again := c.put(s, thread("t"), checkpointer.Step{ID: "a", Log: appends("other"), Fork: true})
	c.sees(s, again, "other")
	c.writes(c.get(s, again), "")
}

func pruneArguments(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "a b")
	a := ability[checkpointer.Pruner](c, s)
	for _, keep := range []int{0, -1} {
		_, err := a.Prune(c.Context(), "t", checkpointer.Retention{Keep: keep})
		c.is(err, checkpointer.ErrInvalid, "prune to %d", keep)
	}
	_, err := a.Prune(c.Context(), "", checkpointer.Retention{Keep: 1})
	c.is(err, checkpointer.ErrInvalid, "prune of an empty thread")
	c.sees(s, at, "a b")
	c.lists(s, checkpointer.Query{Thread: "t"}, "b a")
}
