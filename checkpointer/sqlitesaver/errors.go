package sqlitesaver

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/langrooms/langrooms/checkpointer"
)

// primary is the result code of an error of SQLite without its extension.
func primary(err error) (code int, ok bool) {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0, false
	}
	return e.Code() & 0xff, true
}

func isBusy(err error) bool {
	code, _ := primary(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// typed gives an error of SQLite its identity in package checkpointer, the path and plain
// words. Errors that have an identity keep it.
func (s *Saver) typed(err error) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{
		checkpointer.ErrNotFound, checkpointer.ErrConflict, checkpointer.ErrFenced, checkpointer.ErrInvalid,
		checkpointer.ErrTooLarge, checkpointer.ErrClosed, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, known) {
			return err
		}
	}
	if errors.Is(err, checkpointer.ErrFormat) || errors.Is(err, checkpointer.ErrUnavailable) {
		return fmt.Errorf("%s: %w", s.cfg.Path, err)
	}
	words, kind := meaning(err)
	return fmt.Errorf("%s: %w: %s (%w)", s.cfg.Path, kind, words, err)
}

func meaning(err error) (words string, kind error) {
	code, ok := primary(err)
	if !ok {
		return "the database does not answer", checkpointer.ErrUnavailable
	}
	switch code {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "the database is locked by another process", checkpointer.ErrUnavailable
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return "the file or its folder is read-only", checkpointer.ErrUnavailable
	case sqlite3.SQLITE_CANTOPEN:
		return "the file cannot be opened", checkpointer.ErrUnavailable
	case sqlite3.SQLITE_FULL:
		return "the disk is full", checkpointer.ErrUnavailable
	case sqlite3.SQLITE_IOERR:
		return "the disk reports an error", checkpointer.ErrUnavailable
	case sqlite3.SQLITE_NOTADB:
		return "the file is not an SQLite database", checkpointer.ErrFormat
	case sqlite3.SQLITE_CORRUPT:
		return "the file is damaged", checkpointer.ErrFormat
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_MISMATCH:
		return "the tables are not as this version makes them", checkpointer.ErrFormat
	case sqlite3.SQLITE_TOOBIG:
		return "the database takes no value of this size", checkpointer.ErrTooLarge
	}
	return "the database fails", checkpointer.ErrUnavailable
}
