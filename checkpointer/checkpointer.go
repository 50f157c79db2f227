package checkpointer

import (
	"context"
	"iter"

	"github.com/langrooms/langrooms"
)

// Ref names a checkpoint. An empty ID means the newest one in (Thread, Namespace): the
// one that was put last, by sequence and never by clock.
type Ref struct{ Thread, Namespace, ID string }

// Saver stores the checkpoints of threads.
//
// Ids (thread, namespace, checkpoint, task, channel) are opaque: any valid UTF-8 of at
// most [MaxID] bytes, whatever characters they hold. Thread and checkpoint ids must not
// be empty where an operation needs them; the namespace may be. A bad id is [ErrInvalid].
//
// Every error names the operation and the thread. A store that cannot be reached is an
// error of its own and never [ErrNotFound]. After Close every method returns
// [ErrClosed]. When ctx ends before the store was asked nothing happens; a write that
// was begun is finished within a bounded time or has certainly not happened.
//
// Missing on purpose: no update in place, no read that creates, no listing by wildcard.
type Saver interface {
	// Put stores one checkpoint after parent: it appends step.Log to the log, sets
	// and removes channels, and makes the checkpoint the newest of its namespace, all
	// of it or nothing. It returns the new checkpoint's Ref.
	//
	// parent.ID names the checkpoint that the caller has read; empty means that the
	// caller found the namespace without one. When parent is not the newest checkpoint
	// (or the namespace has one although parent.ID is empty) the error is ErrConflict,
	// unless step.Fork asks for a branch. An unknown parent is ErrNotFound.
	//
	// Put is safe to repeat: when a checkpoint of step.ID is already there with the same
	// content the call succeeds and changes nothing; with other content it is
	// ErrConflict. A context with a fence (see WithFence) older than the thread's makes
	// it ErrFenced.
	Put(ctx context.Context, parent Ref, step Step) (Ref, error)

	// PutWrites stores what a task produced before its superstep was put, under the
	// checkpoint at. It may come before the Put of that checkpoint; then it becomes
	// visible with it. at.ID must be set.
	//
	// A write's place is (task.ID, index): ordinary writes are indexed by their position
	// in w and the first one stored wins; writes to a special channel (see SpecialIndex)
	// have a fixed negative index and the last one stored wins. ErrFenced as for Put.
	// Writes whose checkpoint has not come within [OrphanAge] may be dropped.
	PutWrites(ctx context.Context, at Ref, task Task, w []Write) error

	// Get returns a checkpoint with its channels and pending writes, without messages.
	// ErrNotFound when there is none.
	Get(ctx context.Context, at Ref) (Checkpoint, error)

	// List yields checkpoints, newest first by sequence, as Get returns them, with what
	// q.Select asks for. After an error nothing follows. A thread that does not exist
	// yields nothing.
	List(ctx context.Context, q Query) iter.Seq2[Checkpoint, error]

	// Messages yields the messages that the checkpoint at sees, each with Seq set, in
	// ascending order of Seq or, with r.Backward, descending. Replaced messages come
	// with their newest content at their first place; removed ones do not come. Breaking
	// off ends the reading: a store reads at most a page more than was consumed. The
	// messages seen are those of the moment of the first read. ErrNotFound (as the only
	// element) when there is no such checkpoint.
	Messages(ctx context.Context, at Ref, r Range) iter.Seq2[langrooms.Message, error]

	// DeleteThread removes everything of a thread in all namespaces; a thread that does
	// not exist is no error. ErrFenced as for Put. What a lease holder with an older
	// fence writes afterwards is refused.
	DeleteThread(ctx context.Context, thread string) error

	// Close releases the store's resources, waits for its goroutines, and is idempotent.
	Close() error
}
