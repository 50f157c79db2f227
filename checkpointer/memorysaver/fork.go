package memorysaver

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
	err := s.write(ctx, op, to, func(t *thread) error {
		from, err := s.live(at.Thread).find(at)
		if err != nil {
			return fmt.Errorf("thread %q: %w", at.Thread, err)
		}
		if t.exists() {
			return fmt.Errorf("the thread exists: %w", checkpointer.ErrConflict)
		}
		r := s.newRow(ref, nil, nil, time.Time{})
		r.metadata = record.WithSource(from.metadata, "fork")
		for name, v := range from.channels {
			r.channels[name] = value{v.data, r.seq}
			r.changed = append(r.changed, name)
		}
		slices.Sort(r.changed)
		for name, p := range from.logs {
			length := p.Length
			if name == checkpointer.LogMessages && upTo != nil {
				length = min(length, *upTo)
			}
			var items []record.Item
			if length > 0 {
				items = p.Visible(checkpointer.Range{To: length})
			}
			r.logs[name] = record.Position{Branch: baseLog(items, length), Length: length, Version: r.seq}
		}
		t.add(r)
		return nil
	})
	if err != nil {
		return checkpointer.Ref{}, err
	}
	return ref, nil
}

// CopyThread implements checkpointer.Copier.
func (s *Saver) CopyThread(ctx context.Context, from, to string) error {
	const op = "copy"
	if err := record.CheckCopy(from, to); err != nil {
		return record.Wrap(op, from, err)
	}
	return s.write(ctx, op, to, func(t *thread) error {
		source := s.live(from)
		if !source.exists() {
			return fmt.Errorf("thread %q: %w", from, checkpointer.ErrNotFound)
		}
		if t.exists() {
			return fmt.Errorf("the thread exists: %w", checkpointer.ErrConflict)
		}
		c := copier{source.renumbered(&s.seq), map[*record.Branch]*record.Branch{}, to}
		for _, r := range source.order {
			t.add(c.row(r))
		}
		for at, writes := range source.writes {
			if t.rows[at] != nil {
				t.writes[at] = maps.Clone(writes)
			}
		}
		for _, g := range source.pruned {
			t.pruned = append(t.pruned, grave{g.place, c.seq[g.seq]})
		}
		t.calls = source.calls
		return nil
	})
}

// renumbered gives every sequence that the thread knows a new one, in the same order.
func (t *thread) renumbered(next *int64) map[int64]int64 {
	seqs := map[int64]int64{}
	for _, r := range t.order {
		seqs[r.seq] = 0
		for _, v := range r.channels {
			seqs[v.version] = 0
		}
		for _, p := range r.logs {
			seqs[p.Version] = 0
		}
	}
	for _, g := range t.pruned {
		seqs[g.seq] = 0
	}
	for _, seq := range slices.Sorted(maps.Keys(seqs)) {
		*next++
		seqs[seq] = *next
	}
	return seqs
}

// copier copies the rows of a thread with their logs.
type copier struct {
	seq  map[int64]int64
	logs map[*record.Branch]*record.Branch
	to   string
}

func (c copier) row(r *row) *row {
	next := *r
	next.seq, next.ref.Thread = c.seq[r.seq], c.to
	next.channels, next.logs = map[string]value{}, map[string]record.Position{}
	for name, v := range r.channels {
		next.channels[name] = value{v.data, c.seq[v.version]}
	}
	for name, p := range r.logs {
		next.logs[name] = record.Position{Branch: c.log(p.Branch), Length: p.Length, Version: c.seq[p.Version]}
	}
	return &next
}

func (c copier) log(l *record.Branch) *record.Branch {
	if l == nil || c.logs[l] != nil {
		return c.logs[l]
	}
	next := *l
	next.Entries, next.Parent = slices.Clone(l.Entries), c.log(l.Parent)
	c.logs[l] = &next
	return &next
}

// Compact implements checkpointer.Compacter.
func (s *Saver) Compact(ctx context.Context, at checkpointer.Ref, summary langrooms.Message, keep int) (checkpointer.Ref, error) {
	data, err := record.CheckCompact(at, summary, keep)
	if err != nil {
		return checkpointer.Ref{}, record.Wrap("compact", at.Thread, err)
	}
	return s.compact(ctx, at, checkpointer.LogMessages, record.Item{ID: summary.ID, Data: data}, keep)
}

// CompactLog implements checkpointer.Logger.
func (s *Saver) CompactLog(ctx context.Context, at checkpointer.Ref, log string, summary checkpointer.LogItem, keep int) (checkpointer.Ref, error) {
	if err := record.CheckCompactLog(at, log, summary, keep); err != nil {
		return checkpointer.Ref{}, record.Wrap("compact", at.Thread, err)
	}
	return s.compact(ctx, at, log, record.Item{ID: summary.ID, Data: append([]byte{}, summary.Data...)}, keep)
}

func (s *Saver) compact(ctx context.Context, at checkpointer.Ref, log string, summary record.Item, keep int) (checkpointer.Ref, error) {
	ref := checkpointer.Ref{Thread: at.Thread, Namespace: at.Namespace, ID: langrooms.NewID()}
	err := s.write(ctx, "compact", at.Thread, func(t *thread) error {
		r, err := t.find(at)
		if err != nil {
			return err
		}
		if r != t.newest[at.Namespace] {
			return fmt.Errorf("checkpoint %q is not the newest: %w", at.ID, checkpointer.ErrConflict)
		}
		p := r.logs[log]
		newest := p.Visible(checkpointer.Range{Backward: true, Limit: checkpointer.N(keep + 1)})
		if len(newest) <= keep {
			ref = r.ref
			return nil
		}
		kept := newest[:keep]
		slices.Reverse(kept)
		summary.Pos = p.Length - 1
		if keep > 0 {
			summary.Pos = kept[0].Pos - 1
		}
		next := s.newRow(ref, r, r, time.Time{})
		next.metadata = record.WithSource(nil, "update")
		next.logs[log] = record.Position{Branch: baseLog(append([]record.Item{summary}, kept...), p.Length), Length: p.Length, Version: next.seq}
		t.add(next)
		return nil
	})
	if err != nil {
		return checkpointer.Ref{}, err
	}
	return ref, nil
}
