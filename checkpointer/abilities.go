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
}

// Forker copies a thread's past to another thread. Without it a fork must read and put
// all messages anew. (A branch within a thread is a Put with Step.Fork.)
type Forker interface {
	// Fork makes the thread to begin as what the checkpoint at sees: messages with their
	// ids and Seq, channels, no pending writes. With a non-nil upTo only messages with Seq <
	// *upTo. ErrConflict when the thread to exists, ErrNotFound when at does not. The
	// fence for the thread to, if ctx carries one, is obeyed.
	Fork(ctx context.Context, at Ref, upTo *int64, to string) (Ref, error)
}

// Pruner forgets old checkpoints. Without it a thread keeps all its checkpoints until it
// is deleted.
type Pruner interface {
	// Prune keeps, in each namespace, the newest keep checkpoints (at least 1) and every
	// one that has a pending interrupt write, and removes the others with all that only they needed:
	// rows, writes, channel values, abandoned logs. What remains reads as before. With a
	// non-empty runID only checkpoints whose metadata "run_id" equals it are candidates. It
	// returns how many were removed. ErrFenced as for Put.
	Prune(ctx context.Context, thread string, keep int, runID string) (removed int, err error)
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

// Snapshotter reads a checkpoint and a piece of its messages at one moment. Use the
// function [Snapshot], which falls back to Get and Messages.
type Snapshotter interface {
	// Snapshot returns what Get and Messages return for at, of the same moment, in one
	// round trip.
	Snapshot(ctx context.Context, at Ref, r Range) (Checkpoint, []langrooms.Message, error)
}

// Snapshot reads a checkpoint and messages of it, in one round trip where the saver is a
// [Snapshotter].
func Snapshot(ctx context.Context, s Saver, at Ref, r Range) (Checkpoint, []langrooms.Message, error) {
	if snap, ok := s.(Snapshotter); ok {
		return snap.Snapshot(ctx, at, r)
	}
	cp, err := s.Get(ctx, at)
	if err != nil {
		return Checkpoint{}, nil, err
	}
	var messages []langrooms.Message
	for m, err := range s.Messages(ctx, cp.Ref, r) {
		if err != nil {
			return Checkpoint{}, nil, err
		}
		messages = append(messages, m)
	}
	return cp, messages, nil
}
