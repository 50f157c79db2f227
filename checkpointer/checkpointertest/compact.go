package checkpointertest

import (
	"slices"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

func compactRules() []rule {
	return []rule{
		{name: "compact", needs: Compacter, check: compactRule},
		{name: "compact-keeps-what-was-changed", needs: Compacter, check: compactChanged},
		{name: "compact-nothing-to-do", needs: Compacter, check: compactNothing},
		{name: "compact-errors", needs: Compacter, check: compactErrors},
	}
}

func (c *check) compact(s checkpointer.Saver, at checkpointer.Ref, summary langrooms.Message, keep int) checkpointer.Ref {
	c.Helper()
	ref, err := ability[checkpointer.Compacter](c, s).Compact(c.Context(), at, summary, keep)
	c.ok(err, "compact of %+v to %d", at, keep)
	return ref
}

func compactRule(c *check) {
	s := c.saver()
	at := c.put(s, twenty(c, s), checkpointer.Step{Channels: values("x=1")})
	want := c.read(s, at, checkpointer.Range{From: 15})
	summary := rich()[4]
	ref := c.compact(s, at, summary, 5)
	got := c.read(s, ref, checkpointer.Range{})
	if stored(got...) != stored(append([]langrooms.Message{summary}, want...)...) {
		c.Errorf("after the compaction: %s", stored(got...))
	}
	if !slices.Equal(seqs(got), []int64{14, 15, 16, 17, 18, 19}) {
		c.Errorf("positions after the compaction: %v", seqs(got))
	}
	cp := c.get(s, ref)
	c.channels(cp, "x=1")
	if cp.Parent != at.ID || cp.Length != 20 || c.get(s, thread("t")).Ref != ref {
		c.Errorf("the compacted checkpoint: %+v", cp)
	}
	c.reads(s, ref, checkpointer.Range{Backward: true, Limit: checkpointer.N(2)}, "m19 m18")
	c.reads(s, ref, checkpointer.Range{From: 17}, names(17, 20))
	c.sees(s, at, names(0, 20))
	next := c.put(s, ref, checkpointer.Step{Log: append(appends("n"), replace("m16", "M16"), remove("m17"))})
	c.sees(s, next, "sum m15 M16 m18 m19 n")
	if got := c.read(s, next, checkpointer.Range{From: 20}); len(got) != 1 || got[0].Seq != 20 {
		c.Errorf("the message put after the compaction: %v", seqs(got))
	}
	again := c.compact(s, next, said("sum2", "sum2"), 2)
	c.sees(s, again, "sum2 m19 n")
	none := c.compact(s, again, said("sum3", "sum3"), 0)
	c.sees(s, none, "sum3")
	c.sees(s, c.chain(s, none, "z"), "sum3 z")
	c.sees(s, c.put(s, at, checkpointer.Step{Log: appends("b"), Fork: true}), names(0, 20)+" b")
	if a, ok := s.(checkpointer.Pruner); ok {
		newest := c.compact(s, thread("t"), said("sum4", "sum4"), 2)
		_, err := a.Prune(c.Context(), "t", checkpointer.Retention{Keep: 1})
		c.ok(err, "prune after the compaction")
		c.sees(s, newest, "sum4 m19 b")
		c.sees(s, c.chain(s, newest, "end"), "sum4 m19 b end")
	}
}

func compactChanged(c *check) {
	s := c.saver()
	at := eventful(c, s) // A c f
	ref := c.compact(s, at, said("s", "s"), 2)
	c.sees(s, ref, "s c f")
	c.channels(c.get(s, ref), "x=1")
	c.sees(s, at, "A c f")
	at = c.put(s, thread("u"), checkpointer.Step{Log: append(appends("a b c"), replace("b", "B"), remove("a"))})
	ref = c.compact(s, at, said("s", "s"), 1)
	c.sees(s, ref, "s c")
	ref = c.compact(s, c.put(s, thread("v"), checkpointer.Step{Log: append(appends("a b c"), replace("c", "C"), replace("b", "B"))}), said("s", "s"), 2)
	c.sees(s, ref, "s B C")
	c.sees(s, c.put(s, ref, checkpointer.Step{Log: []checkpointer.Entry{replace("b", "BB"), remove("s")}}), "BB C")
}

func compactNothing(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "a b")
	for _, keep := range []int{2, 3, 100} {
		if ref := c.compact(s, at, message("s"), keep); ref != at {
			c.Errorf("compact of two messages to %d returned %+v", keep, ref)
		}
	}
	if ref := c.compact(s, thread("t"), message("s"), 2); ref != at {
		c.Errorf("compact of the newest with nothing to do returned %+v", ref)
	}
	empty := c.put(s, thread("u"), checkpointer.Step{})
	if ref := c.compact(s, empty, message("s"), 0); ref != empty {
		c.Errorf("compact of no messages returned %+v", ref)
	}
	c.lists(s, checkpointer.Query{Thread: "t"}, "b a")
}

func compactErrors(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "a b")
	a := ability[checkpointer.Compacter](c, s)
	older := checkpointer.Ref{Thread: "t", ID: "a"}
	_, err := a.Compact(c.Context(), older, message("s"), 0)
	c.is(err, checkpointer.ErrConflict, "compact of a checkpoint that is not the newest")
	_, err = a.Compact(c.Context(), thread("u"), message("s"), 0)
	c.is(err, checkpointer.ErrNotFound, "compact of an unknown thread")
	_, err = a.Compact(c.Context(), at, message("s"), -1)
	c.is(err, checkpointer.ErrInvalid, "compact to a negative number")
	_, err = a.Compact(c.Context(), at, langrooms.Message{}, 1)
	c.is(err, checkpointer.ErrInvalid, "compact with a summary without an id")
	c.lists(s, checkpointer.Query{Thread: "t"}, "b a")
}
