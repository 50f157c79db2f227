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
	kind, words := meaning(err)
	return fmt.Errorf("%s: %w: %s (%w)", s.cfg.Path, kind, words, err)
}

func meaning(err error) (kind error, words string) {
	code, ok := primary(err)
	if !ok {
		return checkpointer.ErrUnavailable, "the database does not answer"
	}
	switch code {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return checkpointer.ErrUnavailable, "the database is locked by another process"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return checkpointer.ErrUnavailable, "the file or its folder is read-only"
	case sqlite3.SQLITE_CANTOPEN:
		return checkpointer.ErrUnavailable, "the file cannot be opened"
	case sqlite3.SQLITE_FULL:
		return checkpointer.ErrUnavailable, "the disk is full"
	case sqlite3.SQLITE_IOERR:
		return checkpointer.ErrUnavailable, "the disk reports an error"
	case sqlite3.SQLITE_NOTADB:
		return checkpointer.ErrFormat, "the file is not an SQLite database"
	case sqlite3.SQLITE_CORRUPT:
		return checkpointer.ErrFormat, "the file is damaged"
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_MISMATCH:
		return checkpointer.ErrFormat, "the tables are not as this version makes them"
	case sqlite3.SQLITE_TOOBIG:
		return checkpointer.ErrTooLarge, "the database takes no value of this size"
	}
	return checkpointer.ErrUnavailable, "the database fails"
}
