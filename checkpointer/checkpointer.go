package checkpointer

import (
	"context"
	"iter"
	"time"

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
	// A write's place is (task, index): ordinary writes are indexed by their position in
	// w and the first one stored wins; writes to a special channel (see SpecialIndex)
	// have a fixed negative index and the last one stored wins. ErrFenced as for Put.
	PutWrites(ctx context.Context, at Ref, task string, w []Write) error

	// Get returns a checkpoint with its channels and pending writes, without messages.
	// ErrNotFound when there is none.
	Get(ctx context.Context, at Ref) (Checkpoint, error)

	// List yields checkpoints, newest first by sequence, as Get returns them but without
	// pending writes. After an error nothing follows. A thread that does not exist
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

// MaxID is the longest id in bytes that every store accepts.
const MaxID = 1024

// Step is what one superstep adds to a thread.
type Step struct {
	// ID of the new checkpoint; empty lets the saver choose one. A caller that may repeat
	// the call after an unknown outcome sets it.
	ID string
	// Log is appended to the messages, in order.
	Log []Entry
	// Channels are set to these values; nil and empty values are values.
	Channels map[string][]byte
	// Remove lists channels that are gone from this checkpoint on; one that is not there
	// changes nothing, one that Channels sets too is ErrInvalid.
	Remove []string
	// Metadata is kept with the checkpoint and can be filtered by. The keys "source",
	// "step" and "run_id" have LangGraph's meaning.
	Metadata map[string]string
	// Fork allows parent to be older than the newest checkpoint: a branch begins there.
	// Nothing is copied and the branch never sees what the abandoned one holds.
	Fork bool
	// Truncate, when set, makes the branch see only messages of the parent with Seq <
	// *Truncate. It needs Fork.
	Truncate *int64
	// Time of the checkpoint; zero means now.
	Time time.Time
}

// Op is what an [Entry] does to the log.
type Op string

// The operations of LangGraph's add_messages reducer.
const (
	// OpAppend adds Message at the end; its Seq is the log's length before.
	OpAppend Op = "append"
	// OpReplace gives the message of ID Message.ID new content at its old place. An id
	// that was appended several times names all these messages.
	OpReplace Op = "replace"
	// OpRemove takes the message of ID, or all of that id, out.
	OpRemove Op = "remove"
	// OpReset takes all messages out.
	OpReset Op = "reset"
)

// Entry is one change of the messages. Every entry, whatever its Op, takes one position
// of the log.
type Entry struct {
	Op Op
	// Message is the content for OpAppend and OpReplace. Its ID must be set.
	Message langrooms.Message
	// ID names the message for OpRemove. Replacing or removing a message that the
	// checkpoint does not see changes nothing.
	ID string
}

// Append returns entries that add messages at the end, in order.
func Append(messages ...langrooms.Message) []Entry {
	entries := make([]Entry, len(messages))
	for i, m := range messages {
		entries[i] = Entry{Op: OpAppend, Message: m}
	}
	return entries
}

// Checkpoint is a moment of a thread.
type Checkpoint struct {
	Ref Ref
	// Parent is the checkpoint it was put after; empty at a root.
	Parent string
	// Time is the step's.
	Time time.Time
	// Length is the log's length: one more than the greatest Seq visible, if nothing
	// was removed since. The next entry's position.
	Length int64
	// Channels are the values in force, those carried over from older checkpoints
	// included.
	Channels map[string][]byte
	// Metadata as put.
	Metadata map[string]string
	// Writes are the pending writes, ordered by task, then index.
	Writes []PendingWrite
}

// Write is one value that a task produced for a channel.
type Write struct {
	Channel string
	Value   []byte
}

// PendingWrite is a stored Write with its place.
type PendingWrite struct {
	Task  string
	Index int
	Write
}

// The special channels of LangGraph, written at most once a task; their last write wins.
const (
	ChannelError     = "__error__"
	ChannelScheduled = "__scheduled__"
	ChannelInterrupt = "__interrupt__"
	ChannelResume    = "__resume__"
)

// SpecialIndex returns the fixed index of a special channel: error −1, scheduled −2,
// interrupt −3, resume −4; ok is false for an ordinary channel.
func SpecialIndex(channel string) (index int, ok bool) {
	switch channel {
	case ChannelError:
		return -1, true
	case ChannelScheduled:
		return -2, true
	case ChannelInterrupt:
		return -3, true
	case ChannelResume:
		return -4, true
	}
	return 0, false
}

// Query selects checkpoints for List. All conditions must hold.
type Query struct {
	Thread string
	// Namespace nil means every namespace, which is not the same as the empty one.
	Namespace *string
	// Before, when its ID is set, keeps only checkpoints put before it, in any
	// namespace that Namespace allows. Its Namespace says where it is; its Thread is
	// ignored. An unknown one is ErrNotFound, also where the thread does not exist.
	Before Ref
	// Filter keeps checkpoints whose metadata holds all these values.
	Filter map[string]string
	// Limit nil means no limit; 0 yields nothing; negative is ErrInvalid.
	Limit *int
}

// Range selects messages by position.
type Range struct {
	// From and To keep messages with From <= Seq < To; To 0 means no upper bound.
	From, To int64
	// Limit nil means no limit; 0 yields nothing; negative is ErrInvalid. A store reads
	// no more than Limit messages (and the entries that hide some) in one round trip.
	Limit *int
	// Backward yields the newest first.
	Backward bool
}

// N returns a pointer to n, for the Limit fields.
func N(n int) *int { return &n }
