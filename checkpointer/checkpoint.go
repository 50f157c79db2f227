package checkpointer

import "time"

// Checkpoint is a moment of a thread. What a [Selection] leaves out is nil.
type Checkpoint struct {
	Ref Ref
	// Parent is the checkpoint it was put after; empty at a root.
	Parent string
	// Sequence orders the thread's checkpoints by their puts; there are gaps.
	Sequence int64
	// Time is the step's.
	Time time.Time
	// Length is the length of the messages' log: one more than the greatest Seq visible,
	// if nothing was removed since. The next entry's position.
	Length int64
	// Logs are the logs that hold or held entries, LogMessages included.
	Logs map[string]LogState
	// Channels are the values in force, those carried over from older checkpoints
	// included. Values are never nil.
	Channels map[string][]byte
	// Versions has for each channel in force, also where its value was not selected, the
	// Sequence of the checkpoint that last set it, also when that one has been pruned.
	// Equal versions of a channel within a thread are equal values.
	Versions map[string]int64
	// Changed names the channels that the step set or removed, sorted. Of a checkpoint
	// stored before format 2 the removed ones are not known.
	Changed []string
	// Metadata as put.
	Metadata Metadata
	// Writes are the pending writes, ordered by the task's path, its id, then index.
	Writes []PendingWrite
}

// LogState says where a checkpoint stands in a log.
type LogState struct {
	// Length is the position of the next entry.
	Length int64
	// Version is the Sequence of the checkpoint that last changed the log; 0 when a
	// format before 2 has not recorded it.
	Version int64
}

// Selection says which parts of a checkpoint are read. The zero value: all channels, no
// pending writes.
type Selection struct {
	// Channels are the names of those whose values are read. Nil means all, an empty
	// slice none. One that is not in force is left out.
	Channels []string
	// Writes says whether the pending writes are read.
	Writes bool
}

// Query selects checkpoints for List. All conditions must hold.
type Query struct {
	Thread string
	// Namespace nil means every namespace, which is not the same as the empty one.
	Namespace *string
	// Before, when its ID is set, keeps only checkpoints put before it, in any
	// namespace that Namespace allows. Its Namespace says where it is; its Thread is
	// ignored. An unknown one is ErrNotFound, also where the thread does not exist and
	// where Limit is 0. A store remembers at least the last 1,000 ids that a prune took
	// from a thread, so that a listing goes on.
	Before Ref
	// BeforeID is Before by id alone: in whatever namespace it is; where several have it,
	// the one put last. Not together with Before: ErrInvalid.
	BeforeID string
	// Filter keeps checkpoints whose metadata has all these values, equal in type and
	// value; numbers are compared as numbers, nested values whole.
	Filter Metadata
	// Limit nil means no limit; 0 yields nothing; negative is ErrInvalid.
	Limit *int
	// Select says what is read of each checkpoint. A page of a listing sends a value
	// that several of its checkpoints carry once. A store that is no [Selector] ignores it.
	Select Selection
}

// Range selects messages, or entries of a log, by position.
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
