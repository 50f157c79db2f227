package memorysaver

import (
	"context"
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
	need, use := map[*log]int64{}, map[*entry]used{}
	for _, r := range rows {
		for _, p := range r.logs {
			p.mark(need, use)
		}
	}
	for _, r := range rows { // what hides an entry that another row needs
		for _, p := range r.logs {
			p.markHiding(use)
		}
	}
	for l, end := range need {
		entries := make([]entry, 0, len(l.entries))
		for i := range l.entries[:l.before(end)] {
			e := &l.entries[i]
			if use[e] == 0 {
				continue
			}
			kept := *e
			if use[e]&content == 0 {
				kept.Data = nil
			}
			entries = append(entries, kept)
		}
		l.entries, l.length = entries, end
	}
}

// used says what of an entry is needed.
type used int

const (
	presence used = 1 << iota
	content
)

// mark notes how far p sees its logs, and the entries that make up what it sees.
func (p position) mark(need map[*log]int64, use map[*entry]used) {
	end := p.length
	for l := p.log; l != nil; end, l = l.parentLen, l.parent {
		need[l] = max(need[l], end)
	}
	p.walk(func(at, source, _ *entry) bool {
		if source != nil {
			use[at] |= presence
			use[source] |= presence | content
		}
		return true
	})
}

// markHiding notes the entries without which p would see what it must not.
func (p position) markHiding(use map[*entry]used) {
	reset := p.walk(func(at, _, remover *entry) bool {
		if remover != nil && use[at] != 0 {
			use[remover] |= presence
		}
		return true
	})
	if reset != nil {
		use[reset] |= presence
	}
}
