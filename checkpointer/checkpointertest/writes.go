package checkpointertest

import (
	"errors"

	"github.com/langrooms/langrooms/checkpointer"
)

func writeRules() []rule {
	return []rule{
		{name: "writes-before-put", check: writesBeforePut},
		{name: "put-writes-put", check: putWritesPut},
		{name: "ordinary-write-first-wins", check: firstWins},
		{name: "special-write-last-wins", check: lastWins},
		{name: "writes-ordered", check: writesOrdered},
		{name: "list-without-writes", check: listWithoutWrites},
	}
}

func writesBeforePut(c *check) {
	s := c.saver()
	at := checkpointer.Ref{Thread: "t", ID: "c1"}
	c.putWrites(s, at, "task", write("x", "1"), write("y", "2"))
	for _, ref := range []checkpointer.Ref{at, thread("t")} {
		if _, err := s.Get(c.Context(), ref); !errors.Is(err, checkpointer.ErrNotFound) {
			c.Errorf("get of %+v after writes alone: %v, want not found", ref, err)
		}
	}
	c.lists(s, checkpointer.Query{Thread: "t"}, "")
	c.noThreads(s)
	c.put(s, thread("t"), checkpointer.Step{ID: "c1", Channels: values("x=0")})
	cp := c.get(s, at)
	c.writes(cp, "task/0/x=1 task/1/y=2")
	c.channels(cp, "x=0")
	c2 := c.put(s, at, checkpointer.Step{ID: "c2"})
	c.writes(c.get(s, c2), "")
}

func putWritesPut(c *check) {
	s := c.saver()
	c1 := c.chain(s, thread("t"), "c1")
	c.putWrites(s, c1, "task", write("x", "1"))
	c2 := c.chain(s, c1, "c2")
	c.putWrites(s, c1, "other", write("x", "2"))
	c.writes(c.get(s, c1), "other/0/x=2 task/0/x=1")
	c.writes(c.get(s, c2), "")
	c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("c1")}) // a repetition
	c.writes(c.get(s, c1), "other/0/x=2 task/0/x=1")
	same := c.put(s, checkpointer.Ref{Thread: "t", Namespace: "n"}, checkpointer.Step{ID: "c1"})
	c.writes(c.get(s, same), "")
}

func firstWins(c *check) {
	s := c.saver()
	c1 := c.chain(s, thread("t"), "c1")
	c.putWrites(s, c1, "task", write("x", "1"))
	c.putWrites(s, c1, "task", write("z", "9"), write("y", "2"))
	c.writes(c.get(s, c1), "task/0/x=1 task/1/y=2")
	c.putWrites(s, c1, "task2", write("x", "3"))
	c.writes(c.get(s, c1), "task/0/x=1 task/1/y=2 task2/0/x=3")
}

func lastWins(c *check) {
	s := c.saver()
	c1 := c.chain(s, thread("t"), "c1")
	c.putWrites(s, c1, "task", write(checkpointer.ChannelError, "e1"), write("x", "1"),
		write(checkpointer.ChannelScheduled, "s1"), write(checkpointer.ChannelInterrupt, "i1"), write(checkpointer.ChannelResume, "r1"))
	c.putWrites(s, c1, "task", write(checkpointer.ChannelResume, "r2"))
	c.putWrites(s, c1, "task", write(checkpointer.ChannelInterrupt, "i2"), write(checkpointer.ChannelInterrupt, "i3"))
	c.putWrites(s, c1, "task", write(checkpointer.ChannelError, "e2"), write(checkpointer.ChannelScheduled, "s2"))
	c.writes(c.get(s, c1), "task/-4/__resume__=r2 task/-3/__interrupt__=i3 task/-2/__scheduled__=s2 task/-1/__error__=e2 task/1/x=1")
}

func writesOrdered(c *check) {
	s := c.saver()
	c1 := c.chain(s, thread("t"), "c1")
	var many []checkpointer.Write
	for range 12 {
		many = append(many, write("x", "v"))
	}
	c.putWrites(s, c1, "b", write("x", "v"))
	c.putWrites(s, c1, "a", many...)
	c.putWrites(s, c1, "", write("x", "v"), write(checkpointer.ChannelError, "e"))
	writes := c.get(s, c1).Writes
	if len(writes) != 15 {
		c.Fatalf("%d pending writes, want 15", len(writes))
	}
	for i := 1; i < len(writes); i++ {
		a, b := writes[i-1], writes[i]
		if a.Task.ID > b.Task.ID || a.Task.ID == b.Task.ID && a.Index >= b.Index {
			c.Errorf("write (%q, %d) comes before (%q, %d)", a.Task.ID, a.Index, b.Task.ID, b.Index)
		}
	}
}

func listWithoutWrites(c *check) {
	s := c.saver()
	c1 := c.chain(s, thread("t"), "c1")
	c.putWrites(s, c1, "task", write("x", "1"))
	for _, cp := range c.list(s, checkpointer.Query{Thread: "t"}) {
		c.writes(cp, "")
	}
}
