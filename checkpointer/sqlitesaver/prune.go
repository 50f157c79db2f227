package sqlitesaver

import (
	"context"
	"database/sql"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// Prune implements checkpointer.Pruner. It reads all checkpoints of the thread, without
// messages and values.
func (s *Saver) Prune(ctx context.Context, thread string, keep checkpointer.Retention) (removed int, err error) {
	const op = "prune"
	if err := record.CheckPrune(thread, keep); err != nil {
		return 0, record.Wrap(op, thread, err)
	}
	err = s.write(ctx, op, thread, func(q *tx) error {
		removed = 0
		tid, err := findThread(q, thread)
		if err != nil || tid == 0 {
			return err
		}
		p := pruner{q: q, tid: tid, thread: thread}
		if err := p.choose(keep.Keep, keep.RunID); err != nil {
			return err
		}
		if removed = len(p.removed); removed == 0 {
			return nil
		}
		for _, step := range []func() error{p.rows, p.values, p.logs} {
			if err := step(); err != nil {
				return err
			}
		}
		return touched(q, tid)
	})
	return removed, err
}

type pruner struct {
	q             *tx
	tid           int64
	thread        string
	kept, removed []*row
}

// choose parts the thread's checkpoints into those that stay and the others.
func (p *pruner) choose(keep int, runID string) error {
	interrupt, _ := checkpointer.SpecialIndex(checkpointer.ChannelInterrupt)
	interrupted := map[checkpointer.Ref]bool{}
	err := p.q.each(func(rows *sql.Rows) error {
		ref := checkpointer.Ref{Thread: p.thread}
		err := rows.Scan(&ref.Namespace, &ref.ID)
		interrupted[ref] = true
		return err
	}, "SELECT ns, id FROM writes WHERE tid = ? AND place = ?", p.tid, interrupt)
	if err != nil {
		return err
	}
	seen := map[string]int{}
	return p.q.each(func(rows *sql.Rows) error {
		r, err := scanRow(p.thread, rows.Scan)
		if err != nil {
			return err
		}
		seen[r.ref.Namespace]++
		if seen[r.ref.Namespace] <= keep || interrupted[r.ref] || runID != "" && r.metadata["run_id"] != record.RunID(runID) {
			p.kept = append(p.kept, r)
		} else {
			p.removed = append(p.removed, r)
		}
		return nil
	}, "SELECT "+rowColumns+" FROM checkpoints c WHERE c.tid = ? ORDER BY c.seq DESC", p.tid)
}

// rows removes checkpoints and their pending writes.
func (p *pruner) rows() error {
	for _, r := range p.removed {
		if err := p.q.exec("DELETE FROM checkpoints WHERE seq = ?", r.seq); err != nil {
			return err
		}
		err := p.q.exec("DELETE FROM writes WHERE tid = ? AND ns = ? AND id = ?", p.tid, []byte(r.ref.Namespace), []byte(r.ref.ID))
		if err != nil {
			return err
		}
	}
	return nil
}

// values removes the channel values that no remaining checkpoint carries.
func (p *pruner) values() error {
	needed := map[valueKey]bool{}
	for _, r := range p.kept {
		for name, seq := range r.channels {
			needed[valueKey{seq, name}] = true
		}
	}
	var gone []valueKey
	err := p.q.each(func(rows *sql.Rows) error {
		var key valueKey
		err := rows.Scan(&key.seq, &key.name)
		if !needed[key] {
			gone = append(gone, key)
		}
		return err
	}, "SELECT seq, name FROM channel_values WHERE tid = ?", p.tid)
	if err != nil {
		return err
	}
	for _, key := range gone {
		err := p.q.exec("DELETE FROM channel_values WHERE tid = ? AND seq = ? AND name = ?", p.tid, key.seq, []byte(key.name))
		if err != nil {
			return err
		}
	}
	return nil
}

// logs cuts every log to the length that is still seen, to nothing where none is.
func (p *pruner) logs() error {
	type link struct{ parent, parentLength int64 }
	links := map[int64]link{}
	err := p.q.each(func(rows *sql.Rows) error {
		var lid int64
		var l link
		err := rows.Scan(&lid, &l.parent, &l.parentLength)
		links[lid] = l
		return err
	}, "SELECT lid, ifnull(parent, 0), parent_length FROM logs WHERE tid = ?", p.tid)
	if err != nil {
		return err
	}
	needed := map[int64]int64{}
	for _, r := range p.kept {
		end := r.length
		for lid := r.lid; lid != 0; lid, end = links[lid].parent, links[lid].parentLength {
			needed[lid] = max(needed[lid], end)
		}
	}
	for lid := range links {
		if err := p.cut(lid, needed); err != nil {
			return err
		}
	}
	return nil
}

func (p *pruner) cut(lid int64, needed map[int64]int64) error {
	end, used := needed[lid]
	if err := p.q.exec("DELETE FROM messages WHERE lid = ? AND pos >= ?", lid, end); err != nil {
		return err
	}
	if err := p.q.exec("DELETE FROM changes WHERE lid = ? AND pos >= ?", lid, end); err != nil {
		return err
	}
	if !used {
		return p.q.exec("DELETE FROM logs WHERE lid = ?", lid)
	}
	return p.q.exec("UPDATE logs SET length = ? WHERE lid = ?", end, lid)
}
