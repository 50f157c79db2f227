package langgraphapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

// threadObject is a Thread object.
type threadObject struct {
	ID         string         `json:"thread_id"`
	Created    string         `json:"created_at"`
	Updated    string         `json:"updated_at"`
	Metadata   map[string]any `json:"metadata"`
	Status     string         `json:"status"`
	Config     map[string]any `json:"config"`
	Values     *values        `json:"values,omitempty"`
	Interrupts map[string]any `json:"interrupts"`
}

// values is the state of a thread.
type values struct {
	Messages []message `json:"messages"`
}

// The states of a thread.
const (
	threadIdle  = "idle"
	threadBusy  = "busy"
	threadError = "error"
)

// known is a thread as it is in the store.
type known = thread.Kept

// find returns a thread that the caller may see; every other one is the same 404.
func (s *Server) find(r *http.Request, id string) (known, error) {
	gone := refused(http.StatusNotFound, "there is no thread %q", id)
	if runs.Internal(id) {
		return known{}, gone
	}
	k, err := thread.Find(r.Context(), s.cfg.Saver, id, s.who(r))
	if errors.Is(err, thread.ErrNone) {
		return k, gone
	}
	return k, err
}

// metadata is what clients see as a thread's; one that no client has made is of the default
// graph.
func (s *Server) metadata(k known) map[string]any {
	m := merged(map[string]any{"graph_id": graphPlain, "assistant_id": assistantID(graphPlain), "kind": "thread"}, k.Record.Metadata)
	if s.cfg.Room != nil && s.cfg.Room(k.ID) {
		m["kind"] = "room"
	}
	if k.Has && k.Record.Metadata["graph_id"] == nil && len(k.Record.Metadata) == 0 {
		delete(m, "graph_id")
		delete(m, "assistant_id")
	}
	return m
}

// object is the Thread object of k, with its values where they are wanted.
func (s *Server) object(ctx context.Context, k known, withValues bool) (threadObject, error) {
	t := threadObject{ID: k.ID, Created: stamp(k.Record.Created), Updated: stamp(k.Record.Updated), Metadata: s.metadata(k),
		Config: map[string]any{}, Interrupts: map[string]any{}}
	newest, err := s.cfg.Runs.List(ctx, k.ID, 1)
	if err != nil {
		return t, err
	}
	t.Status = threadIdle
	if len(newest) > 0 {
		switch {
		case newest[0].Status.Live():
			t.Status = threadBusy
		case newest[0].Status == runs.Failed:
			t.Status = threadError
		}
		if newest[0].Updated.After(k.Record.Updated) {
			t.Updated = stamp(newest[0].Updated)
		}
	}
	if t.Status != threadBusy { // an older one may still be queued before it
		live, err := s.cfg.Runs.Live(ctx, k.ID)
		if err != nil {
			return t, err
		}
		if len(live) > 0 {
			t.Status = threadBusy
		}
	}
	if !withValues {
		return t, nil
	}
	st, err := s.stateOf(ctx, k, "")
	if err == nil && st.Checkpoint != nil {
		t.Values = &st.Values
	}
	return t, err
}

type threadCreate struct {
	ID         string            `json:"thread_id"`
	Metadata   map[string]any    `json:"metadata"`
	IfExists   string            `json:"if_exists"`
	Supersteps []json.RawMessage `json:"supersteps"`
}

func (s *Server) threadCreate(w http.ResponseWriter, r *http.Request) {
	var q threadCreate
	if !read(w, r, &q) {
		return
	}
	var t threadObject
	k, err := s.create(r, q)
	if err == nil {
		t, err = s.object(r.Context(), k, true)
	}
	s.answer(w, t, err)
}

// create makes a thread, or finds it where that is allowed.
func (s *Server) create(r *http.Request, q threadCreate) (known, error) {
	switch {
	case len(q.Supersteps) > 0:
		return known{}, refused(http.StatusUnprocessableEntity, "supersteps: threads are not made from supersteps here; langrooms thread import reads a transcript")
	case q.IfExists != "" && q.IfExists != "raise" && q.IfExists != "do_nothing":
		return known{}, refused(http.StatusUnprocessableEntity, "if_exists is %q, it must be raise or do_nothing", q.IfExists)
	case runs.Internal(q.ID):
		return known{}, refused(http.StatusUnprocessableEntity, "thread_id cannot be used")
	case q.ID == "":
		q.ID = langrooms.NewID()
	}
	if err := langrooms.CheckThreadID(q.ID); err != nil {
		return known{}, err
	}
	k, err := thread.Make(r.Context(), s.cfg.Saver, q.ID, s.who(r), q.Metadata)
	if errors.Is(err, checkpointer.ErrConflict) {
		return s.exists(r, k, q)
	}
	return k, err
}

// exists is the answer to making a thread that is there.
func (s *Server) exists(r *http.Request, k known, q threadCreate) (known, error) {
	if q.IfExists == "do_nothing" {
		if found, err := s.find(r, k.ID); err == nil {
			return found, nil
		}
	}
	return k, refused(http.StatusConflict, "the thread %q exists already", k.ID)
}

// withThread answers for a thread that the caller may see.
func (s *Server) withThread(w http.ResponseWriter, r *http.Request, do func(known) (any, error)) {
	var v any
	k, err := s.find(r, r.PathValue("thread"))
	if err == nil {
		v, err = do(k)
	}
	s.answer(w, v, err)
}

func (s *Server) threadGet(w http.ResponseWriter, r *http.Request) {
	s.withThread(w, r, func(k known) (any, error) { return s.object(r.Context(), k, true) })
}

func (s *Server) threadPatch(w http.ResponseWriter, r *http.Request) {
	var q threadCreate
	if !read(w, r, &q) {
		return
	}
	s.withThread(w, r, func(k known) (any, error) {
		if err := s.patch(r.Context(), &k, q.Metadata); err != nil {
			return nil, err
		}
		return s.object(r.Context(), k, true)
	})
}

// patch merges metadata into a thread's record.
func (s *Server) patch(ctx context.Context, k *known, metadata map[string]any) error {
	stale := false
	return checkpointer.GiveWay(func() (err error) {
		if stale {
			if *k, err = thread.ReadRecord(ctx, s.cfg.Saver, k.ID); err != nil {
				return err
			}
		}
		stale = true
		if !k.Has && k.Record.Created.IsZero() {
			k.Record.Created = time.Now().UTC()
		}
		k.Record.Metadata, k.Record.Updated = merged(k.Record.Metadata, metadata), time.Now().UTC()
		return k.Save(ctx, s.cfg.Saver)
	})
}

// threadDelete cancels what runs on the thread first.
func (s *Server) threadDelete(w http.ResponseWriter, r *http.Request) {
	s.withThread(w, r, func(k known) (any, error) {
		if err := s.notARoom(k.ID); err != nil {
			return nil, err
		}
		return nil, s.remove(r.Context(), k.ID)
	})
}

func (s *Server) remove(ctx context.Context, id string) error {
	live, err := s.cfg.Runs.Live(ctx, id)
	if err != nil {
		return err
	}
	for _, run := range live {
		if err := s.cfg.Runs.Cancel(ctx, id, run.ID, false); err != nil {
			return err
		}
	}
	for _, run := range live {
		if err := s.cfg.Runs.Wait(ctx, id, run.ID); err != nil {
			return err
		}
	}
	return s.cfg.Delete(ctx, id)
}

// notARoom refuses what a shared session has its own paths for.
func (s *Server) notARoom(id string) error {
	if s.cfg.Room != nil && s.cfg.Room(id) {
		return refused(http.StatusConflict, "the thread %q is a shared session; use /api/rooms/%s", id, id)
	}
	return nil
}
