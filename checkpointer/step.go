package checkpointer

import (
	"time"

	"github.com/langrooms/langrooms"
)

// Step is what one superstep adds to a thread.
type Step struct {
	// ID of the new checkpoint; empty lets the saver choose one. A caller that may repeat
	// the call after an unknown outcome sets it.
	ID string
	// Base, when set, is the checkpoint of the same namespace whose messages, logs and
	// channels the step goes on from, in place of the parent's; the parent stays the
	// parent (LangGraph's "__copy__"). An unknown one is ErrNotFound.
	Base string
	// Log is appended to the messages, in order.
	Log []Entry
	// Logs are changes of named logs. LogMessages is not among them: ErrInvalid. Only a
	// [Logger] takes them.
	Logs map[string][]LogEntry
	// Channels are set to these values; a nil value is an empty one, and is a value.
	Channels map[string][]byte
	// Remove lists channels that are gone from this checkpoint on; one that is not there
	// changes nothing, one that Channels sets too is ErrInvalid.
	Remove []string
	// Metadata is kept with the checkpoint and can be filtered by. The keys "source",
	// "step" and "run_id" have LangGraph's meaning.
	Metadata Metadata
	// Fork allows parent to be older than the newest checkpoint: a branch begins there.
	// Nothing is copied and the branch never sees what the abandoned one holds.
	Fork bool
	// Truncate, when set, makes the branch see only messages of the parent (or of Base)
	// with Seq < *Truncate. It needs Fork.
	Truncate *int64
	// TruncateLogs does for named logs what Truncate does for messages.
	TruncateLogs map[string]int64
	// Time of the checkpoint; zero means now.
	Time time.Time
}

// Op is what an [Entry] or a [LogEntry] does to its log.
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

// LogMessages is the log that Step.Log changes and Saver.Messages reads.
const LogMessages = "messages"

// LogEntry is one change of a named log, with the rules of an [Entry]. Its name is an id
// that is not empty; logs and channels have their names apart.
type LogEntry struct {
	Op Op
	// ID of the entry. With OpAppend it may be empty: then nothing can replace or remove
	// the entry but a reset.
	ID string
	// Data is the content for OpAppend and OpReplace.
	Data []byte
}

// Task is who produced a write.
type Task struct {
	// ID of the task, unique in its superstep.
	ID string
	// Path of the task in its superstep; only the order of reading depends on it.
	Path string
}

// NullTask is the id under which LangGraph stores what answers a whole superstep, such as
// the resume of its only open interrupt.
const NullTask = "00000000-0000-0000-0000-000000000000"

// Write is one value that a task produced for a channel.
type Write struct {
	Channel string
	// Value nil is an empty value.
	Value []byte
}

// PendingWrite is a stored Write with its place.
type PendingWrite struct {
	Task  Task
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
