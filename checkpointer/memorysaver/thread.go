package memorysaver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// thread is everything that is stored under one thread id.
type thread struct {
	rows   map[place]*row
	order  []*row // by sequence; only ever appended to or replaced whole
	newest map[string]*row
	writes map[place]map[spot]pending
	// orphans has for places of writes without a checkpoint when they last got one.
	orphans map[place]time.Time
	// pruned remembers where the last of what was pruned stood, oldest first.
	pruned []grave
	// updated is the time of the last put; expires is zero on a thread that stays.
	updated time.Time
	expires time.Time
	ttl     time.Duration
	calls   int64 // of PutWrites, counted
}

// place names a checkpoint within a thread, spot a write within a checkpoint.
type (
	place struct{ namespace, id string }
	spot  struct {
		task  string
		index int
	}
	pending struct {
		path string
		call int64 // which call stored it
		checkpointer.Write
	}
	grave struct {
		place
		seq int64
	}
)

// row is one checkpoint; it is never changed.
type row struct {
	seq      int64
	ref      checkpointer.Ref
	parent   string
	time     time.Time
	logs     map[string]record.Position
	channels map[string]value
	changed  []string
	metadata map[string]string // canonical JSON
	digest   []byte
}

// value is a channel's, set by the checkpoint version.
type value struct {
	data    []byte
	version int64
}

func newThread() *thread {
	return &thread{rows: map[place]*row{}, newest: map[string]*row{}, writes: map[place]map[spot]pending{}, orphans: map[place]time.Time{}}
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
	return nil, notFound(ref)
}

func notFound(ref checkpointer.Ref) error {
	return fmt.Errorf("checkpoint %q in namespace %q: %w", ref.ID, ref.Namespace, checkpointer.ErrNotFound)
}

// sequence returns where the checkpoint at stands or, if it was pruned, stood. With
// anywhere it is looked for in every namespace.
func (t *thread) sequence(at place, anywhere bool) (seq int64, ok bool) {
	if t == nil {
		return 0, false
	}
	is := func(p place) bool { return p.id == at.id && (anywhere || p.namespace == at.namespace) }
	if r := t.rows[at]; r != nil && !anywhere {
		return r.seq, true
	}
	if anywhere {
		for _, r := range slices.Backward(t.order) {
			if is(place{r.ref.Namespace, r.ref.ID}) {
				return r.seq, true
			}
		}
	}
	for _, g := range slices.Backward(t.pruned) {
		if is(g.place) {
			return g.seq, true
		}
	}
	return 0, false
}

// add makes r the newest of its namespace.
func (t *thread) add(r *row) {
	at := place{r.ref.Namespace, r.ref.ID}
	t.rows[at] = r
	t.newest[r.ref.Namespace] = r
	t.order = append(t.order, r)
	delete(t.orphans, at)
	t.updated = time.Now()
	if t.ttl > 0 {
		t.expires = t.updated.Add(t.ttl)
	}
}

// dropOrphans forgets writes whose checkpoint has not come in time.
func (t *thread) dropOrphans(now time.Time) {
	for at, when := range t.orphans {
		if now.Sub(when) > checkpointer.OrphanAge {
			delete(t.orphans, at)
			delete(t.writes, at)
		}
	}
}

// checkpoint returns a copy of what r is, of its channels and writes what sel asks for.
func (t *thread) checkpoint(r *row, sel checkpointer.Selection) (checkpointer.Checkpoint, error) {
	cp := checkpointer.Checkpoint{Ref: r.ref, Parent: r.parent, Sequence: r.seq, Time: r.time, Length: r.log().Length,
		Logs: map[string]checkpointer.LogState{}, Changed: slices.Clone(r.changed), Versions: make(map[string]int64, len(r.channels))}
	for name, p := range r.logs {
		cp.Logs[name] = checkpointer.LogState{Length: p.Length, Version: p.Version}
	}
	for name, v := range r.channels {
		cp.Versions[name] = v.version
	}
	cp.Channels = r.selected(sel.Channels)
	if sel.Writes {
		cp.Writes = t.pending(r.ref)
	}
	var err error
	cp.Metadata, err = record.MetadataOf(r.metadata)
	return cp, err
}

func (r *row) selected(names []string) map[string][]byte {
	switch {
	case names == nil:
		names = slices.Collect(maps.Keys(r.channels))
	case len(names) == 0:
		return nil
	}
	channels := make(map[string][]byte, len(names))
	for _, name := range names {
		if v, ok := r.channels[name]; ok {
			channels[name] = append([]byte{}, v.data...)
		}
	}
	return channels
}

// pending returns copies of the writes under ref, by path, task and index.
func (t *thread) pending(ref checkpointer.Ref) []checkpointer.PendingWrite {
	var writes []checkpointer.PendingWrite
	for where, w := range t.writes[place{ref.Namespace, ref.ID}] {
		w.Value = append([]byte{}, w.Value...)
		writes = append(writes, checkpointer.PendingWrite{Task: checkpointer.Task{ID: where.task, Path: w.path}, Index: where.index, Write: w.Write})
	}
	slices.SortFunc(writes, func(a, b checkpointer.PendingWrite) int {
		return cmp.Or(cmp.Compare(a.Task.Path, b.Task.Path), cmp.Compare(a.Task.ID, b.Task.ID), cmp.Compare(a.Index, b.Index))
	})
	return writes
}

// interrupted says whether a checkpoint has an open interrupt: one that no later call has
// answered by a resume of its task or of the whole superstep.
func (t *thread) interrupted(where place) bool {
	interrupt, _ := checkpointer.SpecialIndex(checkpointer.ChannelInterrupt)
	resume, _ := checkpointer.SpecialIndex(checkpointer.ChannelResume)
	writes := t.writes[where]
	for at, w := range writes {
		if at.index == interrupt && writes[spot{at.task, resume}].call <= w.call && writes[spot{checkpointer.NullTask, resume}].call <= w.call {
			return true
		}
	}
	return false
}
