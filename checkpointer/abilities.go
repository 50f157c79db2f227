package checkpointer

import (
	"context"
	"iter"
	"time"

	"github.com/langrooms/langrooms"
)

// Locker gives one writer at a time a thread. Without it a program must see to that
// itself: puts are still safe (ErrConflict), but two runs can fail each other.
type Locker interface {
	// Lock waits for the thread's lease, in order of arrival, until ctx ends. The lease
	// is renewed until Release; a holder that is killed or stopped loses it within 20
	// seconds. A thread need not exist to be locked, and locking does not create it for
	// Get, List or Threads.
	Lock(ctx context.Context, thread string) (Lease, error)
}

// Lease is a held lock on a thread.
type Lease interface {
	// Context is derived from the one given to Lock: it carries the fencing token (see
	// WithFence) and ends, with cause ErrFenced, when the lease is lost. When that is
	// because the store could not be reached to renew it, so that nobody knows whether
	// another writer has it, the cause matches ErrUnavailable too.
	Context() context.Context
	// Release gives the lease back and ends Context. Idempotent; releasing a lease that
	// was lost is no error. It works although the context given to Lock has ended.
	Release() error
}

// HeadLocker saves a turn's first round trip. Without it a caller locks, then reads.
type HeadLocker interface {
	// LockHead is Lock, then Snapshot of the newest checkpoint of at's namespace (at.ID
	// must be empty: ErrInvalid) as it is under the lease: one round trip when the
	// lease is free. Where there is no checkpoint the zero one is returned and no error. With
	// an error there is no lease.
	LockHead(ctx context.Context, at Ref, r Range) (Lease, Checkpoint, []langrooms.Message, error)
}

// LastPutter is a [Lease] that saves a turn's last round trip. Without it a caller puts,
// then releases.
type LastPutter interface {
	// PutLast is Put on the lease's thread with its fence. When it succeeds the lease has
	// been given back, in the same round trip; when it fails the lease is held as before.
	PutLast(ctx context.Context, parent Ref, step Step) (Ref, error)
}

// Lister names the threads of the store. Without it `thread list` cannot be offered.
type Lister interface {
	// Threads yields all threads, most recently put first. After an error nothing
	// follows.
	Threads(ctx context.Context) iter.Seq2[ThreadInfo, error]
}

// ThreadInfo is one thread in a listing.
type ThreadInfo struct {
	Thread string
	// Updated is when the thread was last put to.
	Updated time.Time
	// Length is the length of the empty namespace's newest log.
	Length int64
	// Err, when set, says why the thread cannot be read; it matches ErrFormat. Such a
	// thread can be deleted.
	Err error
}

// Forker copies a thread's past to another thread. Without it a fork must read and put
// all messages anew. (A branch within a thread is a Put with Step.Fork.)
type Forker interface {
	// Fork makes the thread to begin as what the checkpoint at sees: messages with their
	// ids and Seq, named logs, channels, no pending writes. With a non-nil upTo only messages with Seq <
	// *upTo. ErrConflict when the thread to exists, ErrNotFound when at does not. The
	// fence for the thread to, if ctx carries one, is obeyed.
	Fork(ctx context.Context, at Ref, upTo *int64, to string) (Ref, error)
}

// Copier copies a thread with its history. Without it a copy must be put anew.
type Copier interface {
	// CopyThread makes the thread to with all that from holds, in one moment: every
	// namespace and checkpoint with its id, order, parent, logs, channels and pending
	// writes. Sequences and versions may be others, in the same order. The TTL is the
	// store's default. ErrConflict when to exists, ErrNotFound when from does not. The
	// fence for the thread to, if ctx carries one, is obeyed.
	CopyThread(ctx context.Context, from, to string) error
}

// Pruner forgets old checkpoints. Without it a thread keeps all its checkpoints until it
// is deleted.
type Pruner interface {
	// Prune removes checkpoints with all that only they needed: rows, writes, channel
	// values, log entries. What remains reads as before, and contents that no remaining
	// checkpoint sees, such as a replaced or removed message, are not in the store any
	// more, whether checkpoints were removed or not. A checkpoint with an open interrupt
	// stays: one to which no later call than the interrupt's has stored a resume write of
	// the same task or of [NullTask]. It returns how many checkpoints were removed.
	// ErrFenced as for Put.
	Prune(ctx context.Context, thread string, r Retention) (removed int, err error)
}

// Retention says what a prune keeps. A checkpoint goes when every condition lets it go.
type Retention struct {
	// Keep is how many checkpoints, the newest, stay in each namespace: at least 1, or 0
	// together with RunID.
	Keep int
	// Before, when set, lets only checkpoints go whose Time is before it.
	Before time.Time
	// RunID, when set, lets only checkpoints go whose metadata "run_id" is this string.
	// With Keep 0 they all go, interrupted ones too; a thread that has none left is gone.
	RunID string
}

// Compacter replaces the older messages of a thread by a summary. Without it compaction
// is not offered.
type Compacter interface {
	// Compact puts a checkpoint after at, the newest one (else ErrConflict), that sees
	// summary and then the keep newest messages of at, these with their ids and Seq
	// unchanged; the summary stands at the position before the first of them. The old log
	// stays reachable through older checkpoints until it is pruned. When at has no more
	// than keep messages nothing is done and at is returned. ErrFenced as for Put.
	Compact(ctx context.Context, at Ref, summary langrooms.Message, keep int) (Ref, error)
}

// Logger has logs beside the messages: what grows in any other channel. Forks,
// truncation, pruning and expiry hold for them as for messages. Without it
// Step.Logs must be empty.
type Logger interface {
	// Entries yields the entries of the log that the checkpoint at sees, as
	// Saver.Messages does. A log without entries yields nothing. The log
	// LogMessages holds the messages in their stored form.
	Entries(ctx context.Context, at Ref, log string, r Range) iter.Seq2[LogItem, error]
	// CompactLog is Compact for a named log; summary.Seq is ignored. LogMessages is
	// ErrInvalid.
	CompactLog(ctx context.Context, at Ref, log string, summary LogItem, keep int) (Ref, error)
}

// LogItem is an entry of a log as a checkpoint sees it.
type LogItem struct {
	// Seq is its position.
	Seq  int64
	ID   string
	Data []byte
}

// Selector reads parts of checkpoints. Without it everything is read, and Query.Select
// has no effect.
type Selector interface {
	// Select returns what Get does, of it what sel asks for, in one round trip; a value
	// that is not selected does not leave the store.
	Select(ctx context.Context, at Ref, sel Selection) (Checkpoint, error)
}

// Walker follows a checkpoint's line. Without it each ancestor is a Get.
type Walker interface {
	// Ancestors yields the checkpoint at, its parent, the parent's parent and so on, with
	// what sel asks for, a page in one round trip. limit nil means no limit. It ends at a
	// root, or where the parent has been pruned; a caller goes on later with the last
	// Parent. ErrNotFound (as the only element) when there is no checkpoint at.
	Ancestors(ctx context.Context, at Ref, sel Selection, limit *int) iter.Seq2[Checkpoint, error]
}

// Searcher narrows down where words can stand. Without it every thread is read.
type Searcher interface {
	// MayHold returns the threads, the newest put first, that store a message in which all of the
	// words can stand, in either case of their letters. It misses none, and may name one that holds
	// them no more, or apart: whoever searches reads it. What was said incognito does not count. ok
	// is false where the store cannot tell by these words; then every thread is to be read.
	MayHold(ctx context.Context, words []string) (threads []string, ok bool, err error)
}

// Expirer lets whole threads end after a time of disuse. Without it threads stay until
// deleted.
type Expirer interface {
	// SetTTL makes thread expire ttl after its last put, all of it or nothing; 0 pins it.
	// It overrides the store's default TTL for this thread. ErrNotFound when it does not exist.
	SetTTL(ctx context.Context, thread string, ttl time.Duration) error
}

// Watcher tells when threads change, for live views. Without it a view polls.
type Watcher interface {
	// Watch yields whenever thread may have changed since the last yield; several changes
	// may come as one and one may come without a change. It ends when ctx ends (yielding no
	// error) or with an error.
	Watch(ctx context.Context, thread string) iter.Seq2[Change, error]
}

// Change says that a thread may have changed.
type Change struct {
	Thread string
	// Deleted is true when the thread is known to be gone.
	Deleted bool
}
