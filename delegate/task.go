package delegate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/langrooms/langrooms"
)

// ErrUnknownTask says that the peer does not know a task, or no longer.
var ErrUnknownTask = errors.New("the peer does not know the task")

// TaskReader is what a [Delegate] implements when a task at its peer can be polled
// after Ask has given up on it. Without it, no late answer is collected.
type TaskReader interface {
	// PeerKey stands for the peer and the principal it knows us by, as a digest: it
	// changes with the url, the scheme and the credential. It does no I/O beyond
	// resolving the credential.
	PeerKey() (string, error)
	// ReadTask polls one task once, read-only: it sends the peer no message. A task
	// that the peer does not know is [ErrUnknownTask]; any other error is lost touch.
	ReadTask(ctx context.Context, task string) (TaskView, error)
	// Rejoin remembers contextID for the conversation of thread in this epoch of it, now
	// that the answer it came with stands on the thread. An empty id changes nothing, and a
	// conversation that a newer address has begun meanwhile stands. The caller holds the
	// thread.
	Rejoin(ctx context.Context, thread, epoch, contextID string) error
}

// TaskState is what a poll of a task found.
type TaskState string

// What can be found.
const (
	// TaskWorking: not settled; every state that is none of the others.
	TaskWorking TaskState = "working"
	// TaskAnswered: completed.
	TaskAnswered TaskState = "answered"
	// TaskPaused: it waits for input.
	TaskPaused TaskState = "paused"
	// TaskFailed: failed, canceled or rejected.
	TaskFailed TaskState = "failed"
)

// TaskView is what one poll says of a task.
type TaskView struct {
	State TaskState
	// Reply is set on an answered or paused task, as Ask would have returned it.
	Reply Reply
	// Err is set on a failed task.
	Err *Error
	// ContextID is the peer's conversation that the task belongs to, if it says so.
	ContextID string
}

// Waiting says what becomes of an answer that did not come in its turn.
type Waiting int

// What can become of it.
const (
	// NotWaited: it will not come by itself.
	NotWaited Waiting = iota
	// Waited: this process waits for it.
	Waited
	// Kept: nobody waits for it now. Its handle is kept with the thread, and the next
	// process there takes it up.
	Kept
)

// Handle is a task at a peer whose answer is still waited for. It is a value that can be
// stored.
type Handle struct {
	// ID tells this handle from every other one; whoever begins to wait sets an empty one.
	ID string `json:"id"`
	// Thread is where the answer goes, Delegate who gives it, Task the peer's id of it.
	Thread   string `json:"thread"`
	Delegate string `json:"delegate"`
	Task     string `json:"task"`
	// Peer is the [TaskReader.PeerKey] at the time of the ask; whoever begins to wait sets an
	// empty one.
	Peer string `json:"peer"`
	// Stamp is what the answer will be stamped with.
	Stamp langrooms.Stamp `json:"stamp"`
	// Silence says that the member had been offered to pass: an answer that says nothing is
	// a pass then.
	Silence bool `json:"silence,omitempty"`
	// Anchor is the log position of the record that the answer belongs to; while that
	// record stands on the thread, so does the handle.
	Anchor int64 `json:"anchor,omitempty"`
	// Epoch is the life of the thread's history that the record stands in.
	Epoch string `json:"epoch,omitempty"`
	// Since is when the waiting began; whoever begins to wait sets a zero one to now.
	Since time.Time `json:"since"`
}

// UnmarshalJSON reads the stored form, also of an earlier version, which had fields of the stamp
// among its own.
func (h *Handle) UnmarshalJSON(data []byte) error {
	type plain Handle
	var read plain
	err := json.Unmarshal(data, &read)
	var old langrooms.Stamp
	if err == nil {
		err = json.Unmarshal(data, &old)
	}
	if old.Exchange != "" {
		read.Stamp = langrooms.Stamp{From: read.Delegate, Exchange: old.Exchange, Round: old.Round, Seen: old.Seen, Incognito: old.Incognito}
	}
	*h = Handle(read)
	return err
}

// HandleStore keeps the handles of late answers, one for a thread and delegate. In
// memory it is late.NewMemoryHandles; a store that keeps them with the thread makes
// collection survive a restart.
//
// Implementations are safe for concurrent use. A handle stands while the store has one
// of the same ID.
type HandleStore interface {
	// PutHandle stores h in place of the one of the same thread and delegate.
	PutHandle(ctx context.Context, h Handle) error
	// HasHandle reports whether h still stands.
	HasHandle(ctx context.Context, h Handle) (bool, error)
	// TakeHandle removes h and reports whether it stood: true for exactly one caller.
	TakeHandle(ctx context.Context, h Handle) (bool, error)
	// Handles lists a thread's handles, by delegate name.
	Handles(ctx context.Context, thread string) ([]Handle, error)
	// DropHandles removes all of a thread's handles.
	DropHandles(ctx context.Context, thread string) error
}
