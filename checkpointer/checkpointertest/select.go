package checkpointertest

import (
	"strings"

	"github.com/langrooms/langrooms/checkpointer"
)

func selectRules() []rule {
	return []rule{
		{name: "select", needs: Selector, check: selects},
		{name: "select-errors", needs: Selector, check: selectErrors},
		{name: "list-selects", needs: Selector, check: listSelects},
		{name: "ancestors", needs: Walker, check: ancestors},
		{name: "ancestors-stop-at-the-pruned", needs: Walker, check: ancestorsPruned},
		{name: "ancestors-of-a-long-line", needs: Walker, check: ancestorsLong},
		{name: "ancestors-errors", needs: Walker, check: ancestorsErrors},
	}
}

// selections are what can be asked of a checkpoint with the channels x and y.
var selections = map[string]checkpointer.Selection{
	"x=1 y=2": {},
	"":        {Channels: []string{}},
	"y=2":     {Channels: []string{"y", "none"}},
}

func selects(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Log: appends("a"), Channels: values("x=1", "y=2"), Metadata: checkpointer.Metadata{"k": "v"}})
	c.putWrites(s, at, "task", write("x", "1"))
	a := ability[checkpointer.Selector](c, s)
	for want, sel := range selections {
		for _, ref := range []checkpointer.Ref{at, thread("t")} {
			cp, err := a.Select(c.Context(), ref, sel)
			c.ok(err, "select")
			c.channels(cp, want)
			c.writes(cp, "")
			if cp.Ref != at || cp.Length != 1 || cp.Metadata["k"] != "v" || len(cp.Versions) != 2 {
				c.Errorf("select of %v: %+v", sel, cp)
			}
		}
	}
	cp, err := a.Select(c.Context(), at, checkpointer.Selection{Channels: []string{"x"}, Writes: true})
	c.ok(err, "select")
	c.channels(cp, "x=1")
	c.writes(cp, "task/0/x=1")
}

func selectErrors(c *check) {
	s := c.saver()
	c.put(s, thread("t"), checkpointer.Step{ID: "c1"})
	a := ability[checkpointer.Selector](c, s)
	_, err := a.Select(c.Context(), thread("none"), checkpointer.Selection{})
	c.is(err, checkpointer.ErrNotFound, "select in an unknown thread")
	_, err = a.Select(c.Context(), checkpointer.Ref{Thread: "t", ID: "none"}, checkpointer.Selection{})
	c.is(err, checkpointer.ErrNotFound, "select of an unknown checkpoint")
	for name, id := range badIDs() {
		_, err = a.Select(c.Context(), thread("t"), checkpointer.Selection{Channels: []string{id}})
		c.is(err, checkpointer.ErrInvalid, "select of %s channel", name)
		_, err = a.Select(c.Context(), thread(id), checkpointer.Selection{})
		c.is(err, checkpointer.ErrInvalid, "select in %s thread", name)
	}
}

func listSelects(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{ID: "c1", Channels: values("x=1", "y=2")})
	c.putWrites(s, at, "task", write("x", "1"))
	at = c.put(s, at, checkpointer.Step{ID: "c2", Log: appends("a")})
	c.putWrites(s, at, "task2", write("y", "2"), write(checkpointer.ChannelError, "e"))
	wants := map[string]string{"c1": "task/0/x=1", "c2": "task2/-1/__error__=e task2/0/y=2"}
	for want, sel := range selections {
		for _, cp := range c.list(s, checkpointer.Query{Thread: "t", Select: sel}) {
			c.channels(cp, want)
			c.writes(cp, "")
		}
		sel.Writes = true
		all := c.list(s, checkpointer.Query{Thread: "t", Select: sel})
		for _, cp := range all {
			c.channels(cp, want)
			c.writes(cp, wants[cp.Ref.ID])
			for _, value := range cp.Channels {
				scribble(value) // the rows share nothing
			}
		}
		if len(all) != 2 {
			c.Errorf("list with %+v yields %d", sel, len(all))
		}
	}
}

// walks reports when the line from at does not consist of the ids in want.
func (c *check) walks(s checkpointer.Saver, at checkpointer.Ref, limit *int, want string) []checkpointer.Checkpoint {
	c.Helper()
	var ids []string
	var all []checkpointer.Checkpoint
	for cp, err := range ability[checkpointer.Walker](c, s).Ancestors(c.Context(), at, checkpointer.Selection{Writes: true}, limit) {
		c.ok(err, "ancestors of %+v", at)
		ids = append(ids, cp.Ref.ID)
		all = append(all, cp)
	}
	if got := strings.Join(ids, " "); got != want {
		c.Errorf("ancestors of %+v: got [%s], want [%s]", at, got, want)
	}
	return all
}

func ancestors(c *check) {
	s := c.saver()
	a := c.put(s, thread("t"), checkpointer.Step{ID: "a", Channels: values("x=1")})
	lost := c.chain(s, a, "b c")
	c.put(s, checkpointer.Ref{Thread: "t", Namespace: "n"}, checkpointer.Step{ID: "a"})
	d := c.put(s, a, checkpointer.Step{ID: "d", Fork: true, Channels: values("x=2")})
	c.putWrites(s, d, "task", write("x", "1"))
	e := c.chain(s, d, "e")
	line := c.walks(s, e, nil, "e d a")
	if len(line) == 3 {
		c.writes(line[1], "task/0/x=1")
		c.channels(line[1], "x=2")
		c.channels(line[2], "x=1")
	}
	c.walks(s, thread("t"), nil, "e d a")
	c.walks(s, lost, nil, "c b a")
	c.walks(s, e, checkpointer.N(2), "e d")
	c.walks(s, e, checkpointer.N(0), "")
	c.walks(s, a, nil, "a")
}

func ancestorsPruned(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "a b c d")
	if _, ok := s.(checkpointer.Pruner); !ok {
		return
	}
	c.prune(s, "t", 2, "", 2)
	c.walks(s, at, nil, "d c")
}

func ancestorsLong(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), names(0, 1000))
	words := strings.Fields(names(1000, 0))
	c.walks(s, at, nil, strings.Join(words, " "))
	c.walks(s, at, checkpointer.N(700), strings.Join(words[:700], " "))
}

func ancestorsErrors(c *check) {
	s := c.saver()
	at := c.chain(s, thread("t"), "a")
	a := ability[checkpointer.Walker](c, s)
	none := checkpointer.Selection{}
	c.oneError(a.Ancestors(c.Context(), thread("none"), none, nil), checkpointer.ErrNotFound, "ancestors in an unknown thread")
	c.oneError(a.Ancestors(c.Context(), checkpointer.Ref{Thread: "t", ID: "none"}, none, nil), checkpointer.ErrNotFound, "ancestors of an unknown checkpoint")
	c.oneError(a.Ancestors(c.Context(), at, none, checkpointer.N(-1)), checkpointer.ErrInvalid, "ancestors with a negative limit")
	c.oneError(a.Ancestors(c.Context(), checkpointer.Ref{}, none, nil), checkpointer.ErrInvalid, "ancestors in an empty thread")
}
