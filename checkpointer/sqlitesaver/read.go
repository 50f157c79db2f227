package sqlitesaver

import (
	"context"
	"database/sql"
	"iter"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// page is how many rows are read at a time.
const page = 100

// Get implements checkpointer.Saver.
func (s *Saver) Get(ctx context.Context, at checkpointer.Ref) (cp checkpointer.Checkpoint, err error) {
	const op = "get"
	if err := record.CheckRef(at); err != nil {
		return cp, record.Wrap(op, at.Thread, err)
	}
	err = s.read(ctx, op, at.Thread, func(q *tx) error {
		r, err := find(q, at)
		if err == nil {
			cp, err = whole(q, r)
		}
		return err
	})
	if err != nil {
		return checkpointer.Checkpoint{}, err
	}
	return cp, nil
}

// whole is the checkpoint of r with its pending writes.
func whole(q *tx, r *row) (checkpointer.Checkpoint, error) {
	cp, err := r.checkpoint(q, map[valueKey][]byte{})
	if err != nil {
		return cp, err
	}
	err = q.each(func(rows *sql.Rows) error {
		var w checkpointer.PendingWrite
		if err := rows.Scan(&w.Task.ID, &w.Index, &w.Channel, &w.Value); err != nil {
			return err
		}
		cp.Writes = append(cp.Writes, w)
		return nil
	}, "SELECT task, place, channel, value FROM writes WHERE tid = ? AND ns = ? AND id = ? ORDER BY task, place",
		r.tid, []byte(r.ref.Namespace), []byte(r.ref.ID))
	return cp, err
}

// Messages implements checkpointer.Saver. It reads pages of at most 100 messages, each in
// a transaction of its own; a thread that is deleted meanwhile ends the reading with
// ErrNotFound.
func (s *Saver) Messages(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	return func(yield func(langrooms.Message, error) bool) {
		const op = "messages"
		v, err := newView(at, r)
		if err != nil {
			yield(langrooms.Message{}, record.Wrap(op, at.Thread, err))
			return
		}
		for !v.over {
			var items []item
			err := s.read(ctx, op, at.Thread, func(q *tx) (err error) {
				items, err = v.next(q)
				return err
			})
			if err != nil {
				yield(langrooms.Message{}, err)
				return
			}
			for _, it := range items {
				m, err := record.Decode(it.data, it.pos)
				if err != nil {
					yield(langrooms.Message{}, record.Wrap(op, at.Thread, s.typed(err)))
					return
				}
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}

// Snapshot implements checkpointer.Snapshotter.
func (s *Saver) Snapshot(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) (cp checkpointer.Checkpoint, messages []langrooms.Message, err error) {
	const op = "snapshot"
	v, err := newView(at, r)
	if err != nil {
		return cp, nil, record.Wrap(op, at.Thread, err)
	}
	var items []item
	err = s.read(ctx, op, at.Thread, func(q *tx) error {
		for !v.over {
			more, err := v.next(q)
			if err != nil {
				return err
			}
			items = append(items, more...)
		}
		cp, err = whole(q, v.row)
		return err
	})
	if err != nil {
		return checkpointer.Checkpoint{}, nil, err
	}
	for _, it := range items {
		m, err := record.Decode(it.data, it.pos)
		if err != nil {
			return checkpointer.Checkpoint{}, nil, record.Wrap(op, at.Thread, s.typed(err))
		}
		messages = append(messages, m)
	}
	return cp, messages, nil
}
