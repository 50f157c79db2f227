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

// channels reads the channels in force, whose values stand in held.
func (r *reply) channels(held map[string]string) map[string][]byte {
	l, m := r.list(), map[string][]byte{}
	l.each(func(l *reply) {
		name := l.text()
		value, ok := held[strconv.FormatInt(l.int(), 10)+":"+name]
		m[name], l.bad = []byte(value), l.bad || !ok
	})
	r.bad = r.bad || l.bad
	return m
}

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

func parsePage(at checkpointer.Ref, out []any) (page, error) {
	r := &reply{items: out[1:]}
	c := checkpointer.Checkpoint{Ref: at}
	c.Ref.ID, c.Parent = r.text(), r.text()
	r.int() // the sequence number
	c.Length, c.Time = r.int(), r.time()
	c.Metadata = r.metadata()
	names := r.list()
	held := r.values()
	c.Channels, c.Writes = (&reply{items: []any{names.items}}).channels(held), r.writes()
	var p page
	l := r.list()
	for len(l.items) > 0 && !l.bad {
		seq, data := l.int(), l.bytes()
		m, err := record.Decode([]byte(data), seq)
		if err != nil {
			return page{}, err
		}
		p.messages = append(p.messages, m)
	}
	p.checkpoint, p.next = c, r.int()
	if r.bad || l.bad {
		return page{}, malformed(fmt.Sprintf("checkpoint %q", c.Ref.ID))
	}
	return p, nil
}
