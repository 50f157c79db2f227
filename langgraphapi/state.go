package langgraphapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/thread"
)

// checkpoint is a Checkpoint object.
type checkpoint struct {
	Thread string          `json:"thread_id"`
	ID     string          `json:"checkpoint_id"`
	NS     string          `json:"checkpoint_ns"`
	Map    *map[string]any `json:"checkpoint_map"`
}

// state is a ThreadState object.
type state struct {
	Values   values         `json:"values"`
	Next     []string       `json:"next"`
	Tasks    []any          `json:"tasks"`
	Metadata map[string]any `json:"metadata"`
	Created  *string        `json:"created_at"`
	// Checkpoint is null for a thread without a run, Parent at the root.
	Checkpoint *checkpoint `json:"checkpoint"`
	Parent     *checkpoint `json:"parent_checkpoint"`
}

// moment is a checkpoint at which the messages changed; no other is shown, because clients
// fetch ten and look for messages in them.
type moment struct {
	checkpointer.Checkpoint
	before string // the moment before it on its branch; empty at the root
}

// line reads the checkpoints of a thread, newest first, until the newest need moments are
// known, each with the one before it.
func (s *Server) line(ctx context.Context, id string, need int, before string) ([]moment, error) {
	own := ""
	q := checkpointer.Query{Thread: id, Namespace: &own, Select: checkpointer.Selection{Channels: []string{}}}
	if before != "" {
		q.Before = checkpointer.Ref{Thread: id, ID: before}
	}
	byID := map[string]checkpointer.Checkpoint{}
	var order []checkpointer.Checkpoint
	for cp, err := range s.cfg.Saver.List(ctx, q) {
		if err != nil {
			return nil, err
		}
		byID[cp.Ref.ID] = cp
		order = append(order, cp)
		if len(order)%lineStep == 0 {
			if found, known := moments(order, byID, need, false); known {
				return found, nil
			}
		}
	}
	found, _ := moments(order, byID, need, true)
	return found, nil
}

// lineStep is how many checkpoints are read between two looks whether they are enough.
const lineStep = 32

// moments picks the newest need moments of order. known is false when a parent was needed that
// has not been read; with all, what was not read is not there.
func moments(order []checkpointer.Checkpoint, byID map[string]checkpointer.Checkpoint, need int, all bool) (found []moment, known bool) {
	for _, cp := range order {
		is, sure := isMoment(cp, byID, all)
		if !sure {
			return nil, false
		}
		if !is {
			continue
		}
		before, sure := momentBefore(cp, byID, all)
		if !sure {
			return nil, false
		}
		if found = append(found, moment{cp, before}); len(found) == need {
			return found, true
		}
	}
	return found, all
}

// isMoment reports whether the messages changed at cp, or the thread went on there from an older place.
func isMoment(cp checkpointer.Checkpoint, byID map[string]checkpointer.Checkpoint, all bool) (is, sure bool) {
	if cp.Parent == "" || cp.Metadata["source"] == thread.SourceNote || cp.Metadata["source"] == thread.SourceFork {
		return true, true
	}
	parent, ok := byID[cp.Parent]
	if !ok {
		return true, all
	}
	return parent.Logs[checkpointer.LogMessages] != cp.Logs[checkpointer.LogMessages], true // a compaction keeps the length
}

func momentBefore(cp checkpointer.Checkpoint, byID map[string]checkpointer.Checkpoint, all bool) (id string, sure bool) {
	for cp.Parent != "" {
		parent, ok := byID[cp.Parent]
		if !ok {
			return "", all
		}
		is, sure := isMoment(parent, byID, all)
		if !sure {
			return "", false
		}
		if is {
			return parent.Ref.ID, true
		}
		cp = parent
	}
	return "", true
}

// AtHead reports whether nothing has been said on a thread since the checkpoint, so that a turn
// from it is no branch.
func AtHead(ctx context.Context, saver checkpointer.Saver, id, checkpoint string) (bool, error) {
	at := checkpointer.Ref{Thread: id}
	head, err := saver.Get(ctx, at)
	if err != nil {
		return false, err
	}
	for cp := head; ; {
		if cp.Ref.ID == checkpoint {
			return true, nil
		}
		if cp.Parent == "" || cp.Metadata["source"] == thread.SourceNote {
			return false, nil
		}
		at.ID = cp.Parent
		if cp, err = saver.Get(ctx, at); errors.Is(err, checkpointer.ErrNotFound) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		if cp.Length != head.Length {
			return false, nil
		}
	}
}

// stateOf is the state of a thread at a checkpoint, or with an empty id at its head.
func (s *Server) stateOf(ctx context.Context, k known, at string) (state, error) {
	empty := state{Values: values{[]message{}}, Next: []string{}, Tasks: []any{}, Metadata: map[string]any{}}
	if at == "" {
		line, err := s.line(ctx, k.ID, 1, "")
		if err != nil || len(line) == 0 {
			return empty, err
		}
		return s.render(ctx, k, line[0])
	}
	line, err := s.line(ctx, k.ID, 0, "")
	if err != nil {
		return empty, err
	}
	i := slices.IndexFunc(line, func(m moment) bool { return m.Ref.ID == at })
	if i < 0 {
		return empty, refused(http.StatusNotFound, "the thread %q has no checkpoint %q", k.ID, at)
	}
	return s.render(ctx, k, line[i])
}

// render reads the messages of a moment.
func (s *Server) render(ctx context.Context, k known, m moment) (state, error) {
	stored, err := s.storedAt(ctx, m.Ref)
	if err != nil {
		return state{}, err
	}
	created := stamp(m.Time)
	st := state{Values: values{s.viewOf(k).messages(stored)}, Next: []string{}, Tasks: []any{}, Created: &created,
		Checkpoint: s.ref(k.ID, m.Ref.ID), Parent: s.ref(k.ID, m.before),
		Metadata: map[string]any{"source": source(m.Metadata["source"]), "step": float64(m.Length - 1), "thread_id": k.ID}}
	return st, nil
}

func (s *Server) storedAt(ctx context.Context, at checkpointer.Ref) (stored []langrooms.Message, err error) {
	for m, err := range s.cfg.Saver.Messages(ctx, at, checkpointer.Range{}) {
		if err != nil {
			return nil, err
		}
		stored = append(stored, m)
	}
	return s.withNotes(ctx, at, stored)
}

func (s *Server) ref(thread, id string) *checkpoint {
	if id == "" {
		return nil
	}
	return &checkpoint{Thread: thread, ID: id}
}

// source is the API's word for where a checkpoint came from.
func source(own any) string {
	switch own {
	case "input", "fork", "update":
		return own.(string)
	case "rewind":
		return "fork"
	}
	return "loop"
}

// viewOf is how the messages of a thread are shown to its clients.
func (s *Server) viewOf(k known) view {
	return view{lead: s.lead(), named: k.Record.Metadata["graph_id"] == graphNamed}
}

func (s *Server) stateGet(w http.ResponseWriter, r *http.Request) {
	s.withThread(w, r, func(k known) (any, error) { return s.stateOf(r.Context(), k, "") })
}

func (s *Server) stateAt(w http.ResponseWriter, r *http.Request) {
	s.withThread(w, r, func(k known) (any, error) { return s.stateOf(r.Context(), k, r.PathValue("checkpoint")) })
}

// place names a checkpoint in any of the ways in which clients do: its id, a Checkpoint
// object, or a configuration.
type place string

// UnmarshalJSON reads any of the forms; null names none.
func (p *place) UnmarshalJSON(data []byte) error {
	var id string
	if json.Unmarshal(data, &id) == nil {
		*p = place(id)
		return nil
	}
	var object struct {
		ID           string `json:"checkpoint_id"`
		Configurable struct {
			ID string `json:"checkpoint_id"`
		} `json:"configurable"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return refused(http.StatusUnprocessableEntity, "a checkpoint must be an id or an object with checkpoint_id")
	}
	if *p = place(object.ID); object.ID == "" {
		*p = place(object.Configurable.ID)
	}
	return nil
}

func (s *Server) stateAtCheckpoint(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Checkpoint place `json:"checkpoint"`
	}
	if read(w, r, &q) {
		s.withThread(w, r, func(k known) (any, error) { return s.stateOf(r.Context(), k, string(q.Checkpoint)) })
	}
}

type historyQuery struct {
	Limit      *int           `json:"limit"`
	Before     place          `json:"before"`
	Metadata   map[string]any `json:"metadata"`
	Checkpoint place          `json:"checkpoint"`
}

func (s *Server) historyPost(w http.ResponseWriter, r *http.Request) {
	var q historyQuery
	if read(w, r, &q) {
		s.withThread(w, r, func(k known) (any, error) { return s.history(r.Context(), k, q) })
	}
}

func (s *Server) historyGet(w http.ResponseWriter, r *http.Request) {
	limit, err := number(r, "limit")
	if err != nil {
		s.fail(w, err)
		return
	}
	q := historyQuery{Before: place(r.FormValue("before")), Limit: limit}
	s.withThread(w, r, func(k known) (any, error) { return s.history(r.Context(), k, q) })
}

// history is the states of a thread, newest first, all branches.
func (s *Server) history(ctx context.Context, k known, q historyQuery) (any, error) {
	limit, err := limitOf(q.Limit, 1000)
	if err != nil {
		return nil, err
	}
	need := limit
	if len(q.Metadata) > 0 || q.Checkpoint != "" {
		need = 0
	}
	line, err := s.line(ctx, k.ID, need, string(q.Before))
	if errors.Is(err, checkpointer.ErrNotFound) {
		return nil, refused(http.StatusNotFound, "the thread %q has no checkpoint %q", k.ID, q.Before)
	}
	if err != nil {
		return nil, err
	}
	states := []state{}
	for _, m := range line {
		if q.Checkpoint != "" && m.Ref.ID != string(q.Checkpoint) {
			continue
		}
		st, err := s.render(ctx, k, m)
		if err != nil {
			return nil, err
		}
		if !contains(st.Metadata, q.Metadata) {
			continue
		}
		if states = append(states, st); len(states) == limit {
			break
		}
	}
	return states, nil
}
