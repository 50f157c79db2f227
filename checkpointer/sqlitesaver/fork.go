package sqlitesaver

import (
	"context"
	"fmt"
	"maps"
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
	tid, err := newThread(q, ref.Thread)
	if err != nil {
		return err
	}
	set, err := values(q, from, nil, map[valueKey][]byte{})
	if err != nil {
		return err
	}
	r := newRow(tid, ref, nil, nil, time.Time{})
	r.metadata = record.WithSource(from.metadata, "fork")
	for name, at := range from.logs {
		if name == checkpointer.LogMessages && upTo != nil {
			at.Length = min(at.Length, *upTo)
		}
		if r.logs[name], err = copyLog(q, tid, from, name, at.Length); err != nil {
			return err
		}
	}
	return insertRow(q, r, set, slices.Collect(maps.Keys(r.logs)))
}

// newThread returns the number of a thread that must not exist.
func newThread(q *tx, thread string) (tid int64, err error) {
	if tid, err = makeThread(q, thread); err != nil {
		return 0, err
	}
	var last int64
	if err := q.row("SELECT last FROM threads WHERE tid = ?", tid).Scan(&last); err != nil {
		return 0, err
	}
	if last != 0 {
		return 0, fmt.Errorf("the thread exists: %w", checkpointer.ErrConflict)
	}
	return tid, nil
}

// copyLog makes a log of what a checkpoint sees below length.
func copyLog(q *tx, tid int64, from *row, log string, length int64) (at logAt, err error) {
	at.Length = length
	if at.Lid, err = baseLog(q, tid, length); err != nil {
		return at, err
	}
	v := &view{at: from.ref, log: log, want: checkpointer.Range{To: length}, left: -1, to: length, over: length == 0}
	for !v.over {
		items, err := v.next(q)
		if err != nil {
			return at, err
		}
		if err := copyItems(q, at.Lid, items); err != nil {
			return at, err
		}
	}
	return at, nil
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
	data, err := record.CheckCompact(at, summary, keep)
	if err != nil {
		return checkpointer.Ref{}, record.Wrap("compact", at.Thread, err)
	}
	return s.compact(ctx, at, checkpointer.LogMessages, item{0, []byte(summary.ID), data}, keep)
}

// CompactLog implements checkpointer.Logger.
func (s *Saver) CompactLog(ctx context.Context, at checkpointer.Ref, log string, summary checkpointer.LogItem, keep int) (checkpointer.Ref, error) {
	if err := record.CheckCompactLog(at, log, summary, keep); err != nil {
		return checkpointer.Ref{}, record.Wrap("compact", at.Thread, err)
	}
	return s.compact(ctx, at, log, item{0, []byte(summary.ID), append([]byte{}, summary.Data...)}, keep)
}

func (s *Saver) compact(ctx context.Context, at checkpointer.Ref, log string, summary item, keep int) (checkpointer.Ref, error) {
	ref := checkpointer.Ref{Thread: at.Thread, Namespace: at.Namespace, ID: langrooms.NewID()}
	err := s.write(ctx, "compact", at.Thread, func(q *tx) error {
		from, newest, err := findNewest(q, at)
		if err != nil {
			return err
		}
		if from.seq != newest.seq {
			return fmt.Errorf("the newest checkpoint is %q, not %q: %w", newest.ref.ID, at.ID, checkpointer.ErrConflict)
		}
		items, err := newestItems(q, from.ref, log, keep+1)
		if err != nil {
			return err
		}
		if len(items) <= keep {
			ref = from.ref
			return nil
		}
		return compact(q, from, ref, log, summary, items[:keep])
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

// newestItems returns the n newest entries of a log, newest first.
func newestItems(q *tx, at checkpointer.Ref, log string, n int) (items []item, err error) {
	v, err := newView(at, log, checkpointer.Range{Backward: true, Limit: &n})
	for err == nil && !v.over {
		var more []item
		more, err = v.next(q)
		items = append(items, more...)
	}
	return items, err
}

// compact puts a checkpoint after from whose log holds the summary and the kept
// entries, given newest first.
func compact(q *tx, from *row, ref checkpointer.Ref, log string, summary item, kept []item) (err error) {
	at := logAt{Length: from.logs[log].Length}
	summary.pos = at.Length - 1
	if len(kept) > 0 {
		summary.pos = kept[len(kept)-1].pos - 1
	}
	r := newRow(from.tid, ref, from, from, time.Time{})
	r.metadata = record.WithSource(nil, "update")
	if at.Lid, err = baseLog(q, r.tid, at.Length); err != nil {
		return err
	}
	if err := copyItems(q, at.Lid, append(slices.Clone(kept), summary)); err != nil {
		return err
	}
	r.logs[log] = at
	return insertRow(q, r, nil, []string{log})
}
