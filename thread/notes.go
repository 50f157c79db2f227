package thread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// Notes are what the room itself has said on a thread, to people and to no model: the roster
// answer with the message that led to it, the usage hint, the notes under a run's replies. They
// stand in a log of their own, each with the checkpoint and the position at which it was said,
// so that no window and no model call has them, and a branch has those of its own past.
const notesNamespace = "langrooms.notes"

// The fields of a stored note beside its words.
const (
	noteKey         = "note"
	notePositionKey = "position"
)

// SourceNote marks the checkpoint that a note stands at; it changes no message.
const SourceNote = "note"

// NewNote makes a message of the room's own.
func NewNote(text string) langrooms.Message { return langrooms.NewMessage(langrooms.RoleAI, text) }

// IsNote reports whether a message was kept by [AddNotes].
func IsNote(m langrooms.Message) bool { return m.Extra[noteKey] != nil }

// AddNotes keeps messages of the room's own on the thread that hold holds, after what it sees
// now. It marks them as notes and returns their checkpoint.
func AddNotes(ctx context.Context, saver checkpointer.Saver, hold *Hold, messages ...langrooms.Message) (string, error) {
	if err := hold.Put(Step{Source: SourceNote}); err != nil {
		return "", err
	}
	checkpoint, position := hold.Head().ID, strconv.FormatInt(hold.Length(), 10)
	quoted, err := json.Marshal(checkpoint)
	if err != nil {
		return "", err
	}
	for i := range messages {
		extra := map[string]json.RawMessage{noteKey: quoted, notePositionKey: json.RawMessage(position)}
		for k, v := range messages[i].Extra {
			extra[k] = v
		}
		messages[i].Extra = extra
	}
	at := checkpointer.Ref{Thread: hold.Thread(), Namespace: notesNamespace}
	cp, err := saver.Get(ctx, at)
	if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
		return "", fmt.Errorf("the notes of the thread %q: %w", hold.Thread(), err)
	}
	at.ID = cp.Ref.ID
	_, err = saver.Put(ctx, at, checkpointer.Step{ID: langrooms.NewID(), Log: checkpointer.Append(messages...)})
	return checkpoint, err
}

// Note is a message of the room's own and its place.
type Note struct {
	langrooms.Message
	// Checkpoint is the one at which it was said, Position that of the message it follows.
	Checkpoint string
	Position   int64
}

// Notes returns the newest limit notes of a thread, oldest first.
func Notes(ctx context.Context, saver checkpointer.Saver, id string, limit int) (notes []Note, err error) {
	at := checkpointer.Ref{Thread: id, Namespace: notesNamespace}
	for m, err := range saver.Messages(ctx, at, checkpointer.Range{Backward: true, Limit: checkpointer.N(limit)}) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		n := Note{Message: m}
		if json.Unmarshal(m.Extra[noteKey], &n.Checkpoint) != nil || json.Unmarshal(m.Extra[notePositionKey], &n.Position) != nil {
			return nil, fmt.Errorf("%w: a note of the thread %q has no place", checkpointer.ErrFormat, id)
		}
		notes = append(notes, n)
	}
	slices.Reverse(notes)
	return notes, nil
}
