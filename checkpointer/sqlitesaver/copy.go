package sqlitesaver

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// CopyThread implements checkpointer.Copier. It is one transaction whose work grows with
// the thread.
func (s *Saver) CopyThread(ctx context.Context, from, to string) error {
	const op = "copy"
	if err := record.CheckCopy(from, to); err != nil {
		return record.Wrap(op, from, err)
	}
	return s.write(ctx, op, to, func(q *tx) error {
		old, err := findThread(q, from)
		if err != nil {
			return err
		}
		rows, err := allRows(q, old, from)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fmt.Errorf("thread %q: %w", from, checkpointer.ErrNotFound)
		}
		tid, err := newThread(q, to)
		if err != nil {
			return err
		}
		c := copier{q: q, old: old, tid: tid}
		if err := c.number(rows); err != nil {
			return err
		}
		for _, step := range []func() error{c.logs, func() error { return c.rows(rows, to) }, c.rest} {
			if err := step(); err != nil {
				return err
			}
		}
		return arrived(q, tid, c.seqs[rows[len(rows)-1].seq])
	})
}

// allRows reads a thread's checkpoints, oldest first.
func allRows(q *tx, tid int64, thread string) (all []*row, err error) {
	err = q.each(func(rows *sql.Rows) error {
		r, err := scanRow(thread, rows.Scan)
		all = append(all, r)
		return err
	}, "SELECT "+rowColumns+" FROM checkpoints c WHERE c.tid = ? ORDER BY c.seq", tid)
	return all, err
}

// copier copies a thread's rows: seqs and lids lead from the old numbers to the new ones.
type copier struct {
	q          *tx
	old, tid   int64
	seqs, lids map[int64]int64
}

// number gives every sequence that the thread knows a new one, in the same order.
func (c *copier) number(rows []*row) error {
	c.seqs = map[int64]int64{}
	for _, r := range rows {
		c.seqs[r.seq] = 0
		for _, seq := range r.channels {
			c.seqs[seq] = 0
		}
		for _, at := range r.logs {
			c.seqs[at.Version] = 0
		}
	}
	if err := c.keys(c.seqs, "SELECT seq FROM pruned WHERE tid = ?"); err != nil {
		return err
	}
	var next int64
	if err := c.q.row("SELECT seq FROM sqlite_sequence WHERE name = 'checkpoints'").Scan(&next); err != nil {
		return err
	}
	for _, seq := range slices.Sorted(maps.Keys(c.seqs)) {
		if seq > 0 { // 0 is no checkpoint's
			next++
			c.seqs[seq] = next
		}
	}
	return nil
}

func (c *copier) keys(m map[int64]int64, query string) error {
	return c.q.each(func(rows *sql.Rows) error {
		var key int64
		err := rows.Scan(&key)
		m[key] = 0
		return err
	}, query, c.old)
}

func (c *copier) logs() error {
	c.lids = map[int64]int64{}
	if err := c.keys(c.lids, "SELECT lid FROM logs WHERE tid = ?"); err != nil {
		return err
	}
	for _, lid := range slices.Sorted(maps.Keys(c.lids)) { // parents come first
		var parent sql.NullInt64
		if err := c.q.row("SELECT parent FROM logs WHERE lid = ?", lid).Scan(&parent); err != nil {
			return err
		}
		if parent.Valid {
			parent.Int64 = c.lids[parent.Int64]
		}
		next, err := c.q.insert(`INSERT INTO logs (tid, parent, parent_length, bound, length)
			SELECT ?, ?, parent_length, bound, length FROM logs WHERE lid = ?`, c.tid, parent, lid)
		if err != nil {
			return err
		}
		c.lids[lid] = next
		for _, query := range []string{
			"INSERT INTO messages (lid, pos, id, data) SELECT ?, pos, id, data FROM messages WHERE lid = ?",
			"INSERT INTO changes (lid, id, op, pos, data) SELECT ?, id, op, pos, data FROM changes WHERE lid = ?",
		} {
			if err := c.q.exec(query, next, lid); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *copier) rows(rows []*row, to string) error {
	for _, r := range rows {
		for name, seq := range r.channels {
			r.channels[name] = c.seqs[seq]
		}
		for name, at := range r.logs {
			r.logs[name] = logAt{c.lids[at.Lid], at.Length, c.seqs[at.Version]}
		}
		_, err := c.q.insert(`INSERT INTO checkpoints (seq, tid, ns, id, parent, time, lid, length, channels, metadata, digest)
			SELECT ?, ?, ns, id, parent, time, ?, length, x'', x'', digest FROM checkpoints WHERE seq = ?`,
			c.seqs[r.seq], c.tid, r.messages().Lid, r.seq)
		if err != nil {
			return err
		}
		if err := r.store(c.q, c.seqs[r.seq]); err != nil {
			return err
		}
	}
	return nil
}

// rest copies values, the writes of checkpoints that are there, and where pruned ones
// stood.
func (c *copier) rest() error {
	for old, seq := range c.seqs {
		for _, query := range []string{
			"INSERT INTO channel_values (tid, seq, name, value) SELECT ?1, ?2, name, value FROM channel_values WHERE tid = ?3 AND seq = ?4",
			"INSERT INTO pruned (tid, seq, ns, id) SELECT ?1, ?2, ns, id FROM pruned WHERE tid = ?3 AND seq = ?4",
		} {
			if err := c.q.exec(query, c.tid, seq, c.old, old); err != nil {
				return err
			}
		}
	}
	err := c.q.exec(`INSERT INTO writes (tid, ns, id, task, place, channel, value, path, call)
		SELECT ?1, ns, id, task, place, channel, value, path, call FROM writes w WHERE tid = ?2
		AND EXISTS (SELECT 1 FROM checkpoints c WHERE c.tid = ?2 AND c.ns = w.ns AND c.id = w.id)
		ON CONFLICT DO NOTHING`, c.tid, c.old)
	if err != nil {
		return err
	}
	// Calls go on being counted from where the origin stands.
	err = c.q.exec("UPDATE threads SET changes = changes + (SELECT changes FROM threads WHERE tid = ?) WHERE tid = ?", c.old, c.tid)
	if err != nil {
		return err
	}
	return c.q.exec(`DELETE FROM orphans WHERE tid = ?1 AND EXISTS (SELECT 1 FROM checkpoints c
		WHERE c.tid = ?1 AND c.ns = orphans.ns AND c.id = orphans.id)`, c.tid)
}

// graves is how many pruned checkpoints a thread remembers the places of.
const graves = 1000

// bury notes where checkpoints stood that are pruned.
func bury(q *tx, tid int64, gone []*row) error {
	for _, r := range gone {
		err := q.exec("INSERT INTO pruned (tid, seq, ns, id) VALUES (?, ?, ?, ?)", tid, r.seq, []byte(r.ref.Namespace), []byte(r.ref.ID))
		if err != nil {
			return err
		}
	}
	return q.exec(`DELETE FROM pruned WHERE tid = ?1 AND seq NOT IN
		(SELECT seq FROM pruned WHERE tid = ?1 ORDER BY seq DESC LIMIT ?2)`, tid, graves)
}

// dropOrphans removes writes whose checkpoint has not come in time, some at a time.
func dropOrphans(q *tx, now time.Time) error {
	type place struct {
		tid    int64
		ns, id string
	}
	var late []place
	err := q.each(func(rows *sql.Rows) error {
		var p place
		err := rows.Scan(&p.tid, &p.ns, &p.id)
		late = append(late, p)
		return err
	}, "SELECT tid, ns, id FROM orphans WHERE at < ? LIMIT 10", now.Add(-checkpointer.OrphanAge).UnixMilli())
	if err != nil {
		return err
	}
	for _, p := range late {
		for _, query := range []string{
			"DELETE FROM writes WHERE tid = ? AND ns = ? AND id = ?",
			"DELETE FROM orphans WHERE tid = ? AND ns = ? AND id = ?",
		} {
			if err := q.exec(query, p.tid, []byte(p.ns), []byte(p.id)); err != nil {
				return err
			}
		}
		// A thread of writes alone has gone with its last.
		err := q.exec("DELETE FROM threads WHERE tid = ?1 AND last = 0 AND NOT EXISTS (SELECT 1 FROM orphans WHERE tid = ?1)", p.tid)
		if err != nil {
			return err
		}
	}
	return nil
}
