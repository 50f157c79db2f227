package sqlitesaver

import (
	"context"
	"database/sql"
	"slices"

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
		if err := p.choose(keep); err != nil || len(p.kept)+len(p.removed) == 0 {
			return err
		}
		removed = len(p.removed)
		if len(p.kept) == 0 {
			return removeThread(q, tid)
		}
		for _, step := range []func() error{p.rows, p.values, p.logs} {
			if err := step(); err != nil {
				return err
			}
		}
		if removed == 0 {
			return nil
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
func (p *pruner) choose(keep checkpointer.Retention) error {
	interrupted, err := p.interrupted()
	if err != nil {
		return err
	}
	all, err := allRows(p.q, p.tid, p.thread)
	if err != nil {
		return err
	}
	seen := map[string]int{}
	for _, r := range slices.Backward(all) {
		seen[r.ref.Namespace]++
		if seen[r.ref.Namespace] <= keep.Keep || keep.RunID != "" && r.metadata["run_id"] != record.RunID(keep.RunID) ||
			!keep.Before.IsZero() && !r.time.Before(keep.Before) || keep.Keep > 0 && interrupted[r.ref] {
			p.kept = append(p.kept, r)
		} else {
			p.removed = append(p.removed, r)
		}
	}
	return nil
}

// interrupted finds the checkpoints with an open interrupt: one that no later call has
// answered by a resume of its task or of the whole superstep.
func (p *pruner) interrupted() (map[checkpointer.Ref]bool, error) {
	interrupt, _ := checkpointer.SpecialIndex(checkpointer.ChannelInterrupt)
	resume, _ := checkpointer.SpecialIndex(checkpointer.ChannelResume)
	open := map[checkpointer.Ref]bool{}
	err := p.q.each(func(rows *sql.Rows) error {
		ref := checkpointer.Ref{Thread: p.thread}
		err := rows.Scan(&ref.Namespace, &ref.ID)
		open[ref] = true
		return err
	}, `SELECT ns, id FROM writes w WHERE tid = ?1 AND place = ?2 AND NOT EXISTS (SELECT 1 FROM writes r
		WHERE r.tid = ?1 AND r.ns = w.ns AND r.id = w.id AND r.task IN (w.task, ?4) AND r.place = ?3 AND r.call > w.call)`,
		p.tid, interrupt, resume, []byte(checkpointer.NullTask))
	return open, err
}

// rows removes checkpoints and their pending writes.
func (p *pruner) rows() error {
	if len(p.removed) == 0 {
		return nil
	}
	for _, r := range p.removed {
		if err := p.q.exec("DELETE FROM checkpoints WHERE seq = ?", r.seq); err != nil {
			return err
		}
		err := p.q.exec("DELETE FROM writes WHERE tid = ? AND ns = ? AND id = ?", p.tid, []byte(r.ref.Namespace), []byte(r.ref.ID))
		if err != nil {
			return err
		}
	}
	if err := p.q.exec("UPDATE threads SET last = ? WHERE tid = ?", p.kept[0].seq, p.tid); err != nil {
		return err
	}
	return bury(p.q, p.tid, p.removed)
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

// logs removes of every log what no remaining checkpoint sees.
func (p *pruner) logs() error {
	branches, err := p.branches()
	if err != nil {
		return err
	}
	var positions []record.Position
	for _, r := range p.kept {
		for _, at := range r.logs {
			positions = append(positions, record.Position{Branch: branches[at.Lid], Length: at.Length})
		}
	}
	lengths, use := record.Needed(positions)
	for lid, b := range branches {
		if err := p.cut(lid, b, lengths, use); err != nil {
			return err
		}
	}
	return nil
}

// branches reads the thread's logs without the data of their entries.
func (p *pruner) branches() (map[int64]*record.Branch, error) {
	branches, parents := map[int64]*record.Branch{}, map[*record.Branch]int64{}
	err := p.q.each(func(rows *sql.Rows) error {
		var lid, parent int64
		b := &record.Branch{}
		err := rows.Scan(&lid, &parent, &b.ParentLen, &b.Bound, &b.Length)
		branches[lid], parents[b] = b, parent
		return err
	}, "SELECT lid, ifnull(parent, 0), parent_length, bound, length FROM logs WHERE tid = ?", p.tid)
	if err != nil {
		return nil, err
	}
	for b, parent := range parents {
		b.Parent = branches[parent]
	}
	err = p.q.each(func(rows *sql.Rows) error {
		var lid int64
		var op int
		var e record.Placed
		err := rows.Scan(&lid, &e.Pos, &e.ID, &op)
		e.Op = operations[op]
		branches[lid].Entries = append(branches[lid].Entries, e)
		return err
	}, `SELECT lid, pos, id, op FROM (
		SELECT m.lid AS lid, m.pos AS pos, m.id AS id, 3 AS op FROM logs l JOIN messages m ON m.lid = l.lid WHERE l.tid = ?1
		UNION ALL SELECT c.lid, c.pos, c.id, c.op FROM logs l JOIN changes c ON c.lid = l.lid WHERE l.tid = ?1)
		ORDER BY lid, pos`, p.tid)
	return branches, err
}

// operations are those of the table changes, and at 3 that of messages.
var operations = map[int]checkpointer.Op{opRemove: checkpointer.OpRemove, opReplace: checkpointer.OpReplace, opReset: checkpointer.OpReset, 3: checkpointer.OpAppend}

func (p *pruner) cut(lid int64, b *record.Branch, lengths map[*record.Branch]int64, use map[*record.Placed]record.Use) error {
	for i := range b.Entries {
		e := &b.Entries[i]
		query := ""
		switch {
		case use[e] == 0 && e.Op == checkpointer.OpAppend:
			query = "DELETE FROM messages WHERE lid = ? AND pos = ?"
		case use[e] == 0:
			query = "DELETE FROM changes WHERE lid = ? AND pos = ?"
		case e.Op == checkpointer.OpAppend && use[e]&record.Content == 0:
			query = "UPDATE messages SET data = x'' WHERE lid = ? AND pos = ?"
		default:
			continue
		}
		if err := p.q.exec(query, lid, e.Pos); err != nil {
			return err
		}
	}
	end, used := lengths[b]
	if !used {
		return p.q.exec("DELETE FROM logs WHERE lid = ?", lid)
	}
	return p.q.exec("UPDATE logs SET length = ? WHERE lid = ? AND length <> ?", end, lid, end)
}
