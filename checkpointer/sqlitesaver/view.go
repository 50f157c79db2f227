package sqlitesaver

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// item is a visible message: its position, id and stored bytes.
type item struct {
	pos  int64
	id   []byte
	data []byte
}

// segment is the part of one log that a checkpoint sees: the entries below end, of
// these the messages from begin to before bound.
type segment struct {
	lid               int64
	begin, bound, end int64
	changes           bool // whether the log has entries that are not messages
}

// view reads the messages that one checkpoint sees, page by page, through its log and
// the logs that this one continues. Positions below a checkpoint's length never change,
// so a view stays right while others write.
type view struct {
	at    checkpointer.Ref
	log   string
	want  checkpointer.Range
	row   *row      // of the first read
	left  int       // of the limit; negative: no limit
	over  bool      // nothing is left to read
	chain []segment // newest first
	older *segment  // not yet read up, to follow the chain
	index int       // in chain, of the segment being read
	from  int64     // the positions still wanted
	to    int64
}

func newView(at checkpointer.Ref, log string, r checkpointer.Range) (*view, error) {
	if err := record.CheckEntries(at, log, r); err != nil {
		return nil, err
	}
	v := &view{at: at, log: log, want: r, left: -1, from: r.From, to: r.To}
	if r.Limit != nil {
		v.left = *r.Limit
	}
	return v, nil
}

// begin finds the checkpoint. Reading forwards starts at the oldest segment that holds
// wanted positions, so the chain is read up to there.
func (v *view) begin(q *tx) (err error) {
	if v.row, err = find(q, v.at); err != nil {
		return err
	}
	at := v.row.logs[v.log]
	if v.to == 0 || v.to > at.Length {
		v.to = at.Length
	}
	if at.Lid != 0 {
		v.older = &segment{lid: at.Lid, bound: at.Length, end: at.Length}
	}
	if v.want.Backward {
		return nil
	}
	for v.older != nil && v.older.bound > v.from {
		if err := v.extend(q); err != nil {
			return err
		}
	}
	v.index = len(v.chain) - 1
	return nil
}

// extend reads the next older segment of the chain. A reset ends it.
func (v *view) extend(q *tx) error {
	seg := *v.older
	var parent, reset sql.NullInt64
	var parentLength, bound int64
	err := q.row(`SELECT parent, parent_length, bound,
			(SELECT max(pos) FROM changes WHERE lid = ?1 AND id = x'' AND op = 2 AND pos < ?2),
			EXISTS (SELECT 1 FROM changes WHERE lid = ?1)
		FROM logs WHERE lid = ?1`, seg.lid, seg.end).Scan(&parent, &parentLength, &bound, &reset, &seg.changes)
	if err != nil {
		return missing(err, "a log", v.row)
	}
	v.older = nil
	if reset.Valid {
		seg.begin = reset.Int64 + 1
	} else if parent.Valid {
		v.older = &segment{lid: parent.Int64, end: parentLength, bound: min(bound, seg.bound)}
	}
	v.chain = append(v.chain, seg)
	return nil
}

// next returns the next messages, at most a page. It sets over with the last ones.
func (v *view) next(q *tx) ([]item, error) {
	if v.row == nil {
		if err := v.begin(q); err != nil {
			return nil, err
		}
	} else if err := v.stillThere(q); err != nil {
		return nil, err
	}
	var found []item
	for len(found) < page && v.left != 0 {
		seg, err := v.segment(q)
		if err != nil {
			return nil, err
		}
		if seg == nil {
			v.over = true
			break
		}
		n := page - len(found)
		if v.left > 0 {
			n = min(n, v.left)
		}
		items, err := v.read(q, seg, n)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			visible, err := v.resolve(q, &it)
			if err != nil {
				return nil, err
			}
			if visible {
				found = append(found, it)
				v.left--
			}
		}
		if len(items) < n {
			v.leave()
		}
	}
	v.over = v.over || v.left == 0
	return found, nil
}

// stillThere ends a reading whose checkpoint was deleted or pruned meanwhile.
func (v *view) stillThere(q *tx) error {
	err := q.row("SELECT seq FROM checkpoints WHERE seq = ?", v.row.seq).Scan(new(int64))
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("it was removed while it was read: %w", notFound(v.row.ref))
	}
	return err
}

// segment returns the segment to read from, nil when there is no more.
func (v *view) segment(q *tx) (*segment, error) {
	if v.index < 0 || v.from >= v.to {
		return nil, nil
	}
	if v.index == len(v.chain) {
		if v.older == nil {
			return nil, nil
		}
		if err := v.extend(q); err != nil {
			return nil, err
		}
	}
	return &v.chain[v.index], nil
}

// leave goes on to the next segment in the direction of reading.
func (v *view) leave() {
	if v.want.Backward {
		v.index++
	} else {
		v.index--
	}
}

// read returns the next n messages of a segment as they were appended.
func (v *view) read(q *tx, seg *segment, n int) (items []item, err error) {
	query := "SELECT pos, id, data FROM messages WHERE lid = ? AND pos >= ? AND pos < ? ORDER BY pos LIMIT ?"
	if v.want.Backward {
		query = "SELECT pos, id, data FROM messages WHERE lid = ? AND pos >= ? AND pos < ? ORDER BY pos DESC LIMIT ?"
	}
	err = q.each(func(rows *sql.Rows) error {
		var it item
		if err := rows.Scan(&it.pos, &it.id, &it.data); err != nil {
			return err
		}
		items = append(items, it)
		return nil
	}, query, seg.lid, max(v.from, seg.begin), min(v.to, seg.bound), n)
	if len(items) > 0 && v.want.Backward {
		v.to = items[len(items)-1].pos
	} else if len(items) > 0 {
		v.from = items[len(items)-1].pos + 1
	}
	return items, err
}

// resolve applies to a message of the present segment what later entries did to it, and
// reports whether it is still visible.
func (v *view) resolve(q *tx, it *item) (visible bool, err error) {
	replaced := false
	for i, seg := range v.chain[:v.index+1] {
		if !seg.changes {
			continue
		}
		after := int64(-1)
		if i == v.index {
			after = it.pos
		}
		var removed bool
		var data []byte
		err := q.row(`SELECT
			EXISTS (SELECT 1 FROM changes WHERE lid = ?1 AND id = ?2 AND op = 0 AND pos > ?3 AND pos < ?4),
			(SELECT data FROM changes WHERE lid = ?1 AND id = ?2 AND op = 1 AND pos > ?3 AND pos < ?4 ORDER BY pos DESC LIMIT 1)`,
			seg.lid, it.id, after, seg.end).Scan(&removed, &data)
		if err != nil || removed {
			return false, err
		}
		if data != nil && !replaced {
			it.data, replaced = data, true
		}
	}
	return true, nil
}
