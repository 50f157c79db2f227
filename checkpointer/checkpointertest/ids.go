package checkpointertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/langrooms/langrooms/checkpointer"
)

func idRules() []rule {
	return []rule{
		{name: "hostile-threads", check: hostileThreads},
		{name: "hostile-namespaces", check: hostileNamespaces},
		{name: "hostile-checkpoint-ids", check: hostileCheckpointIDs},
		{name: "hostile-tasks-and-channels", check: hostileTasks},
		{name: "hostile-message-ids-and-metadata", check: hostileMessageIDs},
	}
}

// HostileIDs returns valid ids that a careless store confuses with each other or with its
// own syntax: patterns, separators, braces, control characters, prefixes, long ones.
func HostileIDs() []string {
	return []string{"*", "?", "[a]", "a", "aa", "aaa", "A", "{x}", "{}", "}", "{", "}{", "x", ":", "::", "a:b", "a:", ":b",
		"|", "a|b", "/", "a/b", "../x", "%", "%2a", "_", "\\", "'", "\"", "';--", "\x00", "a\x00", "a\x00b", "\n", "a\nb", " ", "  ", "a ", " a", "\t",
		"é", "e\u0301", "日本", "\U0001f600", "\u202e", "\ufeff", "0", "-1", "00", "null",
		strings.Repeat("k", checkpointer.MaxID), strings.Repeat("k", checkpointer.MaxID-1) + "l",
		strings.Repeat("k", checkpointer.MaxID-1), strings.Repeat("é", checkpointer.MaxID/2)}
}

func hostileThreads(c *check) {
	s := c.saver()
	ids := HostileIDs()
	for i, id := range ids {
		ref := c.put(s, thread(id), checkpointer.Step{ID: "c", Log: appends(fmt.Sprint(i)), Channels: values("n=" + fmt.Sprint(i))})
		c.putWrites(s, ref, "task", write("x", fmt.Sprint(i)))
	}
	for i, id := range ids {
		c.sees(s, thread(id), fmt.Sprint(i))
		cp := c.get(s, thread(id))
		c.channels(cp, "n="+fmt.Sprint(i))
		c.writes(cp, "task/0/x="+fmt.Sprint(i))
		c.lists(s, checkpointer.Query{Thread: id}, "c")
	}
	for i, id := range ids {
		c.ok(s.DeleteThread(c.Context(), id), "delete of %q", id)
		_, err := s.Get(c.Context(), thread(id))
		c.is(err, checkpointer.ErrNotFound, "get of the deleted %q", id)
		if i+1 < len(ids) {
			c.sees(s, thread(ids[i+1]), fmt.Sprint(i+1))
		}
		if last := len(ids) - 1; i < last {
			c.sees(s, thread(ids[last]), fmt.Sprint(last))
		}
	}
}

func hostileNamespaces(c *check) {
	s := c.saver()
	ids := append(HostileIDs(), "")
	for i, id := range ids {
		ref := c.put(s, checkpointer.Ref{Thread: "t", Namespace: id}, checkpointer.Step{ID: "c", Log: appends(fmt.Sprint(i))})
		c.putWrites(s, ref, "task", write("x", fmt.Sprint(i)))
	}
	for i, id := range ids {
		at := checkpointer.Ref{Thread: "t", Namespace: id}
		c.sees(s, at, fmt.Sprint(i))
		if cp := c.get(s, at); cp.Ref.Namespace != id {
			c.Errorf("namespace %q came back as %q", id, cp.Ref.Namespace)
		}
		c.writes(c.get(s, at), "task/0/x="+fmt.Sprint(i))
		c.lists(s, checkpointer.Query{Thread: "t", Namespace: &id}, "c")
	}
	if n := len(c.list(s, checkpointer.Query{Thread: "t"})); n != len(ids) {
		c.Errorf("list over all namespaces yields %d of %d", n, len(ids))
	}
}

func hostileCheckpointIDs(c *check) {
	s := c.saver()
	ids := HostileIDs()
	at := thread("t")
	for i, id := range ids {
		at = c.put(s, at, checkpointer.Step{ID: id, Log: appends(fmt.Sprint(i)), Channels: values("n=" + fmt.Sprint(i))})
		c.putWrites(s, at, "task", write("x", fmt.Sprint(i)))
	}
	var got []string
	for _, cp := range c.list(s, checkpointer.Query{Thread: "t"}) {
		got = append(got, cp.Ref.ID)
	}
	slices.Reverse(got)
	if !slices.Equal(got, ids) {
		c.Errorf("list yields %q, want %q", got, ids)
	}
	for i, id := range ids {
		ref := checkpointer.Ref{Thread: "t", ID: id}
		cp := c.get(s, ref)
		c.channels(cp, "n="+fmt.Sprint(i))
		c.writes(cp, "task/0/x="+fmt.Sprint(i))
		if i > 0 && cp.Parent != ids[i-1] {
			c.Errorf("parent of %q is %q, want %q", id, cp.Parent, ids[i-1])
		}
		c.reads(s, ref, checkpointer.Range{Backward: true, Limit: checkpointer.N(1)}, fmt.Sprint(i))
		page := c.list(s, checkpointer.Query{Thread: "t", Before: ref, Limit: checkpointer.N(1)})
		if len(page) > 0 && page[0].Ref.ID != cp.Parent || len(page) == 0 && i > 0 {
			c.Errorf("the page before %q is %d long or begins wrongly", id, len(page))
		}
	}
}

func hostileTasks(c *check) {
	s := c.saver()
	at := c.put(s, thread("t"), checkpointer.Step{ID: "c"})
	ids := append(HostileIDs(), "")
	channels := map[string][]byte{}
	for i, id := range ids {
		channels[id] = []byte(fmt.Sprint(i))
		c.putWrites(s, at, id, write("x", fmt.Sprint(i)))
		c.putWrites(s, at, "by-channel", slices.Repeat([]checkpointer.Write{write(id, fmt.Sprint(i))}, i+1)...)
	}
	at = c.put(s, at, checkpointer.Step{ID: "d", Channels: channels})
	at = c.put(s, at, checkpointer.Step{ID: "e", Remove: ids[:1]})
	got := c.get(s, at).Channels
	if len(got) != len(ids)-1 {
		c.Errorf("%d channels came back, want %d", len(got), len(ids)-1)
	}
	for i, id := range ids[1:] {
		if string(got[id]) != fmt.Sprint(i+1) {
			c.Errorf("channel %q holds %q, want %d", id, got[id], i+1)
		}
	}
	byTask := map[string]string{}
	for _, w := range c.get(s, checkpointer.Ref{Thread: "t", ID: "c"}).Writes {
		if w.Task.ID != "by-channel" {
			byTask[w.Task.ID] += string(w.Value)
		} else if w.Index >= 0 && w.Channel != ids[w.Index] {
			c.Errorf("write %d has the channel %q, want %q", w.Index, w.Channel, ids[w.Index])
		}
	}
	for i, id := range ids {
		if byTask[id] != fmt.Sprint(i) {
			c.Errorf("task %q wrote %q, want %d", id, byTask[id], i)
		}
	}
}

func hostileMessageIDs(c *check) {
	s := c.saver()
	ids := HostileIDs()
	var log []checkpointer.Entry
	metadata := checkpointer.Metadata{}
	for i, id := range ids {
		log = append(log, checkpointer.Entry{Op: checkpointer.OpAppend, Message: said(id, fmt.Sprint(i))})
		metadata[id] = id
	}
	at := c.put(s, thread("t"), checkpointer.Step{Log: log, Metadata: metadata})
	for _, id := range ids {
		c.lists(s, checkpointer.Query{Thread: "t", Filter: checkpointer.Metadata{id: id}}, at.ID)
		c.lists(s, checkpointer.Query{Thread: "t", Filter: checkpointer.Metadata{id: id + "x"}}, "")
	}
	want := names(0, len(ids))
	for i, id := range ids {
		at = c.put(s, at, checkpointer.Step{Log: []checkpointer.Entry{replace(id, fmt.Sprintf("m%d", i))}})
	}
	c.sees(s, at, want)
	for i, m := range c.read(s, at, checkpointer.Range{}) {
		if m.ID != ids[i] {
			c.Errorf("message id %q came back as %q", ids[i], m.ID)
		}
	}
	at = c.put(s, at, checkpointer.Step{Log: []checkpointer.Entry{remove("*"), remove("\x00")}})
	if n := len(c.read(s, at, checkpointer.Range{})); n != len(ids)-2 {
		c.Errorf("removing two messages left %d of %d", n, len(ids))
	}
}
