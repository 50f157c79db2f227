package redissaver

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// reply reads the elements of a script's answer one by one and remembers the first that
// is not what it should be.
type reply struct {
	items []any
	bad   bool
}

func (r *reply) next() any {
	if len(r.items) == 0 {
		r.bad = true
		return nil
	}
	v := r.items[0]
	r.items = r.items[1:]
	return v
}

func (r *reply) bytes() string {
	v, ok := r.next().(string)
	r.bad = r.bad || !ok
	return v
}

// text is a string that was valid UTF-8 when it was written.
func (r *reply) text() string {
	v := r.bytes()
	r.bad = r.bad || !utf8.ValidString(v)
	return v
}

func (r *reply) int() int64 {
	v, ok := r.next().(int64)
	r.bad = r.bad || !ok
	return v
}

// number is an integer of 64 bits, which Lua's numbers cannot hold, as text.
func (r *reply) number() int64 {
	n, err := strconv.ParseInt(r.bytes(), 10, 64)
	r.bad = r.bad || err != nil
	return n
}

func (r *reply) list() *reply {
	v, ok := r.next().([]any)
	r.bad = r.bad || !ok
	return &reply{items: v}
}

// each calls fn until the list is used up or bad.
func (r *reply) each(fn func(*reply)) {
	for len(r.items) > 0 && !r.bad {
		fn(r)
	}
}

func (r *reply) time() time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.bytes())
	r.bad = r.bad || err != nil
	return t.UTC()
}

func (r *reply) metadata() checkpointer.Metadata {
	text, m := r.text(), map[string]string{}
	for text != "" && !r.bad {
		key, rest, ok := splitRow(text)
		value, after, found := splitRow(rest)
		r.bad = !ok || !found
		m[key], text = value, after
	}
	metadata, err := record.MetadataOf(m)
	r.bad = r.bad || err != nil
	return metadata
}

// values reads the channel values of an answer by their place, "seq:channel".
func (r *reply) values() map[string]string {
	l, m := r.list(), map[string]string{}
	l.each(func(l *reply) { k := l.bytes(); m[k] = l.bytes() })
	r.bad = r.bad || l.bad
	return m
}

// writes reads pending writes, by path, task and index.
func (r *reply) writes() []checkpointer.PendingWrite {
	var writes []checkpointer.PendingWrite
	l := r.list()
	l.each(func(l *reply) {
		w := checkpointer.PendingWrite{Task: checkpointer.Task{ID: l.text(), Path: l.text()}, Index: int(l.int())}
		w.Channel, w.Value = l.text(), []byte(l.bytes())
		writes = append(writes, w)
	})
	r.bad = r.bad || l.bad
	slices.SortFunc(writes, func(a, b checkpointer.PendingWrite) int {
		return cmp.Or(cmp.Compare(a.Task.Path, b.Task.Path), cmp.Compare(a.Task.ID, b.Task.ID), cmp.Compare(a.Index, b.Index))
	})
	return writes
}

// checkpoint reads what lua/state.lua's rowreply has written. The values stand apart; give
// adds them.
func (r *reply) checkpoint(thread string) checkpointer.Checkpoint {
	l := r.list()
	namespace, id, ok := splitRow(l.text())
	c := checkpointer.Checkpoint{Ref: checkpointer.Ref{Thread: thread, Namespace: namespace, ID: id}, Parent: l.text(), Sequence: l.int(),
		Time: l.time(), Metadata: l.metadata(), Versions: map[string]int64{}, Logs: map[string]checkpointer.LogState{}}
	names := l.list()
	names.each(func(n *reply) {
		name, version := n.text(), n.int()
		c.Versions[name] = version
		if version == c.Sequence {
			c.Changed = append(c.Changed, name)
		}
	})
	removed := l.list()
	removed.each(func(n *reply) { c.Changed = append(c.Changed, n.text()) })
	slices.Sort(c.Changed)
	logs := l.list()
	logs.each(func(n *reply) {
		name, state := n.text(), checkpointer.LogState{Length: n.int(), Version: n.int()}
		if name != "" {
			c.Logs[name] = state
			return
		}
		if c.Length = state.Length; state.Length > 0 || state.Version > 0 {
			c.Logs[checkpointer.LogMessages] = state
		}
	})
	r.bad = r.bad || !ok || l.bad || names.bad || removed.bad || logs.bad
	return c
}

// give sets the values of c that sel asks for, out of those that an answer holds. It says
// whether all are there.
func give(c *checkpointer.Checkpoint, sel checkpointer.Selection, held map[string]string) bool {
	if sel.Channels != nil && len(sel.Channels) == 0 {
		return true
	}
	c.Channels = map[string][]byte{}
	for name, version := range c.Versions {
		if sel.Channels != nil && !slices.Contains(sel.Channels, name) {
			continue
		}
		value, ok := held[strconv.FormatInt(version, 10)+":"+name]
		if !ok {
			return false
		}
		c.Channels[name] = []byte(value)
	}
	return true
}

// entry is an entry of a log as it is stored.
type entry struct {
	seq  int64
	data string
}

// entries reads the entries of a log: position, content, … or, from lua/fastread.lua, the
// position of the first and a list of all as they are stored, to be read backwards.
func (r *reply) entries() []entry {
	var all []entry
	l := r.list()
	if len(l.items) == 2 {
		if run, ok := l.items[1].([]any); ok {
			first := l.int()
			for i, item := range slices.Backward(run) {
				text, ok := item.(string)
				r.bad = r.bad || !ok || text == ""
				all = append(all, entry{first + int64(i), text[min(1, len(text)):]})
			}
			return all
		}
	}
	l.each(func(l *reply) { all = append(all, entry{l.int(), l.bytes()}) })
	r.bad = r.bad || l.bad
	return all
}

func parsePage(thread string, sel checkpointer.Selection, items []any) (page, error) {
	r := &reply{items: items}
	p := page{checkpoint: r.checkpoint(thread)}
	held := r.values()
	p.checkpoint.Writes, p.entries, p.next = r.writes(), r.entries(), r.int()
	if r.bad || !give(&p.checkpoint, sel, held) {
		return page{}, malformed(fmt.Sprintf("checkpoint %q", p.checkpoint.Ref.ID))
	}
	return p, nil
}

// parseRows reads checkpoints, their values and their pending writes.
func parseRows(thread string, sel checkpointer.Selection, r *reply) ([]checkpointer.Checkpoint, error) {
	var rows []checkpointer.Checkpoint
	l := r.list()
	l.each(func(l *reply) { rows = append(rows, l.checkpoint(thread)) })
	held, pending := r.values(), r.list()
	for i := range rows {
		rows[i].Writes = pending.writes()
		r.bad = r.bad || !give(&rows[i], sel, held)
	}
	if r.bad || l.bad || pending.bad {
		return nil, malformed("a checkpoint")
	}
	return rows, nil
}
