package thread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// RecordNamespace is where a thread keeps its [Record].
const RecordNamespace = "langrooms.thread"

const recordChannel = "record"

// Record is what is kept of a thread beside its messages. Threads that were begun in a
// terminal have none.
type Record struct {
	Created  time.Time      `json:"created"`
	Updated  time.Time      `json:"updated"`
	Metadata map[string]any `json:"metadata"`
	// Owner is who made the thread, as [Caller.Name]; empty for one that no key made.
	Owner string `json:"owner,omitempty"`
}

// Caller is who asks for threads.
type Caller struct {
	// Name is the credential's; empty where the server knows no keys.
	Name string
	// Admin may use every thread, not only its own.
	Admin bool
}

// Owns reports whether the caller may use a thread with this record.
func (c Caller) Owns(r Record) bool { return c.Admin || c.Name != "" && r.Owner == c.Name }

// Kept is a thread as it is in the store.
type Kept struct {
	ID     string
	Record Record
	// Has says that there is a record; without one its times are those of the newest checkpoint.
	Has bool

	at checkpointer.Ref
}

// ErrNone: there is no such thread, or none that the caller may see.
var ErrNone = errors.New("there is no such thread")

// ReadRecord reads the record of a thread, which may have none and need not exist.
func ReadRecord(ctx context.Context, saver checkpointer.Saver, id string) (Kept, error) {
	k := Kept{ID: id, at: checkpointer.Ref{Thread: id, Namespace: RecordNamespace}}
	cp, err := saver.Get(ctx, k.at)
	if errors.Is(err, checkpointer.ErrNotFound) {
		return k, nil
	}
	if err != nil {
		return k, err
	}
	k.at = cp.Ref
	if err := json.Unmarshal(cp.Channels[recordChannel], &k.Record); err != nil {
		return k, fmt.Errorf("%w: the record of the thread %q: %w", checkpointer.ErrFormat, id, err)
	}
	k.Has = true
	return k, nil
}

// Find returns a thread that the caller may use; every other one is [ErrNone].
func Find(ctx context.Context, saver checkpointer.Saver, id string, who Caller) (Kept, error) {
	if langrooms.CheckThreadID(id) != nil {
		return Kept{}, ErrNone
	}
	k, err := ReadRecord(ctx, saver, id)
	if err != nil {
		return Kept{}, err
	}
	if !k.Has {
		cp, err := saver.Get(ctx, checkpointer.Ref{Thread: id})
		if errors.Is(err, checkpointer.ErrNotFound) {
			return Kept{}, ErrNone
		}
		if err != nil {
			return Kept{}, err
		}
		k.Record.Created, k.Record.Updated = cp.Time, cp.Time
	}
	if !who.Owns(k.Record) {
		return Kept{}, ErrNone
	}
	return k, nil
}

// Make records a thread that does not exist yet as who's. checkpointer.ErrConflict when there
// is one of the id, whoever's it is.
func Make(ctx context.Context, saver checkpointer.Saver, id string, who Caller, metadata map[string]any) (Kept, error) {
	if err := langrooms.CheckThreadID(id); err != nil {
		return Kept{}, err
	}
	k, err := ReadRecord(ctx, saver, id)
	if err != nil {
		return k, err
	}
	if k.Has {
		return k, fmt.Errorf("%w: the thread %q exists", checkpointer.ErrConflict, id)
	}
	_, err = saver.Get(ctx, checkpointer.Ref{Thread: id})
	if err == nil {
		return k, fmt.Errorf("%w: the thread %q exists", checkpointer.ErrConflict, id)
	}
	if !errors.Is(err, checkpointer.ErrNotFound) {
		return k, err
	}
	now := time.Now().UTC()
	k.Record = Record{Created: now, Updated: now, Metadata: metadata, Owner: who.Name}
	err = k.Save(ctx, saver)
	return k, err
}

// Save stores the record after the one that was read. checkpointer.ErrConflict when another
// writer was first.
func (k *Kept) Save(ctx context.Context, saver checkpointer.Saver) error {
	data, err := json.Marshal(k.Record)
	if err != nil {
		return err
	}
	ref, err := saver.Put(ctx, k.at, checkpointer.Step{ID: langrooms.NewID(), Channels: map[string][]byte{recordChannel: data}})
	if err == nil {
		k.at, k.Has = ref, true
	}
	return err
}
