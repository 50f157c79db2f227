package memorysaver

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// thread is everything that is stored under one thread id.
type thread struct {
	rows   map[place]*row
	order  []*row // by sequence; only ever appended to or replaced whole
	newest map[string]*row
	writes map[place]map[spot]checkpointer.Write
	// updated is the time of the last put; expires is zero on a thread that stays.
	updated time.Time
	expires time.Time
	ttl     time.Duration
}

// place names a checkpoint within a thread, spot a write within a checkpoint.
type (
	place struct{ namespace, id string }
	spot  struct {
		task  string
		index int
	}
)

// row is one checkpoint; it is never changed.
type row struct {
	seq      int64
	ref      checkpointer.Ref
	parent   string
	time     time.Time
	log      *log
	length   int64
	channels map[string][]byte
	metadata map[string]string
	digest   []byte
}

// log is one branch of a namespace's messages. It continues parent, of which it sees the
// entries before position parentLen and of these only the messages before position bound.
type log struct {
	parent           *log
	parentLen, bound int64
	entries          []entry // ascending positions; a compacted log has gaps
	length           int64
}

type entry struct {
	pos int64
	record.Entry
}

func newThread() *thread {
	return &thread{rows: map[place]*row{}, newest: map[string]*row{}, writes: map[place]map[spot]checkpointer.Write{}}
}

// exists tells a thread from one that has pending writes only.
func (t *thread) exists() bool { return t != nil && len(t.order) > 0 }

// find returns the checkpoint that ref names, or ErrNotFound.
func (t *thread) find(ref checkpointer.Ref) (*row, error) {
	if t != nil {
		r := t.rows[place{ref.Namespace, ref.ID}]
		if ref.ID == "" {
			r = t.newest[ref.Namespace]
		}
		if r != nil {
			return r, nil
		}
	}
	return nil, fmt.Errorf("checkpoint %q in namespace %q: %w", ref.ID, ref.Namespace, checkpointer.ErrNotFound)
}

// add makes r the newest of its namespace.
func (t *thread) add(r *row) {
	t.rows[place{r.ref.Namespace, r.ref.ID}] = r
	t.newest[r.ref.Namespace] = r
	t.order = append(t.order, r)
	t.updated = time.Now()
	if t.ttl > 0 {
		t.expires = t.updated.Add(t.ttl)
	}
}

// branch returns the log that a checkpoint after parent appends to, and its length.
func branch(parent *row, truncate *int64) (*log, int64) {
	if parent == nil {
		return &log{}, 0
	}
	if truncate != nil && *truncate < parent.length {
		return &log{parent: parent.log, parentLen: parent.length, bound: *truncate, length: *truncate}, *truncate
	}
	if parent.log.length != parent.length { // another checkpoint has gone on here
		n := parent.length
		return &log{parent: parent.log, parentLen: n, bound: n, length: n}, n
	}
	return parent.log, parent.length
}

func (l *log) append(entries []record.Entry) {
	for _, e := range entries {
		l.entries = append(l.entries, entry{l.length, e})
		l.length++
	}
}

// item is a visible message: its position, id and stored bytes.
type item struct {
	pos  int64
	id   string
	data []byte
}

// visible returns the messages that row sees in r. It walks from the newest entry
// back, knowing of each id what later entries made of it.
func (r *row) visible(want checkpointer.Range) []item {
	var found []item
	later := map[string][]byte{} // newest content; nil: removed
	limit := -1
	if want.Limit != nil && want.Backward {
		limit = *want.Limit
	}
	end, bound := r.length, r.length
	for l := r.log; l != nil; end, bound, l = l.parentLen, min(bound, l.bound), l.parent {
		for i := l.before(end) - 1; i >= 0; i-- {
			e := l.entries[i]
			if e.Op == checkpointer.OpReset || len(found) == limit || e.Op == checkpointer.OpAppend && e.pos < want.From {
				return ordered(found, want)
			}
			content, changed := later[e.ID]
			switch {
			case e.Op == checkpointer.OpRemove:
				later[e.ID] = nil
			case e.Op == checkpointer.OpReplace && !changed:
				later[e.ID] = e.Data
			case e.Op == checkpointer.OpAppend && e.pos < bound && (want.To == 0 || e.pos < want.To):
				if !changed {
					content = e.Data
				}
				if content != nil {
					found = append(found, item{e.pos, e.ID, content})
				}
			}
		}
	}
	return ordered(found, want)
}

// ordered turns items, newest first, into the order asked for.
func ordered(items []item, want checkpointer.Range) []item {
	if !want.Backward {
		slices.Reverse(items)
	}
	if want.Limit != nil && len(items) > *want.Limit {
		items = items[:*want.Limit]
	}
	return items
}

// before is the number of entries below position end.
func (l *log) before(end int64) int {
	return sort.Search(len(l.entries), func(i int) bool { return l.entries[i].pos >= end })
}

// checkpoint returns a copy of what r is, without writes.
func (r *row) checkpoint() checkpointer.Checkpoint {
	cp := checkpointer.Checkpoint{Ref: r.ref, Parent: r.parent, Time: r.time, Length: r.length, Metadata: maps.Clone(r.metadata)}
	cp.Channels = make(map[string][]byte, len(r.channels))
	for name, value := range r.channels {
		cp.Channels[name] = slices.Clone(value)
	}
	return cp
}

// decoded turns items into messages.
func decoded(items []item) ([]langrooms.Message, error) {
	messages := make([]langrooms.Message, 0, len(items))
	for _, it := range items {
		m, err := record.Decode(it.data, it.pos)
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	return messages, nil
}
