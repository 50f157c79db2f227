package sqlitesaver

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// Fork implements checkpointer.Forker. The copy's metadata is that of at with "source"
// set to "fork"; it stands in the namespace of at.
func (s *Saver) Fork(ctx context.Context, at checkpointer.Ref, upTo *int64, to string) (checkpointer.Ref, error) {
	const op = "fork"
	if err := record.CheckFork(at, upTo, to); err != nil {
		return checkpointer.Ref{}, record.Wrap(op, at.Thread, err)
	}
	ref := checkpointer.Ref{Thread: to, Namespace: at.Namespace, ID: langrooms.NewID()}
	err := s.write(ctx, op, to, func(q *tx) error { return fork(q, at, upTo, ref) })
	if err != nil {
		return checkpointer.Ref{}, err
	}
	return ref, nil
}

func fork(q *tx, at checkpointer.Ref, upTo *int64, ref checkpointer.Ref) error {
	from, err := find(q, at)
	if err != nil {
		return fmt.Errorf("thread %q: %w", at.Thread, err)
	}
	tid, err := makeThread(q, ref.Thread)
	if err != nil {
		return err
	}
	var last int64
	if err := q.row("SELECT last FROM threads WHERE tid = ?", tid).Scan(&last); err != nil {
		return err
	}
	if last != 0 {
		return fmt.Errorf("the thread exists: %w", checkpointer.ErrConflict)
	}
	set, err := values(q, from, map[valueKey][]byte{})
	if err != nil {
		return err
	}
	r := newRow(tid, ref, nil, checkpointer.Step{})
	r.metadata = record.WithSource(from.metadata, "fork")
	r.digest, r.length = []byte{}, from.length
	if upTo != nil {
		r.length = min(r.length, *upTo)
	}
	if r.lid, err = baseLog(q, tid, r.length); err != nil {
		return err
	}
	v := &view{at: from.ref, want: checkpointer.Range{To: r.length}, left: -1, to: r.length, over: r.length == 0}
	for !v.over {
		items, err := v.next(q)
		if err != nil {
			return err
		}
		if err := copyItems(q, r.lid, items); err != nil {
			return err
		}
	}
	return insertRow(q, r, set)
}

// baseLog makes a log of that length which continues no other.
func baseLog(q *tx, tid, length int64) (lid int64, err error) {
	return q.insert("INSERT INTO logs (tid, parent_length, bound, length) VALUES (?, 0, 0, ?)", tid, length)
}

// copyItems writes messages to a log at their own positions.
func copyItems(q *tx, lid int64, items []item) error {
	for _, it := range items {
		err := q.exec("INSERT INTO messages (lid, pos, id, data) VALUES (?, ?, ?, ?)", lid, it.pos, it.id, it.data)
		if err != nil {
			return err
		}
	}
	return nil
}

// Compact implements checkpointer.Compacter.
func (s *Saver) Compact(ctx context.Context, at checkpointer.Ref, summary langrooms.Message, keep int) (checkpointer.Ref, error) {
	const op = "compact"
	data, err := record.CheckCompact(at, summary, keep)
	if err != nil {
		return checkpointer.Ref{}, record.Wrap(op, at.Thread, err)
	}
	ref := checkpointer.Ref{Thread: at.Thread, Namespace: at.Namespace, ID: langrooms.NewID()}
	err = s.write(ctx, op, at.Thread, func(q *tx) error {
		from, newest, err := findNewest(q, at)
		if err != nil {
			return err
		}
		if from.seq != newest.seq {
			return fmt.Errorf("the newest checkpoint is %q, not %q: %w", newest.ref.ID, at.ID, checkpointer.ErrConflict)
		}
		items, err := newestItems(q, from.ref, keep+1)
		if err != nil {
			return err
		}
		if len(items) <= keep {
			ref = from.ref
			return nil
		}
		return compact(q, from, ref, item{0, []byte(summary.ID), data}, items[:keep])
	})
	if err != nil {
		return checkpointer.Ref{}, err
	}
	return ref, nil
}

// findNewest returns what at names and the newest checkpoint of its namespace.
func findNewest(q *tx, at checkpointer.Ref) (r, newest *row, err error) {
	if r, err = find(q, at); err != nil {
		return nil, nil, err
	}
	newest, err = find(q, checkpointer.Ref{Thread: at.Thread, Namespace: at.Namespace})
	return r, newest, err
}

// newestItems returns the n newest messages, newest first.
func newestItems(q *tx, at checkpointer.Ref, n int) (items []item, err error) {
	v, err := newView(at, checkpointer.Range{Backward: true, Limit: &n})
	for err == nil && !v.over {
		var more []item
		more, err = v.next(q)
		items = append(items, more...)
	}
	return items, err
}

// compact puts a checkpoint after from whose log holds the summary and the kept
// messages, given newest first.
func compact(q *tx, from *row, ref checkpointer.Ref, summary item, kept []item) (err error) {
	summary.pos = from.length - 1
	if len(kept) > 0 {
		summary.pos = kept[len(kept)-1].pos - 1
	}
	all := append(slices.Clone(kept), summary)
	r := newRow(from.tid, ref, from, checkpointer.Step{Time: time.Now()})
	r.metadata = record.WithSource(nil, "update")
	r.digest, r.length = []byte{}, from.length
	if r.lid, err = baseLog(q, r.tid, r.length); err != nil {
		return err
	}
	if err := copyItems(q, r.lid, all); err != nil {
		return err
	}
	return insertRow(q, r, nil)
}
