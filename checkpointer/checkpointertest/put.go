package checkpointertest

import (
	"errors"
	"slices"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

func putRules() []rule {
	return []rule{
		{name: "put-then-read", check: putThenRead},
		{name: "saver-chooses-id", check: saverChoosesID},
		{name: "newest-by-sequence", check: newestBySequence},
		{name: "conflict", check: conflict},
		{name: "unknown-parent", check: unknownParent},
		{name: "not-found", check: notFound},
		{name: "reads-never-create", check: readsNeverCreate},
		{name: "delete-thread", check: deleteThread},
		{name: "seq-stable", check: seqStable},
	}
}

func putThenRead(c *check) {
	s := c.saver()
	when := time.Date(2020, 2, 3, 4, 5, 6, 789, time.FixedZone("", 3600))
	first := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a b"), Time: when,
		Channels: map[string][]byte{"x": []byte("1")}, Metadata: checkpointer.Metadata{"source": "input", "step": "-1"}})
	second := c.put(s, first, checkpointer.Step{ID: "c2", Log: appends("c")})

	cp := c.get(s, first)
	if cp.Ref != first || cp.Parent != "" || cp.Length != 2 || !cp.Time.Equal(when) {
		c.Errorf("get of the first: %+v", cp)
	}
	if len(cp.Metadata) != 2 || cp.Metadata["source"] != "input" || cp.Metadata["step"] != "-1" {
		c.Errorf("metadata of the first: %v", cp.Metadata)
	}
	c.channels(cp, "x=1")
	cp = c.get(s, thread("t"))
	if cp.Ref != second || cp.Parent != "c1" || cp.Length != 3 || time.Since(cp.Time).Abs() > time.Hour {
		c.Errorf("get of the newest: %+v", cp)
	}
	c.sees(s, first, "a b")
	c.sees(s, second, "a b c")
	c.sees(s, thread("t"), "a b c")
}

func saverChoosesID(c *check) {
	s := c.saver()
	first := c.put(s, thread("t"), checkpointer.Step{Log: appends("a")})
	second := c.put(s, first, checkpointer.Step{Log: appends("a")})
	if first.ID == second.ID {
		c.Errorf("two puts without an id were given the same one, %q", first.ID)
	}
	c.sees(s, second, "a a")
}

// newestBySequence puts ids in odd order under equal and decreasing times.
func newestBySequence(c *check) {
	s := c.saver()
	now := time.Date(2026, 5, 5, 5, 5, 5, 0, time.UTC)
	at := thread("t")
	for i, id := range []string{"m", "z", "a", "0", "zz", "A"} {
		when := now
		if i > 2 {
			when = now.Add(-time.Duration(i) * time.Hour)
		}
		at = c.put(s, at, checkpointer.Step{ID: id, Time: when})
		if cp := c.get(s, thread("t")); cp.Ref.ID != id {
			c.Errorf("newest after the put of %q is %q", id, cp.Ref.ID)
		}
	}
	c.lists(s, checkpointer.Query{Thread: "t"}, "A zz 0 a z m")
}

func conflict(c *check) {
	s := c.saver()
	first := c.chain(s, thread("t"), "a")
	second := c.chain(s, first, "b")
	for name, parent := range map[string]checkpointer.Ref{"an older parent": first, "no parent": thread("t")} {
		_, err := s.Put(c.Context(), parent, checkpointer.Step{ID: "x", Log: appends("x")})
		c.is(err, checkpointer.ErrConflict, "put after %s", name)
	}
	if _, err := s.Get(c.Context(), checkpointer.Ref{Thread: "t", ID: "x"}); !errors.Is(err, checkpointer.ErrNotFound) {
		c.Errorf("a refused put left a checkpoint: %v", err)
	}
	c.sees(s, thread("t"), "a b")
	c.chain(s, second, "c")
	c.sees(s, thread("t"), "a b c")
	other := c.put(s, checkpointer.Ref{Thread: "t", Namespace: "sub"}, checkpointer.Step{ID: "a"})
	if other.Namespace != "sub" {
		c.Errorf("put into another namespace returned %+v", other)
	}
}

func unknownParent(c *check) {
	s := c.saver()
	step := checkpointer.Step{ID: "x", Log: appends("x")}
	_, err := s.Put(c.Context(), checkpointer.Ref{Thread: "t", ID: "none"}, step)
	c.is(err, checkpointer.ErrNotFound, "put after an unknown parent of an unknown thread")
	c.chain(s, thread("t"), "a")
	step.Fork = true
	_, err = s.Put(c.Context(), checkpointer.Ref{Thread: "t", ID: "none"}, step)
	c.is(err, checkpointer.ErrNotFound, "fork after an unknown parent")
	_, err = s.Put(c.Context(), checkpointer.Ref{Thread: "t", Namespace: "sub", ID: "a"}, step)
	c.is(err, checkpointer.ErrNotFound, "fork after a parent of another namespace")
	c.lists(s, checkpointer.Query{Thread: "t"}, "a")
}

func notFound(c *check) {
	s := c.saver()
	c.chain(s, thread("t"), "a")
	for name, ref := range map[string]checkpointer.Ref{
		"an unknown thread":               thread("u"),
		"an unknown checkpoint":           {Thread: "t", ID: "b"},
		"an unknown namespace":            {Thread: "t", Namespace: "n"},
		"an id of another namespace":      {Thread: "t", Namespace: "n", ID: "a"},
		"an unknown thread's known id":    {Thread: "u", ID: "a"},
		"a thread that begins like a one": thread("t2"),
	} {
		_, err := s.Get(c.Context(), ref)
		c.is(err, checkpointer.ErrNotFound, "get of %s", name)
		messages, err := readAll(c.Context(), s, ref, checkpointer.Range{})
		c.is(err, checkpointer.ErrNotFound, "messages of %s", name)
		if len(messages) > 0 {
			c.Errorf("messages of %s were yielded before the error", name)
		}
	}
	c.lists(s, checkpointer.Query{Thread: "u"}, "")
}

func readsNeverCreate(c *check) {
	s := c.saver()
	for range 2 {
		_, err := s.Get(c.Context(), thread("t"))
		c.is(err, checkpointer.ErrNotFound, "get")
		_, err = readAll(c.Context(), s, thread("t"), checkpointer.Range{})
		c.is(err, checkpointer.ErrNotFound, "messages")
		c.lists(s, checkpointer.Query{Thread: "t"}, "")
	}
	c.ok(s.DeleteThread(c.Context(), "t"), "delete of an unknown thread")
	c.noThreads(s)
	first := c.put(s, thread("t"), checkpointer.Step{ID: "a"})
	if cp := c.get(s, first); cp.Parent != "" {
		c.Errorf("the first checkpoint has the parent %q", cp.Parent)
	}
}

func deleteThread(c *check) {
	s := c.saver()
	for _, name := range []string{"t", "tt", "t:", "T"} {
		c.chain(s, thread(name), "a b")
		c.put(s, checkpointer.Ref{Thread: name, Namespace: "n"}, checkpointer.Step{ID: "a",
			Channels: map[string][]byte{"x": []byte("1")}})
		c.putWrites(s, checkpointer.Ref{Thread: name, ID: "b"}, "task", write("x", "1"))
		c.putWrites(s, checkpointer.Ref{Thread: name, ID: "later"}, "task", write("x", "1"))
	}
	c.ok(s.DeleteThread(c.Context(), "t"), "delete")
	for _, ref := range []checkpointer.Ref{thread("t"), {Thread: "t", ID: "a"}, {Thread: "t", Namespace: "n"}} {
		_, err := s.Get(c.Context(), ref)
		c.is(err, checkpointer.ErrNotFound, "get of %+v after the delete", ref)
	}
	c.lists(s, checkpointer.Query{Thread: "t"}, "")
	c.ok(s.DeleteThread(c.Context(), "t"), "second delete")
	for _, name := range []string{"tt", "t:", "T"} {
		c.sees(s, thread(name), "a b")
		c.lists(s, checkpointer.Query{Thread: name}, "a b a")
		c.writes(c.get(s, thread(name)), "task/0/x=1")
	}
	// Nothing of the old thread may shine through in a new one of the same name.
	c.put(s, thread("t"), checkpointer.Step{ID: "later", Log: appends("new")})
	cp := c.get(s, thread("t"))
	c.writes(cp, "")
	c.channels(cp, "")
	c.sees(s, thread("t"), "new")
	if cp.Length != 1 {
		c.Errorf("the new thread's length is %d", cp.Length)
	}
}

// seqStable reads the same positions whatever the range and whatever came later.
func seqStable(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{Log: appends("a b")})
	at = c.put(s, at, checkpointer.Step{Log: []checkpointer.Entry{remove("a")}})
	at = c.put(s, at, checkpointer.Step{Log: append(appends("c"), replace("b", "B"))})
	at = c.put(s, at, checkpointer.Step{Log: appends("d")})
	if got := seqs(c.read(s, at, checkpointer.Range{})); !slices.Equal(got, []int64{1, 3, 5}) {
		c.Errorf("positions forwards: %v, want [1 3 5]", got)
	}
	back := checkpointer.Range{Backward: true, Limit: checkpointer.N(2)}
	if got := seqs(c.read(s, at, back)); !slices.Equal(got, []int64{5, 3}) {
		c.Errorf("positions backwards: %v, want [5 3]", got)
	}
	if cp := c.get(s, at); cp.Length != 6 {
		c.Errorf("length is %d, want 6: every entry takes a position", cp.Length)
	}
}
