package runs

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/langrooms/langrooms"
)

// Status is where a run is, by LangGraph's names.
type Status string

// The states of a run.
const (
	// Pending: accepted, and waiting for an earlier run of its thread.
	Pending Status = "pending"
	// Running: its turn is under way.
	Running Status = "running"
	// Success: it ended with an answer, which may be that a delegate failed.
	Success Status = "success"
	// Failed: an error of ours ended it; Run.Error says which.
	Failed Status = "error"
	// Interrupted: it was cancelled. What it had written stays.
	Interrupted Status = "interrupted"
)

// Live reports whether a run of this status is still to end.
func (s Status) Live() bool { return s == Pending || s == Running }

// Strategy says what becomes of a run on a thread that has a live one.
type Strategy string

// The strategies, by LangGraph's names (multitask_strategy).
const (
	// Enqueue runs them in order of acceptance. It is the default.
	Enqueue Strategy = "enqueue"
	// Reject refuses the new one with [ErrBusy].
	Reject Strategy = "reject"
	// Interrupt cancels the live ones, keeps what they wrote, then runs.
	Interrupt Strategy = "interrupt"
	// Rollback cancels the live ones, takes back what they wrote, then runs.
	Rollback Strategy = "rollback"
)

// Input is what a run is about.
type Input struct {
	// Text is what the person said, as typed, with its @names. Empty means that nothing is
	// said: the turn goes on from Checkpoint.
	Text string
	// Message, when its ID is set, is Text's message as the client sent it: it is stored
	// under that id.
	Message langrooms.Message
	// Before are messages that the thread is given first.
	Before []langrooms.Message
	// Notice, instead of a text, wakes the lead with what has landed on the thread.
	Notice string
	// Checkpoint is where the turn starts; empty means the head. Another one begins a branch,
	// which keeps what the checkpoint sees before position UpTo; nil keeps all.
	Checkpoint string
	UpTo       *int64
	// Incognito keeps the content out of logs, traces, exports and summaries, and its events
	// out of the store.
	Incognito bool
	// Ask lets members ask a person's leave while the turn runs; without it they are told that
	// nobody can be asked.
	Ask bool
	// Answer sends the text to the task of its one addressee that waits for an answer.
	Answer bool
	// ToLead gives the text to the lead whatever it begins with.
	ToLead bool
	// Trace names the installations that the message has come through; see delegate.Trace.
	Trace []string
}

// Request asks for a run.
type Request struct {
	Thread string
	// Strategy is [Enqueue] when empty.
	Strategy Strategy
	// After puts the beginning off.
	After time.Duration
	// Key, when set, makes the request one that can be sent again: of several on the thread with
	// one key the first is taken on, and the others come to its run. It is looked for among the
	// newest 100 runs of the thread. Digest stands for what is asked for: a key that comes with
	// another one is [ErrKeyReused]. Both are stored as they are: what a client calls its key is to
	// be made a digest first, with the client's name.
	Key, Digest string
	Input       Input
	// Metadata and Kwargs are the client's, kept with the record; neither is looked at.
	Metadata json.RawMessage
	Kwargs   json.RawMessage
}

// Run is the record of a run.
type Run struct {
	ID       string          `json:"id"`
	Thread   string          `json:"-"`
	Status   Status          `json:"status"`
	Strategy Strategy        `json:"strategy"`
	Created  time.Time       `json:"created"`
	Updated  time.Time       `json:"updated"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Kwargs   json.RawMessage `json:"kwargs,omitempty"`
	// Error says what went wrong with a failed run, in words that may be shown.
	Error string `json:"error,omitempty"`
	// Base is the thread's head when the turn began; empty where there was none.
	Base string `json:"base,omitempty"`
	// Length is the length of its log then.
	Length int64 `json:"length,omitempty"`
	// Owner is the process that runs it.
	Owner string `json:"owner"`
	// Key and Digest are those of its request.
	Key    string `json:"key,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Again says, of what Accept returns, that an earlier request with the same key asked for it.
	Again bool `json:"-"`
}

// EventType says what an [Event] is about.
type EventType string

// The events of a run, in the order in which they can come.
const (
	// EventStatus: Run.Status has changed. The last event of a run is one whose status is
	// not live.
	EventStatus EventType = "status"
	// EventTurn: something happened in the turn; Turn is set.
	EventTurn EventType = "turn"
	// EventStored: Message stands on the thread, as of Checkpoint.
	EventStored EventType = "stored"
	// EventResult: the turn has come to Result.
	EventResult EventType = "result"
)

// Event is one thing that happened to a run.
type Event struct {
	// Seq counts a run's events from 0.
	Seq    int64             `json:"-"`
	Type   EventType         `json:"type"`
	Time   time.Time         `json:"time"`
	Status Status            `json:"status,omitempty"`
	Error  string            `json:"error,omitempty"`
	Turn   *langrooms.Event  `json:"turn,omitempty"`
	Result *langrooms.Result `json:"result,omitempty"`

	Message    *langrooms.Message `json:"message,omitempty"`
	Checkpoint string             `json:"checkpoint,omitempty"`
}

// Feed is where a turn tells what happens.
type Feed struct {
	Events langrooms.Sink
	// Stored is told of the messages that stand on the thread as of a checkpoint.
	Stored func(checkpoint string, messages []langrooms.Message)
}

var (
	// ErrUnknown: the thread has no run of the id.
	ErrUnknown = errors.New("no such run")
	// ErrBusy: the thread has a live run, and the strategy is [Reject].
	ErrBusy = errors.New("the thread is busy with another run")
	// ErrDraining: the process ends and takes no new runs.
	ErrDraining = errors.New("the server is shutting down and takes no new runs")
	// ErrLive: the run has not ended.
	ErrLive = errors.New("the run has not ended")
	// ErrGone: the events of the run are not kept any more.
	ErrGone = errors.New("the run's events are not kept any more")
)
