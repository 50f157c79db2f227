package checkpointertest

import (
	"fmt"
	"slices"

	"github.com/langrooms/langrooms/checkpointer"
)

func branchRules() []rule {
	return []rule{
		{name: "fork-hides-abandoned-branch", check: forkHides},
		{name: "fork-of-fork", check: forkOfFork},
		{name: "fork-from-nothing", check: forkFromNothing},
		{name: "fork-changes-stay-in-branch", check: forkChanges},
		{name: "truncate", check: truncate},
		{name: "truncate-keeps-changes", check: truncateKeepsChanges},
	}
}

func forkHides(c *check) {
	s := c.saver()
	c1 := c.chain(s, thread("t"), "a")
	c3 := c.chain(s, c1, "b c")
	branch := c.put(s, c1, checkpointer.Step{ID: "x", Log: appends("x"), Fork: true})
	c.sees(s, branch, "a x")
	c.sees(s, c3, "a b c")
	c.sees(s, thread("t"), "a x")
	if got := seqs(c.read(s, branch, checkpointer.Range{})); !slices.Equal(got, []int64{0, 1}) {
		c.Errorf("positions on the branch: %v, want [0 1]", got)
	}
	if cp := c.get(s, branch); cp.Parent != "a" || cp.Length != 2 {
		c.Errorf("the branch's checkpoint: %+v", cp)
	}
	y := c.chain(s, branch, "y")
	c.sees(s, y, "a x y")
	// The abandoned branch can be taken up again, and the new one does not see it.
	d := c.put(s, c3, checkpointer.Step{ID: "d", Log: appends("d"), Fork: true})
	c.sees(s, d, "a b c d")
	c.sees(s, y, "a x y")
	// Asking for a fork where none is needed is an ordinary put.
	e := c.put(s, d, checkpointer.Step{ID: "e", Log: appends("e"), Fork: true})
	c.sees(s, e, "a b c d e")
	c.lists(s, checkpointer.Query{Thread: "t"}, "e d y x c b a")
}

func forkOfFork(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "m0")
	want := "m0"
	for i := 1; i < 12; i++ {
		c.put(s, at, checkpointer.Step{Log: appends(fmt.Sprintf("lost%d other%d", i, i)), Fork: true})
		at = c.put(s, at, checkpointer.Step{Log: appends(fmt.Sprintf("m%d", i)), Fork: true})
		want += fmt.Sprintf(" m%d", i)
		c.sees(s, at, want)
	}
	c.reads(s, at, checkpointer.Range{From: 3, To: 9}, names(3, 9))
	c.reads(s, at, checkpointer.Range{From: 3, To: 9, Backward: true, Limit: checkpointer.N(4)}, names(9, 5))
	c.reads(s, at, checkpointer.Range{From: 2, Limit: checkpointer.N(3)}, names(2, 5))
}

func forkFromNothing(c *check) {
	s := c.saver()
	c.put(s, thread("t"), checkpointer.Step{ID: "a", Log: appends("a"), Channels: values("x=1")})
	root := c.put(s, thread("t"), checkpointer.Step{ID: "b", Log: appends("b"), Fork: true})
	c.sees(s, root, "b")
	cp := c.get(s, root)
	c.channels(cp, "")
	if cp.Parent != "" || cp.Length != 1 {
		c.Errorf("the second root: %+v", cp)
	}
}

func forkChanges(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{Log: appends("a b c")})
	c2 := c.put(s, c1, checkpointer.Step{Log: []checkpointer.Entry{replace("a", "A"), remove("c")}})
	branch := c.put(s, c1, checkpointer.Step{Log: append(appends("d"), remove("b"), replace("c", "C")), Fork: true})
	c.sees(s, c1, "a b c")
	c.sees(s, c2, "A b")
	c.sees(s, branch, "a C d")
	c.reads(s, branch, checkpointer.Range{From: 1, To: 3}, "C")
	cleared := c.put(s, c2, checkpointer.Step{Log: append([]checkpointer.Entry{reset()}, appends("n")...), Fork: true})
	c.sees(s, cleared, "n")
	c.sees(s, c2, "A b")
}

// truncated forks after at with only the messages before position seq and appends "new".
func truncated(c *check, s checkpointer.Saver, at checkpointer.Ref, seq int64) checkpointer.Ref {
	c.Helper()
	ref := c.put(s, at, checkpointer.Step{Log: appends("new"), Fork: true, Truncate: &seq})
	newest := c.read(s, ref, checkpointer.Range{Backward: true})
	for i := 1; i < len(newest); i++ {
		if newest[i-1].Seq <= newest[i].Seq {
			c.Errorf("after the truncation at %d the positions are not ascending: %v", seq, seqs(newest))
		}
	}
	if cp := c.get(s, ref); len(newest) > 0 && cp.Length != newest[0].Seq+1 {
		c.Errorf("after the truncation at %d the length is %d with the newest message at %d", seq, cp.Length, newest[0].Seq)
	}
	return ref
}

func truncate(c *check) {
	s := c.saver()
	at := twenty(c, s)
	for _, n := range []int{19, 10, 1, 0} {
		ref := truncated(c, s, at, int64(n))
		c.sees(s, ref, names(0, n)+" new")
		next := c.chain(s, ref, fmt.Sprintf("next%d", n))
		c.sees(s, next, names(0, n)+fmt.Sprintf(" new next%d", n))
		if n == 10 {
			again := truncated(c, s, next, 4)
			c.sees(s, again, names(0, 4)+" new")
		}
	}
	c.sees(s, truncated(c, s, at, 20), names(0, 20)+" new")
	c.sees(s, truncated(c, s, at, 1000), names(0, 20)+" new")
	c.sees(s, at, names(0, 20))
}

// truncateKeepsChanges: what was replaced or removed before the branch stays so, also
// when that happened at a position that was cut off.
func truncateKeepsChanges(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{Log: append(appends("a b c d"), replace("a", "A"), remove("b"))})
	c.sees(s, truncated(c, s, at, 3), "A c new")
	c.sees(s, truncated(c, s, at, 2), "A new")
	after := c.put(s, truncated(c, s, at, 3), checkpointer.Step{Log: []checkpointer.Entry{remove("A"), remove("a"), replace("c", "C")}})
	c.sees(s, after, "C new")
	cleared := c.put(s, at, checkpointer.Step{Log: append([]checkpointer.Entry{reset()}, appends("e f")...), Fork: true})
	c.sees(s, truncated(c, s, cleared, 2), "new")
	c.sees(s, truncated(c, s, cleared, 8), "e new")
	c.sees(s, at, "A c d")
}
