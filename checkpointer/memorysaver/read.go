package memorysaver

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

var (
	everything = checkpointer.Selection{Writes: true}
	nothing    = checkpointer.Range{Limit: checkpointer.N(0)}
)

// Get implements checkpointer.Saver.
func (s *Saver) Get(ctx context.Context, at checkpointer.Ref) (checkpointer.Checkpoint, error) {
	cp, _, err := s.snapshot(ctx, "get", at, everything, checkpointer.LogMessages, nothing)
	return cp, err
}

// Select implements checkpointer.Selector.
func (s *Saver) Select(ctx context.Context, at checkpointer.Ref, sel checkpointer.Selection) (checkpointer.Checkpoint, error) {
	const op = "select"
	if err := record.CheckSelection(sel); err != nil {
		return checkpointer.Checkpoint{}, record.Wrap(op, at.Thread, err)
	}
	cp, _, err := s.snapshot(ctx, op, at, sel, checkpointer.LogMessages, nothing)
	return cp, err
}

// Snapshot implements checkpointer.Snapshotter.
func (s *Saver) Snapshot(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) (checkpointer.Checkpoint, []langrooms.Message, error) {
	const op = "snapshot"
	cp, items, err := s.snapshot(ctx, op, at, everything, checkpointer.LogMessages, r)
	if err != nil {
		return checkpointer.Checkpoint{}, nil, err
	}
	messages, err := decoded(items)
	return cp, messages, record.Wrap(op, at.Thread, err)
}

func (s *Saver) snapshot(ctx context.Context, op string, at checkpointer.Ref, sel checkpointer.Selection, log string, r checkpointer.Range) (cp checkpointer.Checkpoint, items []record.Item, err error) {
	if err := record.CheckEntries(at, log, r); err != nil {
		return cp, nil, record.Wrap(op, at.Thread, err)
	}
	err = s.do(ctx, op, at.Thread, func(t *thread) error {
		row, err := t.find(at)
		if err != nil {
			return err
		}
		items = row.logs[log].Visible(r)
		cp, err = t.checkpoint(row, sel)
		return err
	})
	return cp, items, err
}

// Messages implements checkpointer.Saver. The stored bytes are gathered at the first
// read and decoded one by one.
func (s *Saver) Messages(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	return each(ctx, s, "messages", at, checkpointer.LogMessages, r, func(it record.Item) (langrooms.Message, error) {
		return record.Decode(it.Data, it.Pos)
	})
}

// Entries implements checkpointer.Logger.
func (s *Saver) Entries(ctx context.Context, at checkpointer.Ref, log string, r checkpointer.Range) iter.Seq2[checkpointer.LogItem, error] {
	return each(ctx, s, "entries", at, log, r, func(it record.Item) (checkpointer.LogItem, error) {
		return checkpointer.LogItem{Seq: it.Pos, ID: it.ID, Data: append([]byte{}, it.Data...)}, nil
	})
}

func each[T any](ctx context.Context, s *Saver, op string, at checkpointer.Ref, log string, r checkpointer.Range, read func(record.Item) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		_, items, err := s.snapshot(ctx, op, at, checkpointer.Selection{Channels: []string{}}, log, r)
		if err != nil {
			yield(*new(T), err)
			return
		}
		for _, it := range items {
			v, err := read(it)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(*new(T), record.Wrap(op, at.Thread, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// List implements checkpointer.Saver.
func (s *Saver) List(ctx context.Context, q checkpointer.Query) iter.Seq2[checkpointer.Checkpoint, error] {
	return func(yield func(checkpointer.Checkpoint, error) bool) {
		const op = "list"
		rows, filter, err := s.before(ctx, op, q)
		if err != nil {
			yield(checkpointer.Checkpoint{}, err)
			return
		}
		left := len(rows)
		if q.Limit != nil {
			left = *q.Limit
		}
		for i := len(rows) - 1; i >= 0 && left > 0; i-- {
			r := rows[i]
			if q.Namespace != nil && *q.Namespace != r.ref.Namespace || !record.Matches(r.metadata, filter) {
				continue
			}
			left--
			cp, err := s.copyOf(ctx, op, r, q.Select)
			if !yield(cp, err) || err != nil {
				return
			}
		}
	}
}

// copyOf reads a row that was found before.
func (s *Saver) copyOf(ctx context.Context, op string, r *row, sel checkpointer.Selection) (cp checkpointer.Checkpoint, err error) {
	err = s.do(ctx, op, r.ref.Thread, func(t *thread) error {
		if t == nil {
			t = newThread()
		}
		cp, err = t.checkpoint(r, sel)
		return err
	})
	return cp, err
}

// before returns the rows put before what q asks, oldest first.
func (s *Saver) before(ctx context.Context, op string, q checkpointer.Query) (rows []*row, filter map[string]string, err error) {
	if err := record.CheckQuery(q); err != nil {
		return nil, nil, record.Wrap(op, q.Thread, err)
	}
	if filter, err = record.Metadata(q.Filter); err != nil {
		return nil, nil, record.Wrap(op, q.Thread, err)
	}
	err = s.do(ctx, op, q.Thread, func(t *thread) error {
		if t != nil {
			rows = t.order
		}
		if q.Before.ID == "" && q.BeforeID == "" {
			return nil
		}
		seq, ok := t.sequence(place{q.Before.Namespace, cmp.Or(q.Before.ID, q.BeforeID)}, q.BeforeID != "")
		if !ok {
			return notFound(checkpointer.Ref{Namespace: q.Before.Namespace, ID: cmp.Or(q.Before.ID, q.BeforeID)})
		}
		end, _ := slices.BinarySearchFunc(rows, seq, func(r *row, seq int64) int { return cmp.Compare(r.seq, seq) })
		rows = rows[:end]
		return nil
	})
	return rows, filter, err
}

// Ancestors implements checkpointer.Walker.
func (s *Saver) Ancestors(ctx context.Context, at checkpointer.Ref, sel checkpointer.Selection, limit *int) iter.Seq2[checkpointer.Checkpoint, error] {
	return func(yield func(checkpointer.Checkpoint, error) bool) {
		const op = "ancestors"
		var line []*row
		err := record.CheckAncestors(at, sel, limit)
		if err != nil {
			err = record.Wrap(op, at.Thread, err)
		} else {
			err = s.do(ctx, op, at.Thread, func(t *thread) error {
				r, err := t.find(at)
				for ; r != nil && (limit == nil || len(line) < *limit); r = t.rows[place{at.Namespace, r.parent}] {
					line = append(line, r)
				}
				return err
			})
		}
		if err != nil {
			yield(checkpointer.Checkpoint{}, err)
			return
		}
		for _, r := range line {
			cp, err := s.copyOf(ctx, op, r, sel)
			if !yield(cp, err) || err != nil {
				return
			}
		}
	}
}
