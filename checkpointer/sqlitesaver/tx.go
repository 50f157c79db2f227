package sqlitesaver

import (
	"context"
	"database/sql"
)

// tx is one transaction.
type tx struct {
	ctx  context.Context
	link *link
}

// script runs statements that are not worth keeping prepared.
func (q *tx) script(query string) error {
	_, err := q.link.conn.ExecContext(q.ctx, query)
	return err
}

func (q *tx) run(query string, args []any) (sql.Result, error) {
	stmt, err := q.link.prepared(q.ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(q.ctx, args...)
}

func (q *tx) exec(query string, args ...any) error {
	_, err := q.run(query, args)
	return err
}

// insert returns the row id.
func (q *tx) insert(query string, args ...any) (int64, error) {
	result, err := q.run(query, args)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// count returns the number of rows changed.
func (q *tx) count(query string, args ...any) (int64, error) {
	result, err := q.run(query, args)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// row returns the first row of a query, to be scanned like an sql.Row.
func (q *tx) row(query string, args ...any) single {
	stmt, err := q.link.prepared(q.ctx, query)
	if err != nil {
		return single{err: err}
	}
	return single{row: stmt.QueryRowContext(q.ctx, args...)}
}

type single struct {
	row *sql.Row
	err error
}

// Scan reads the row; sql.ErrNoRows when there is none.
func (r single) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	return r.row.Scan(dest...)
}

// each calls f on every row of a query. f must not use q.
func (q *tx) each(f func(rows *sql.Rows) error, query string, args ...any) error {
	stmt, err := q.link.prepared(q.ctx, query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(q.ctx, args...)
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
func (s *Saver) view(ctx context.Context, f func(q *tx) error) (err error) {
	l, err := s.reader.take(ctx)
	if err != nil {
		return err
	}
	defer func() { s.reader.give(l, err) }()
	q := &tx{ctx, l}
	if err = q.exec("BEGIN"); err == nil {
		if err = f(q); err == nil {
			err = q.exec("COMMIT")
		}
	}
	if err != nil {
		q.rollback()
	}
	return err
}

// rollback ends a transaction, also after a BEGIN that failed: it may have taken effect as
// its context ended. The error, that there is nothing to roll back, says nothing new.
func (q *tx) rollback() {
	_ = (&tx{context.WithoutCancel(q.ctx), q.link}).exec("ROLLBACK")
}
