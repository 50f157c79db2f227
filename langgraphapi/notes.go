package langgraphapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/thread"
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

// sourceNote marks the checkpoint that a note stands at; it changes no message.
const sourceNote = "note"

// noteAuthor is the name under which clients see the room's own words.
const noteAuthor = "room"

// AddNotes keeps messages of the room's own on the thread that hold holds, after what it sees
// now. It returns their checkpoint.
func AddNotes(ctx context.Context, saver checkpointer.Saver, hold *thread.Hold, messages ...langrooms.Message) (string, error) {
	if err := hold.Put(thread.Step{Source: sourceNote}); err != nil {
		return "", err
	}
	checkpoint, position := hold.Head().ID, strconv.FormatInt(hold.Length(), 10)
	for i := range messages {
		extra := map[string]json.RawMessage{noteKey: textContent(checkpoint), notePositionKey: json.RawMessage(position)}
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

// NewNote makes a message of the room's own.
func NewNote(text string) langrooms.Message { return langrooms.NewMessage(langrooms.RoleAI, text) }

// maxNotes is how many of a thread's newest notes are shown.
const maxNotes = 500

// note is a stored note and its place.
type note struct {
	langrooms.Message
	checkpoint string
	position   int64
}

func (s *Server) notes(ctx context.Context, id string) (notes []note, err error) {
	at := checkpointer.Ref{Thread: id, Namespace: notesNamespace}
	for m, err := range s.cfg.Saver.Messages(ctx, at, checkpointer.Range{Backward: true, Limit: checkpointer.N(maxNotes)}) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		n := note{Message: m}
		if json.Unmarshal(m.Extra[noteKey], &n.checkpoint) != nil || json.Unmarshal(m.Extra[notePositionKey], &n.position) != nil {
			return nil, fmt.Errorf("%w: a note of the thread %q has no place", checkpointer.ErrFormat, id)
		}
		notes = append(notes, n)
	}
	slices.Reverse(notes)
	return notes, nil
}

// withNotes puts the notes of a checkpoint's past into its messages.
func (s *Server) withNotes(ctx context.Context, at checkpointer.Ref, stored []langrooms.Message) ([]langrooms.Message, error) {
	notes, err := s.notes(ctx, at.Thread)
	if err != nil || len(notes) == 0 {
		return stored, err
	}
	past, err := s.past(ctx, at)
	if err != nil {
		return nil, err
	}
	var all []langrooms.Message
	for _, n := range notes {
		if !past[n.checkpoint] {
			continue
		}
		for len(stored) > 0 && stored[0].Seq < n.position {
			all, stored = append(all, stored[0]), stored[1:]
		}
		all = append(all, n.Message)
	}
	return append(all, stored...), nil
}

// past is the ids of a checkpoint and all before it on its branch.
func (s *Server) past(ctx context.Context, at checkpointer.Ref) (map[string]bool, error) {
	ids := map[string]bool{}
	if walker, ok := s.cfg.Saver.(checkpointer.Walker); ok {
		for cp, err := range walker.Ancestors(ctx, at, checkpointer.Selection{Channels: []string{}}, nil) {
			if err != nil {
				return nil, err
			}
			ids[cp.Ref.ID] = true
		}
		return ids, nil
	}
	for at.ID != "" {
		cp, err := s.cfg.Saver.Get(ctx, at)
		if errors.Is(err, checkpointer.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		ids[at.ID] = true
		at.ID = cp.Parent
	}
	return ids, nil
}
