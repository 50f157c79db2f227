package langgraphapi

import (
	"context"
	"errors"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/thread"
)

// noteAuthor is the name under which clients see the room's own words.
const noteAuthor = "room"

// maxNotes is how many of a thread's newest notes are shown.
const maxNotes = 500

// withNotes puts the notes of a checkpoint's past into its messages.
func (s *Server) withNotes(ctx context.Context, at checkpointer.Ref, stored []langrooms.Message) ([]langrooms.Message, error) {
	notes, err := thread.Notes(ctx, s.cfg.Saver, at.Thread, maxNotes)
	if err != nil || len(notes) == 0 {
		return stored, err
	}
	past, err := s.past(ctx, at)
	if err != nil {
		return nil, err
	}
	var all []langrooms.Message
	for _, n := range notes {
		if !past[n.Checkpoint] {
			continue
		}
		for len(stored) > 0 && stored[0].Seq < n.Position {
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
