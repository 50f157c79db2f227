package checkpointertest

import (
	"slices"

	"github.com/langrooms/langrooms/checkpointer"
)

func forkRules() []rule {
	return []rule{
		{name: "fork-thread", needs: Forker, check: forkThread},
		{name: "fork-thread-up-to", needs: Forker, check: forkUpTo},
		{name: "fork-thread-is-independent", needs: Forker, check: forkIndependent},
		{name: "fork-thread-errors", needs: Forker, check: forkErrors},
	}
}

// eventful puts a history of every kind of entry; it sees "A c f".
func eventful(c *check, s checkpointer.Saver) checkpointer.Ref {
	c.Helper()
	at := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a b c"), Channels: values("x=1", "y=1")})
	at = c.put(s, at, checkpointer.Step{ID: "c2", Log: []checkpointer.Entry{remove("b")}, Remove: []string{"y"}})
	c.put(s, at, checkpointer.Step{ID: "lost", Log: appends("lost"), Channels: values("x=lost")})
	at = c.put(s, at, checkpointer.Step{ID: "c3", Log: append(appends("e f"), replace("a", "A"), remove("e")), Fork: true})
	c.sees(s, at, "A c f")
	return at
}

func forkThread(c *check) {
	s := c.saver()
	at := eventful(c, s)
	c.putWrites(s, at, "task", write("x", "1"))
	want := c.read(s, at, checkpointer.Range{})
	ref, err := ability[checkpointer.Forker](c, s).Fork(c.Context(), thread("t"), nil, "u")
	c.ok(err, "fork")
	if ref.Thread != "u" || ref.ID == "" {
		c.Errorf("fork returned %+v", ref)
	}
	c.sees(s, ref, "A c f")
	got := c.read(s, ref, checkpointer.Range{})
	if stored(got...) != stored(want...) || !slices.Equal(seqs(got), seqs(want)) {
		c.Errorf("the fork's messages are %s at %v", stored(got...), seqs(got))
	}
	cp := c.get(s, ref)
	c.channels(cp, "x=1")
	c.writes(cp, "")
	if cp.Parent != "" || cp.Length <= got[len(got)-1].Seq {
		c.Errorf("the fork's checkpoint: parent %q, length %d", cp.Parent, cp.Length)
	}
	if n := len(c.list(s, checkpointer.Query{Thread: "u"})); n != 1 {
		c.Errorf("the new thread has %d checkpoints", n)
	}
	c.sees(s, c.chain(s, ref, "next"), "A c f next")

	full := c.put(s, thread("rich"), checkpointer.Step{Log: checkpointer.Append(rich()...)})
	ref, err = ability[checkpointer.Forker](c, s).Fork(c.Context(), full, nil, "rich2")
	c.ok(err, "fork")
	if stored(c.read(s, ref, checkpointer.Range{})...) != stored(rich()...) {
		c.Errorf("messages changed on the way to the fork")
	}
}

func forkUpTo(c *check) {
	s := c.saver()
	at := twenty(c, s)
	a := ability[checkpointer.Forker](c, s)
	for upTo, to := range map[int64]string{0: "zero", 1: "one", 7: "seven", 20: "all", 999: "more"} {
		ref, err := a.Fork(c.Context(), at, &upTo, to)
		c.ok(err, "fork up to %d", upTo)
		want := names(0, int(min(upTo, 20)))
		c.sees(s, ref, want)
		next := c.chain(s, ref, "next")
		c.sees(s, next, want+" next")
		got := c.read(s, next, checkpointer.Range{Backward: true})
		for i := 1; i < len(got); i++ {
			if got[i].Seq >= got[i-1].Seq {
				c.Errorf("positions after the fork up to %d: %v", upTo, seqs(got))
			}
		}
	}
	older := c.put(s, thread("changed"), checkpointer.Step{Log: append(appends("a b c"), replace("a", "A"), remove("b"))})
	ref, err := a.Fork(c.Context(), older, ptr(int64(2)), "changed2")
	c.ok(err, "fork")
	c.sees(s, ref, "A")
}

func forkIndependent(c *check) {
	s := c.saver()
	at := eventful(c, s)
	ref, err := ability[checkpointer.Forker](c, s).Fork(c.Context(), at, nil, "u")
	c.ok(err, "fork")
	c.put(s, ref, checkpointer.Step{Log: append(appends("n"), remove("c"), replace("f", "F")), Channels: values("x=2")})
	c.chain(s, at, "old")
	c.sees(s, thread("t"), "A c f old")
	c.channels(c.get(s, thread("t")), "x=1")
	c.ok(s.DeleteThread(c.Context(), "t"), "delete of the origin")
	c.sees(s, thread("u"), "A F n")
	c.sees(s, ref, "A c f")
	c.channels(c.get(s, ref), "x=1")
	c.channels(c.get(s, thread("u")), "x=2")
}

func forkErrors(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "a b")
	c.chain(s, thread("u"), "x")
	a := ability[checkpointer.Forker](c, s)
	_, err := a.Fork(c.Context(), at, nil, "u")
	c.is(err, checkpointer.ErrConflict, "fork onto a thread that exists")
	_, err = a.Fork(c.Context(), at, nil, "t")
	c.is(err, checkpointer.ErrConflict, "fork onto the thread itself")
	_, err = a.Fork(c.Context(), thread("none"), nil, "v")
	c.is(err, checkpointer.ErrNotFound, "fork of an unknown thread")
	_, err = a.Fork(c.Context(), checkpointer.Ref{Thread: "t", ID: "none"}, nil, "v")
	c.is(err, checkpointer.ErrNotFound, "fork of an unknown checkpoint")
	_, err = a.Fork(c.Context(), at, ptr(int64(-1)), "v")
	c.is(err, checkpointer.ErrInvalid, "fork up to a negative position")
	for name, id := range badIDs() {
		_, err = a.Fork(c.Context(), at, nil, id)
		c.is(err, checkpointer.ErrInvalid, "fork to %s thread", name)
	}
	_, err = a.Fork(c.Context(), at, nil, "")
	c.is(err, checkpointer.ErrInvalid, "fork to an empty thread")
	c.sees(s, thread("u"), "x")
	c.lists(s, checkpointer.Query{Thread: "v"}, "")
}
