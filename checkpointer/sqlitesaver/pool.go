package sqlitesaver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// pool holds connections together with their prepared statements, which package
// database/sql does not: without that, half of a put's time goes into parsing SQL.
type pool struct {
	db *sql.DB
	// links has one element for each connection that may be used; nil for one that is
	// not open.
	links chan *link
	// only says that a connection is the database and must not be replaced.
	only bool
}

// link is one connection, used by one goroutine at a time.
type link struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func newPool(dsn string, size int, only bool) (*pool, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	p := &pool{db: db, links: make(chan *link, size), only: only}
	for range size {
		p.links <- nil
	}
	return p, nil
}

// take waits for a connection until ctx ends. The caller must give it back.
func (p *pool) take(ctx context.Context) (*link, error) {
	select {
	case l := <-p.links:
		if l != nil {
			return l, nil
		}
		conn, err := p.db.Conn(ctx)
		if err != nil {
			p.links <- nil
			return nil, err
		}
		return &link{conn, map[string]*sql.Stmt{}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// give returns a connection after a transaction that ended with err. One that broke, or
// was interrupted, is replaced.
func (p *pool) give(l *link, err error) {
	broken := errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if broken && !p.only {
		_ = l.close() // what is wrong with it has been reported
		l = nil
	}
	p.links <- l
}

// close closes the connections; all must have been given back.
func (p *pool) close() error {
	var errs []error
	for range cap(p.links) {
		if l := <-p.links; l != nil {
			errs = append(errs, l.close())
		}
	}
	return errors.Join(append(errs, p.db.Close())...)
}

// close also closes the statements: SQLite keeps a connection that has some.
func (l *link) close() error {
	var errs []error
	for _, stmt := range l.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, l.conn.Close())...)
}

// prepared returns the statement of a query, kept for the next time. Queries are
// constants, so their number is bounded.
func (l *link) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := l.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := l.conn.PrepareContext(ctx, query)
	if err == nil {
		l.stmts[query] = stmt
	}
	return stmt, err
}
