package sqlitesaver

import (
	"context"
	"database/sql"
)

// tx is one transaction.
type tx struct {
	ctx  context.Context
	conn *sql.Conn
}

func (q *tx) exec(query string, args ...any) error {
	_, err := q.conn.ExecContext(q.ctx, query, args...)
	return err
}

// insert returns the row id.
func (q *tx) insert(query string, args ...any) (int64, error) {
	result, err := q.conn.ExecContext(q.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// count returns the number of rows changed.
func (q *tx) count(query string, args ...any) (int64, error) {
	result, err := q.conn.ExecContext(q.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (q *tx) row(query string, args ...any) *sql.Row {
	return q.conn.QueryRowContext(q.ctx, query, args...)
}

// each calls f on every row of a query. f must not use q.
func (q *tx) each(f func(rows *sql.Rows) error, query string, args ...any) error {
	rows, err := q.conn.QueryContext(q.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// view runs f on one state of the database.
func (s *Saver) view(ctx context.Context, f func(q *tx) error) error {
	return transact(ctx, ctx, s.reader, "BEGIN", f)
}

// update runs f and commits, or leaves nothing behind. It waits for its turn until ctx
// ends; a transaction that has begun is brought to its end, which takes no waiting.
func (s *Saver) update(ctx context.Context, f func(q *tx) error) error {
	return transact(ctx, context.WithoutCancel(ctx), s.writer, "BEGIN IMMEDIATE", f)
}

func transact(ctx, inside context.Context, db *sql.DB, begin string, f func(q *tx) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.ExecContext(ctx, begin)
	if err == nil {
		if err = f(&tx{inside, conn}); err == nil {
			_, err = conn.ExecContext(inside, "COMMIT")
		}
	}
	if err != nil {
		// Also after a BEGIN that failed: it may have taken effect as ctx ended. The
		// error, that there is nothing to roll back, says nothing new.
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}
