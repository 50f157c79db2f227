package langgraphapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/thread"
)

// threadCopy makes a thread of the same messages, ids and history.
func (s *Server) threadCopy(w http.ResponseWriter, r *http.Request) {
	s.withThread(w, r, func(k known) (any, error) {
		if err := s.notARoom(k.ID); err != nil {
			return nil, err
		}
		to := langrooms.NewID()
		if err := s.copy(r.Context(), k.ID, to); err != nil {
			return nil, err
		}
		c, err := thread.ReadRecord(r.Context(), s.cfg.Saver, to)
		if err != nil {
			return nil, err
		}
		now := time.Now().UTC()
		c.Record = thread.Record{Created: now, Updated: now, Metadata: k.Record.Metadata, Owner: s.who(r).Name}
		if err := c.Save(r.Context(), s.cfg.Saver); err != nil {
			return nil, err
		}
		return s.object(r.Context(), c, true)
	})
}

// copy copies a thread with its history, or where the store cannot, as it is now.
func (s *Server) copy(ctx context.Context, from, to string) error {
	switch saver := s.cfg.Saver.(type) {
	case checkpointer.Copier:
		return saver.CopyThread(ctx, from, to)
	case checkpointer.Forker:
		_, err := saver.Fork(ctx, checkpointer.Ref{Thread: from}, nil, to)
		return err
	}
	return refused(http.StatusNotFound, "this server's store cannot copy threads")
}

type updateQuery struct {
	Values       json.RawMessage `json:"values"`
	Checkpoint   place           `json:"checkpoint"`
	CheckpointID string          `json:"checkpoint_id"`
	AsNode       string          `json:"as_node"`
}

// removeAll is the id that removes all messages.
const removeAll = "__remove_all__"

// stateUpdate changes the messages of a thread: those of a known id are replaced, others
// appended, and removals removed. With a checkpoint it begins a branch there; without values it
// makes that checkpoint's state the head again.
func (s *Server) stateUpdate(w http.ResponseWriter, r *http.Request) {
	var q updateQuery
	if !read(w, r, &q) {
		return
	}
	s.withThread(w, r, func(k known) (any, error) {
		if err := s.notARoom(k.ID); err != nil {
			return nil, err
		}
		live, err := s.cfg.Runs.Live(r.Context(), k.ID)
		if err != nil {
			return nil, err
		}
		if len(live) > 0 {
			return nil, refused(http.StatusConflict, "the thread %q is busy with run %s", k.ID, live[0].ID)
		}
		at := string(q.Checkpoint)
		if at == "" {
			at = q.CheckpointID
		}
		entries, err := s.entries(r, checkpointer.Ref{Thread: k.ID, ID: at}, q.Values)
		if err != nil {
			return nil, err
		}
		err = s.cfg.Branch(r.Context(), k.ID, at, nil, entries)
		if errors.Is(err, checkpointer.ErrNotFound) {
			return nil, refused(http.StatusNotFound, "the thread %q has no checkpoint %q", k.ID, at)
		}
		if err != nil {
			return nil, err
		}
		st, err := s.stateOf(r.Context(), k, "")
		return map[string]any{"checkpoint": st.Checkpoint, "configurable": st.Checkpoint}, err
	})
}

// entries are the changes of the log that values stand for.
func (s *Server) entries(r *http.Request, at checkpointer.Ref, data json.RawMessage) (entries []checkpointer.Entry, err error) {
	var body struct {
		Messages inputMessages `json:"messages"`
	}
	if len(data) > 0 && string(data) != "null" {
		if err := json.Unmarshal(data, &body); err != nil {
			var p *problem
			if errors.As(err, &p) {
				return nil, p
			}
			return nil, refused(http.StatusUnprocessableEntity, "values must be an object with messages")
		}
	}
	held := map[string]langrooms.Message{}
	for m, err := range s.cfg.Saver.Messages(r.Context(), at, checkpointer.Range{}) {
		if errors.Is(err, checkpointer.ErrNotFound) && at.ID == "" {
			break
		}
		if errors.Is(err, checkpointer.ErrNotFound) {
			return nil, refused(http.StatusNotFound, "the thread %q has no checkpoint %q", at.Thread, at.ID)
		}
		if err != nil {
			return nil, err
		}
		held[m.ID] = m
	}
	for _, m := range body.Messages {
		role, err := m.role()
		if err != nil {
			return nil, err
		}
		switch {
		case role == "remove" && m.ID == removeAll:
			entries = append(entries, checkpointer.Entry{Op: checkpointer.OpReset})
			continue
		case role == "remove":
			entries = append(entries, checkpointer.Entry{Op: checkpointer.OpRemove, ID: m.ID})
			continue
		}
		stored, err := m.stored(role)
		if err != nil {
			return nil, err
		}
		op := checkpointer.OpAppend
		if old, known := held[m.ID]; known && m.ID != "" {
			op, stored.Stamp, stored.Time = checkpointer.OpReplace, old.Stamp, old.Time
		}
		entries = append(entries, checkpointer.Entry{Op: op, Message: stored})
	}
	return entries, nil
}
