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

// Get implements checkpointer.Saver.
func (s *Saver) Get(ctx context.Context, at checkpointer.Ref) (checkpointer.Checkpoint, error) {
	cp, _, err := s.snapshot(ctx, "get", at, checkpointer.Range{Limit: checkpointer.N(0)})
	return cp, err
}

// Snapshot implements checkpointer.Snapshotter.
func (s *Saver) Snapshot(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) (checkpointer.Checkpoint, []langrooms.Message, error) {
	const op = "snapshot"
	cp, items, err := s.snapshot(ctx, op, at, r)
	if err != nil {
		return checkpointer.Checkpoint{}, nil, err
	}
	messages, err := decoded(items)
	return cp, messages, record.Wrap(op, at.Thread, err)
}

func (s *Saver) snapshot(ctx context.Context, op string, at checkpointer.Ref, r checkpointer.Range) (cp checkpointer.Checkpoint, items []item, err error) {
	if err := checkRead(at, r); err != nil {
		return cp, nil, record.Wrap(op, at.Thread, err)
	}
	err = s.do(ctx, op, at.Thread, func(t *thread) error {
		row, err := t.find(at)
		if err != nil {
			return err
		}
		cp = row.checkpoint()
		cp.Writes = t.pending(row.ref)
		if r.Limit == nil || *r.Limit > 0 {
			items = row.visible(r)
		}
		return nil
	})
	return cp, items, err
}

func checkRead(at checkpointer.Ref, r checkpointer.Range) error {
	if err := record.CheckRef(at); err != nil {
		return err
	}
	return record.CheckRange(r)
}

// pending returns copies of the writes under ref, by task and index.
func (t *thread) pending(ref checkpointer.Ref) []checkpointer.PendingWrite {
	var writes []checkpointer.PendingWrite
	for where, w := range t.writes[place{ref.Namespace, ref.ID}] {
		w.Value = slices.Clone(w.Value)
		writes = append(writes, checkpointer.PendingWrite{Task: where.task, Index: where.index, Write: w})
	}
	slices.SortFunc(writes, func(a, b checkpointer.PendingWrite) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Index, b.Index))
	})
	return writes
}

// Messages implements checkpointer.Saver. The stored bytes are gathered at the first
// read and decoded one by one.
func (s *Saver) Messages(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	return func(yield func(langrooms.Message, error) bool) {
		const op = "messages"
		_, items, err := s.snapshot(ctx, op, at, r)
		if err != nil {
			yield(langrooms.Message{}, err)
			return
		}
		for _, it := range items {
			m, err := record.Decode(it.data, it.pos)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(langrooms.Message{}, record.Wrap(op, at.Thread, err))
				return
			}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// List implements checkpointer.Saver.
func (s *Saver) List(ctx context.Context, q checkpointer.Query) iter.Seq2[checkpointer.Checkpoint, error] {
	return func(yield func(checkpointer.Checkpoint, error) bool) {
		const op = "list"
		rows, err := s.before(ctx, op, q)
		left := len(rows)
		if q.Limit != nil {
			left = *q.Limit
		}
		for i := len(rows) - 1; err == nil && i >= 0 && left > 0; i-- {
			if !matches(rows[i], q) {
				continue
			}
			if err = ctx.Err(); err != nil {
				err = record.Wrap(op, q.Thread, err)
				break
			}
			if !yield(rows[i].checkpoint(), nil) {
				return
			}
			left--
		}
		if err != nil {
			yield(checkpointer.Checkpoint{}, err)
		}
	}
}

// before returns the rows put before q.Before, oldest first.
func (s *Saver) before(ctx context.Context, op string, q checkpointer.Query) (rows []*row, err error) {
	if err := record.CheckQuery(q); err != nil {
		return nil, record.Wrap(op, q.Thread, err)
	}
	err = s.do(ctx, op, q.Thread, func(t *thread) error {
		if t != nil {
			rows = t.order
		}
		if q.Before.ID == "" {
			return nil
		}
		r, err := t.find(q.Before)
		if err != nil {
			return err
		}
		end, _ := slices.BinarySearchFunc(rows, r.seq, func(r *row, seq int64) int { return cmp.Compare(r.seq, seq) })
		rows = rows[:end]
		return nil
	})
	return rows, err
}

func matches(r *row, q checkpointer.Query) bool {
	if q.Namespace != nil && *q.Namespace != r.ref.Namespace {
		return false
	}
	for k, v := range q.Filter {
		if got, ok := r.metadata[k]; !ok || got != v {
			return false
		}
	}
	return true
}
