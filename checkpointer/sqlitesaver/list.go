package sqlitesaver

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// List implements checkpointer.Saver. It reads pages of at most 100 checkpoints, each in
// a transaction of its own.
func (s *Saver) List(ctx context.Context, q checkpointer.Query) iter.Seq2[checkpointer.Checkpoint, error] {
	return func(yield func(checkpointer.Checkpoint, error) bool) {
		const op = "list"
		if err := record.CheckQuery(q); err != nil {
			yield(checkpointer.Checkpoint{}, record.Wrap(op, q.Thread, err))
			return
		}
		filter, err := record.Metadata(q.Filter)
		if err != nil {
			yield(checkpointer.Checkpoint{}, record.Wrap(op, q.Thread, err))
			return
		}
		l := lister{q: q, left: -1, filter: filter, cache: map[valueKey][]byte{}}
		if q.Limit != nil {
			l.left = *q.Limit
		}
		for !l.over {
			var found []checkpointer.Checkpoint
			err := s.read(ctx, op, q.Thread, func(q *tx) (err error) {
				found, err = l.next(q)
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
		}
	}
}

// lister is the state of a listing between pages.
type lister struct {
	q      checkpointer.Query
	tid    int64
	below  int64 // the seq that was reached
	left   int   // of the limit; negative: no limit
	over   bool
	filter map[string]string
	cache  map[valueKey][]byte // of the present page
}

// begin finds the thread and the place where the listing starts.
func (l *lister) begin(q *tx) error {
	l.below = 1<<63 - 1
	err := q.row("SELECT tid FROM threads WHERE thread = ? AND (expires IS NULL OR expires > ?)",
		[]byte(l.q.Thread), time.Now().UnixMilli()).Scan(&l.tid)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	l.over = l.tid == 0
	if l.q.Before.ID == "" && l.q.BeforeID == "" {
		return nil
	}
	return l.before(q)
}

// before finds where the checkpoint stands, or stood, that the listing begins before.
func (l *lister) before(q *tx) error {
	at := checkpointer.Ref{Namespace: l.q.Before.Namespace, ID: cmp.Or(l.q.Before.ID, l.q.BeforeID)}
	for _, table := range []string{"checkpoints", "pruned"} {
		query := "SELECT seq FROM " + table + " WHERE tid = ? AND id = ?"
		args := []any{l.tid, []byte(at.ID)}
		if l.q.BeforeID == "" {
			query += " AND ns = ?"
			args = append(args, []byte(at.Namespace))
		}
		err := q.row(query+" ORDER BY seq DESC LIMIT 1", args...).Scan(&l.below)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return notFound(at)
}

// next returns the next checkpoints; it sets over with the last ones.
func (l *lister) next(q *tx) ([]checkpointer.Checkpoint, error) {
	if l.tid == 0 {
		if err := l.begin(q); err != nil || l.over {
			return nil, err
		}
	}
	n := page
	if l.left >= 0 && len(l.q.Filter) == 0 {
		n = min(n, l.left)
	}
	rows, err := l.rows(q, n)
	if err != nil {
		return nil, err
	}
	l.over = len(rows) < n
	clear(l.cache)
	var found []checkpointer.Checkpoint
	for _, r := range rows {
		l.below = r.seq
		if l.left == 0 || !record.Matches(r.metadata, l.filter) {
			continue
		}
		cp, err := r.checkpoint(q, l.q.Select, l.cache)
		if err != nil {
			return nil, err
		}
		found = append(found, cp)
		l.left--
	}
	l.over = l.over || l.left == 0
	return found, nil
}

func (l *lister) rows(q *tx, n int) (found []*row, err error) {
	query := "SELECT " + rowColumns + " FROM checkpoints c WHERE c.tid = ? AND c.seq < ?"
	args := []any{l.tid, l.below}
	if l.q.Namespace != nil {
		query += " AND c.ns = ?"
		args = append(args, []byte(*l.q.Namespace))
	}
	err = q.each(func(rows *sql.Rows) error {
		r, err := scanRow(l.q.Thread, rows.Scan)
		found = append(found, r)
		return err
	}, query+" ORDER BY c.seq DESC LIMIT ?", append(args, n)...)
	return found, err
}

// Threads implements checkpointer.Lister. It yields what there was at the first read.
func (s *Saver) Threads(ctx context.Context) iter.Seq2[checkpointer.ThreadInfo, error] {
	return func(yield func(checkpointer.ThreadInfo, error) bool) {
		infos, err := s.threadInfos(ctx)
		if err != nil {
			yield(checkpointer.ThreadInfo{}, fmt.Errorf("threads: %w", s.typed(err)))
			return
		}
		for _, info := range infos {
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (s *Saver) threadInfos(ctx context.Context) (infos []checkpointer.ThreadInfo, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.calls.Done()
	err = s.view(ctx, func(q *tx) error {
		return q.each(func(rows *sql.Rows) error {
			var info checkpointer.ThreadInfo
			var updated int64
			var sound bool
			if err := rows.Scan(&info.Thread, &updated, &info.Length, &sound); err != nil {
				return err
			}
			info.Updated = time.UnixMilli(updated).UTC()
			if !sound {
				info.Err = fmt.Errorf("thread %q: %w: its newest checkpoint", info.Thread, checkpointer.ErrFormat)
			}
			infos = append(infos, info)
			return nil
		}, `SELECT thread, updated, ifnull((SELECT length FROM checkpoints c
				WHERE c.tid = t.tid AND c.ns = x'' ORDER BY c.seq DESC LIMIT 1), 0),
				ifnull((SELECT json_valid(CAST(channels AS TEXT)) AND json_valid(CAST(metadata AS TEXT)) AND
					(logs = x'' OR json_valid(CAST(logs AS TEXT))) FROM checkpoints c WHERE c.seq = t.last), 0)
			FROM threads t WHERE last > 0 AND (expires IS NULL OR expires > ?) ORDER BY last DESC`, time.Now().UnixMilli())
	})
	return infos, err
}
