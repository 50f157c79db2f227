package checkpointertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/langrooms/langrooms/checkpointer"
)

func versionRules() []rule {
	return []rule{
		{name: "versions", check: versions},
		{name: "versions-of-logs", check: logVersions},
		{name: "base", check: base},
		{name: "base-of-logs", check: baseOfLogs},
		{name: "base-arguments", check: baseArguments},
	}
}

// versioned reports when the channels in force at cp were not last set by the checkpoints
// named in want, "channel=id …", or when the step changed others than changed.
func (c *check) versioned(s checkpointer.Saver, at checkpointer.Ref, want, changed string) {
	c.Helper()
	cp := c.get(s, at)
	seqs := map[string]int64{}
	for _, pair := range strings.Fields(want) {
		name, id, _ := strings.Cut(pair, "=")
		seqs[name] = c.get(s, checkpointer.Ref{Thread: at.Thread, Namespace: at.Namespace, ID: id}).Sequence
	}
	for name, seq := range cp.Versions {
		if seqs[name] != seq || seq == 0 {
			c.Errorf("version of channel %q at %q is %d, want that of %s, %d", name, at.ID, seq, want, seqs[name])
		}
	}
	if len(cp.Versions) != len(seqs) {
		c.Errorf("versions at %q: %v, want those of %s", at.ID, cp.Versions, want)
	}
	if got := strings.Join(cp.Changed, " "); got != changed {
		c.Errorf("changed at %q: [%s], want [%s]", at.ID, got, changed)
	}
}

func versions(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Channels: values("x=1", "y=1", "z=1")})
	c2 := c.put(s, c1, checkpointer.Step{ID: "c2", Channels: values("y=1"), Remove: []string{"z", "never-set"}})
	c3 := c.put(s, c2, checkpointer.Step{ID: "c3", Log: appends("a")})
	c4 := c.put(s, c1, checkpointer.Step{ID: "c4", Channels: values("w=4", "x=4"), Fork: true})
	c.versioned(s, c1, "x=c1 y=c1 z=c1", "x y z")
	c.versioned(s, c2, "x=c1 y=c2", "y z")
	c.versioned(s, c3, "x=c1 y=c2", "")
	c.versioned(s, c4, "w=c4 x=c4 y=c1 z=c1", "w x")
	last := int64(0)
	for _, cp := range slices.Backward(c.list(s, checkpointer.Query{Thread: "t"})) {
		if cp.Sequence <= last {
			c.Errorf("the sequence of %q is %d after %d", cp.Ref.ID, cp.Sequence, last)
		}
		last = cp.Sequence
		if got := c.get(s, cp.Ref); got.Sequence != cp.Sequence || fmt.Sprint(got.Versions, got.Changed) != fmt.Sprint(cp.Versions, cp.Changed) {
			c.Errorf("listed %q has sequence %d, versions %v, changed %v; get has %d, %v, %v",
				cp.Ref.ID, cp.Sequence, cp.Versions, cp.Changed, got.Sequence, got.Versions, got.Changed)
		}
	}
}

// log reports when a log does not stand at length, last changed by the checkpoint id.
func (c *check) log(s checkpointer.Saver, at checkpointer.Ref, name string, length int64, id string) {
	c.Helper()
	want := checkpointer.LogState{Length: length, Version: c.get(s, checkpointer.Ref{Thread: at.Thread, ID: id}).Sequence}
	if got := c.get(s, at).Logs[name]; got != want {
		c.Errorf("log %q at %q is %+v, want %+v", name, at.ID, got, want)
	}
}

func logVersions(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Channels: values("x=1")})
	if n := len(c.get(s, c1).Logs); n != 0 {
		c.Errorf("a checkpoint without messages has %d logs", n)
	}
	c2 := c.put(s, c1, checkpointer.Step{ID: "c2", Log: appends("a b")})
	c3 := c.put(s, c2, checkpointer.Step{ID: "c3"})
	c4 := c.put(s, c3, checkpointer.Step{ID: "c4", Log: []checkpointer.Entry{remove("a")}})
	c5 := c.put(s, c4, checkpointer.Step{ID: "c5", Fork: true, Truncate: ptr(int64(1))})
	c.log(s, c2, checkpointer.LogMessages, 2, "c2")
	c.log(s, c3, checkpointer.LogMessages, 2, "c2")
	c.log(s, c4, checkpointer.LogMessages, 3, "c4")
	c.log(s, c5, checkpointer.LogMessages, 1, "c5")
}

// base goes on from the values of a sibling, as LangGraph's copies do.
func base(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a"), Channels: values("x=1")})
	c2 := c.put(s, c1, checkpointer.Step{ID: "c2", Log: appends("b"), Channels: values("x=2", "y=2")})
	c3 := c.put(s, c2, checkpointer.Step{ID: "c3", Log: appends("c"), Channels: values("x=3")})
	copied := c.put(s, c1, checkpointer.Step{ID: "copy", Base: "c2", Fork: true, Channels: values("z=4"), Remove: []string{"y"}})
	if cp := c.get(s, copied); cp.Parent != "c1" || cp.Length != 2 {
		c.Errorf("the copy has parent %q and length %d", cp.Parent, cp.Length)
	}
	c.sees(s, copied, "a b")
	c.channels(c.get(s, copied), "x=2 z=4")
	c.versioned(s, copied, "x=c2 z=copy", "y z")
	next := c.put(s, copied, checkpointer.Step{ID: "next", Log: append(appends("n"), replace("a", "A"))})
	c.sees(s, next, "A b n")
	c.sees(s, c3, "a b c")
	// An ordinary put after the newest may take its values from an older one, or from another branch.
	back := c.put(s, next, checkpointer.Step{ID: "back", Base: "c1", Log: appends("d")})
	c.sees(s, back, "a d")
	c.channels(c.get(s, back), "x=1")
	cut := c.put(s, back, checkpointer.Step{ID: "cut", Base: "c3", Fork: true, Truncate: ptr(int64(1)), Log: appends("e")})
	c.sees(s, cut, "a e")
	c.channels(c.get(s, cut), "x=3 y=2")
	c.lists(s, checkpointer.Query{Thread: "t"}, "cut back next copy c3 c2 c1")
}

func baseOfLogs(c *check) {
	s := c.saver()
	if _, ok := s.(checkpointer.Logger); !ok {
		return
	}
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Logs: logs("l", entries("a"))})
	c2 := c.put(s, c1, checkpointer.Step{ID: "c2", Logs: logs("l", entries("b"))})
	copied := c.put(s, c2, checkpointer.Step{ID: "copy", Base: "c1", Logs: logs("l", entries("x"))})
	c.holds(s, copied, "l", "a x")
	c.holds(s, c2, "l", "a b")
}

func baseArguments(c *check) {
	s := c.saver()
	c1 := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Channels: values("x=1")})
	c.put(s, checkpointer.Ref{Thread: "t", Namespace: "n"}, checkpointer.Step{ID: "other"})
	for _, id := range []string{"none", "other"} {
		_, err := s.Put(c.Context(), c1, checkpointer.Step{ID: "c2", Base: id})
		c.is(err, checkpointer.ErrNotFound, "put with the unknown base %q", id)
	}
	for name, id := range badIDs() {
		_, err := s.Put(c.Context(), c1, checkpointer.Step{ID: "c2", Base: id})
		c.is(err, checkpointer.ErrInvalid, "put with %s base", name)
	}
	c2 := c.put(s, c1, checkpointer.Step{ID: "c2", Channels: values("x=2")})
	step := checkpointer.Step{ID: "c3", Base: "c1"}
	c3 := c.put(s, c2, step)
	c.put(s, c2, step)
	step.Base = "c2"
	_, err := s.Put(c.Context(), c2, step)
	c.is(err, checkpointer.ErrConflict, "put of the same id with another base")
	_, err = s.Put(c.Context(), c2, checkpointer.Step{ID: "c4", Base: "c3"})
	c.is(err, checkpointer.ErrConflict, "put after an older parent, with a base")
	c.lists(s, checkpointer.Query{Thread: "t", Namespace: ptr("")}, "c3 c2 c1")
	c.channels(c.get(s, c3), "x=1")
}
