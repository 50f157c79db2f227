package memorysaver

import (
	"context"
	"maps"
	"slices"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// graves is how many pruned checkpoints a thread remembers the places of.
const graves = 1000

// Prune implements checkpointer.Pruner. It takes time for each kept checkpoint and the
// length of its logs.
func (s *Saver) Prune(ctx context.Context, name string, keep checkpointer.Retention) (removed int, err error) {
	const op = "prune"
	if err := record.CheckPrune(name, keep); err != nil {
		return 0, record.Wrap(op, name, err)
	}
	err = s.do(ctx, op, name, func(t *thread) error {
		if err := s.checkFence(ctx, name); err != nil {
			return err
		}
		s.keepFence(ctx, name)
		if !t.exists() {
			return nil
		}
		if removed = t.prune(keep); removed > 0 {
			s.notify(checkpointer.Change{Thread: name})
		}
		if !t.exists() {
			s.drop(name)
		}
		return nil
	})
	return removed, err
}

func (t *thread) prune(keep checkpointer.Retention) (removed int) {
	seen := map[string]int{}
	var kept []*row
	var gone []grave
	for _, r := range slices.Backward(t.order) {
		where := place{r.ref.Namespace, r.ref.ID}
		seen[where.namespace]++
		if seen[where.namespace] <= keep.Keep || keep.RunID != "" && r.metadata["run_id"] != record.RunID(keep.RunID) ||
			!keep.Before.IsZero() && !r.time.Before(keep.Before) || keep.Keep > 0 && t.interrupted(where) {
			kept = append(kept, r)
			continue
		}
		delete(t.rows, where)
		delete(t.writes, where)
		gone = append(gone, grave{where, r.seq})
	}
	slices.Reverse(kept)
	slices.Reverse(gone)
	t.order = kept
	clear(t.newest)
	for _, r := range kept {
		t.newest[r.ref.Namespace] = r
	}
	t.pruned = append(t.pruned, gone...)
	t.pruned = slices.Clone(t.pruned[max(0, len(t.pruned)-graves):])
	trim(kept)
	return len(gone)
}

// trim drops from the logs what no row sees. Logs that none sees at all are no longer
// referred to.
func trim(rows []*row) {
	var positions []record.Position
	for _, r := range rows {
		positions = slices.AppendSeq(positions, maps.Values(r.logs))
	}
	lengths, use := record.Needed(positions)
	for l, end := range lengths {
		entries := make([]record.Placed, 0, len(l.Entries))
		for i := range l.Entries {
			e := &l.Entries[i]
			if use[e] == 0 {
				continue
			}
			kept := *e
			if use[e]&record.Content == 0 {
				kept.Data = nil
			}
			entries = append(entries, kept)
		}
		l.Entries, l.Length = entries, end
	}
}
