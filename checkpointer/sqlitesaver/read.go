package sqlitesaver

import (
	"context"
	"errors"
	"iter"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// page is how many rows are read at a time.
const page = 100

// Get implements checkpointer.Saver.
func (s *Saver) Get(ctx context.Context, at checkpointer.Ref) (checkpointer.Checkpoint, error) {
	return s.get(ctx, "get", at, everything)
}

var everything = checkpointer.Selection{Writes: true}

// Select implements checkpointer.Selector.
func (s *Saver) Select(ctx context.Context, at checkpointer.Ref, sel checkpointer.Selection) (checkpointer.Checkpoint, error) {
	const op = "select"
	if err := record.CheckSelection(sel); err != nil {
		return checkpointer.Checkpoint{}, record.Wrap(op, at.Thread, err)
	}
	return s.get(ctx, op, at, sel)
}

func (s *Saver) get(ctx context.Context, op string, at checkpointer.Ref, sel checkpointer.Selection) (cp checkpointer.Checkpoint, err error) {
	if err := record.CheckRef(at); err != nil {
		return cp, record.Wrap(op, at.Thread, err)
	}
	err = s.read(ctx, op, at.Thread, func(q *tx) error {
		r, err := find(q, at)
		if err == nil {
			cp, err = r.checkpoint(q, sel, map[valueKey][]byte{})
		}
		return err
	})
	if err != nil {
		return checkpointer.Checkpoint{}, err
	}
	return cp, nil
}

// Messages implements checkpointer.Saver. It reads pages of at most 100 messages, each in
// a transaction of its own; a thread that is deleted meanwhile ends the reading with
// ErrNotFound.
func (s *Saver) Messages(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	return entries(ctx, s, "messages", at, checkpointer.LogMessages, r, func(it item) (langrooms.Message, error) {
		return record.Decode(it.data, it.pos)
	})
}

// Entries implements checkpointer.Logger, as Messages does.
func (s *Saver) Entries(ctx context.Context, at checkpointer.Ref, log string, r checkpointer.Range) iter.Seq2[checkpointer.LogItem, error] {
	return entries(ctx, s, "entries", at, log, r, func(it item) (checkpointer.LogItem, error) {
		return checkpointer.LogItem{Seq: it.pos, ID: string(it.id), Data: append([]byte{}, it.data...)}, nil
	})
}

func entries[T any](ctx context.Context, s *Saver, op string, at checkpointer.Ref, log string, r checkpointer.Range, read func(item) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		v, err := newView(at, log, r)
		if err != nil {
			yield(*new(T), record.Wrap(op, at.Thread, err))
			return
		}
		for !v.over {
			var items []item
			err := s.read(ctx, op, at.Thread, func(q *tx) (err error) {
				items, err = v.next(q)
				return err
			})
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, it := range items {
				value, err := read(it)
				if err != nil {
					yield(*new(T), record.Wrap(op, at.Thread, s.typed(err)))
					return
				}
				if !yield(value, nil) {
					return
				}
			}
		}
	}
}

// Snapshot implements checkpointer.Snapshotter.
func (s *Saver) Snapshot(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) (cp checkpointer.Checkpoint, messages []langrooms.Message, err error) {
	const op = "snapshot"
	v, err := newView(at, checkpointer.LogMessages, r)
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
		cp, err = v.row.checkpoint(q, everything, map[valueKey][]byte{})
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

// Ancestors implements checkpointer.Walker, in pages of at most 100, each a transaction of
// its own.
func (s *Saver) Ancestors(ctx context.Context, at checkpointer.Ref, sel checkpointer.Selection, limit *int) iter.Seq2[checkpointer.Checkpoint, error] {
	const op = "ancestors"
	return func(yield func(checkpointer.Checkpoint, error) bool) {
		if err := record.CheckAncestors(at, sel, limit); err != nil {
			yield(checkpointer.Checkpoint{}, record.Wrap(op, at.Thread, err))
			return
		}
		left := -1
		if limit != nil {
			left = *limit
		}
		for first, over := true, false; !over; first = false {
			var found []checkpointer.Checkpoint
			err := s.read(ctx, op, at.Thread, func(q *tx) (err error) {
				found, at.ID, err = line(q, at, sel, left, first)
				return err
			})
			if err != nil {
				yield(checkpointer.Checkpoint{}, err)
				return
			}
			for _, cp := range found {
				if !yield(cp, nil) {
					return
				}
			}
			left -= len(found)
			over = at.ID == "" || left == 0
		}
	}
}

// line reads a page of ancestors beginning at a checkpoint, at most left if that is not
// negative. It returns where the next page begins; a parent that is not there, unless it
// is the first of all, ends the line.
func line(q *tx, at checkpointer.Ref, sel checkpointer.Selection, left int, first bool) (found []checkpointer.Checkpoint, next string, err error) {
	cache := map[valueKey][]byte{}
	for n := 0; n < page && (n != left || first); n++ {
		r, err := find(q, at)
		if errors.Is(err, checkpointer.ErrNotFound) && !first {
			return found, "", nil
		}
		if err != nil || n == left {
			return nil, "", err
		}
		cp, err := r.checkpoint(q, sel, cache)
		if err != nil {
			return nil, "", err
		}
		found, first, at.ID = append(found, cp), false, r.parent
		if r.parent == "" {
			break
		}
	}
	return found, at.ID, nil
}
