package memorysaver

import (
	"context"
	"slices"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// Prune implements checkpointer.Pruner.
func (s *Saver) Prune(ctx context.Context, name string, keep int, runID string) (removed int, err error) {
	const op = "prune"
	if err := record.CheckPrune(name, keep); err != nil {
		return 0, record.Wrap(op, name, err)
	}
	err = s.do(ctx, op, name, func(t *thread) error {
		if err := s.checkFence(ctx, name); err != nil {
			return err
		}
		if t == nil {
			return nil
		}
		if removed = t.prune(keep, runID); removed > 0 {
			s.keepFence(ctx, name)
			s.notify(checkpointer.Change{Thread: name})
		}
		return nil
	})
	return removed, err
}

func (t *thread) prune(keep int, runID string) (removed int) {
	seen := map[string]int{}
	var kept []*row
	for _, r := range slices.Backward(t.order) {
		where := place{r.ref.Namespace, r.ref.ID}
		seen[r.ref.Namespace]++
		if seen[r.ref.Namespace] <= keep || t.interrupted(where) || runID != "" && r.metadata["run_id"] != runID {
			kept = append(kept, r)
			continue
		}
		delete(t.rows, where)
		delete(t.writes, where)
		removed++
	}
	slices.Reverse(kept)
	t.order = kept
	trim(kept)
	return removed
}

func (t *thread) interrupted(where place) bool {
	for at := range t.writes[where] {
		if index, _ := checkpointer.SpecialIndex(checkpointer.ChannelInterrupt); at.index == index {
			return true
		}
	}
	return false
}

// trim drops the ends of logs that no row sees any more. Logs that none sees at all are
// no longer referred to.
func trim(rows []*row) {
	need := map[*log]int64{}
	for _, r := range rows {
		end := r.length
		for l := r.log; l != nil; end, l = l.parentLen, l.parent {
			need[l] = max(need[l], end)
		}
	}
	for l, end := range need {
		if n := l.before(end); n < len(l.entries) {
			l.entries = slices.Clone(l.entries[:n])
		}
		l.length = end
	}
}
