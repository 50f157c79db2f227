package checkpointer

import "errors"

// The errors of a saver, compared by errors.Is. Each is wrapped with the operation and
// the thread.
var (
	// ErrNotFound: no such thread or checkpoint. Never a store that is down.
	ErrNotFound = errors.New("not found")
	// ErrConflict: another writer has put a newer checkpoint; read again.
	ErrConflict = errors.New("conflict: the thread has moved on")
	// ErrFenced: the lease that this writer relied on has passed to another, or the
	// thread was deleted; nothing was written.
	ErrFenced = errors.New("fenced: the lease on the thread was lost")
	// ErrInvalid: the arguments cannot be used; nothing was written.
	ErrInvalid = errors.New("invalid argument")
	// ErrTooLarge: a value exceeds what the store takes; nothing was written.
	ErrTooLarge = errors.New("value too large")
	// ErrFormat: what is stored is not of a kind or version that this program can read;
	// nothing was written.
	ErrFormat = errors.New("unreadable stored data")
	// ErrUnavailable: the store cannot be reached or refuses work (locked, read-only,
	// full). Nothing is known to have been written.
	ErrUnavailable = errors.New("store unavailable")
	// ErrClosed: the saver has been closed.
	ErrClosed = errors.New("saver is closed")
)
