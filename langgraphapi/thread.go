package langgraphapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
)

// namespace is where a thread keeps what the API knows of it beside its messages.
const namespace = "langrooms.thread"

const recordChannel = "record"

// record is what the API keeps of a thread.
type record struct {
	Created  time.Time      `json:"created"`
	Updated  time.Time      `json:"updated"`
	Metadata map[string]any `json:"metadata"`
	// Owner is the identity that made the thread; empty for one that no key made.
	Owner string `json:"owner,omitempty"`
}

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
type known struct {
	id     string
	record record
	has    bool // it has a record
	at     checkpointer.Ref
}

func (s *Server) recordAt(ctx context.Context, id string) (known, error) {
	k := known{id: id, at: checkpointer.Ref{Thread: id, Namespace: namespace}}
	cp, err := s.cfg.Saver.Get(ctx, k.at)
	if errors.Is(err, checkpointer.ErrNotFound) {
		return k, nil
	}
	if err != nil {
		return k, err
	}
	k.at = cp.Ref
	if err := json.Unmarshal(cp.Channels[recordChannel], &k.record); err != nil {
		return k, fmt.Errorf("%w: the record of the thread %q: %w", checkpointer.ErrFormat, id, err)
	}
	k.has = true
	return k, nil
}

// find returns a thread that the caller may see; every other one is the same 404.
func (s *Server) find(r *http.Request, id string) (known, error) {
	gone := refused(http.StatusNotFound, "there is no thread %q", id)
	if langrooms.CheckThreadID(id) != nil || runs.Internal(id) {
		return known{}, gone
	}
	k, err := s.recordAt(r.Context(), id)
	if err != nil {
		return k, err
	}
	if !k.has {
		cp, err := s.cfg.Saver.Get(r.Context(), checkpointer.Ref{Thread: id})
		if errors.Is(err, checkpointer.ErrNotFound) {
			return k, gone
		}
		if err != nil {
			return k, err
		}
		k.record.Created, k.record.Updated = cp.Time, cp.Time
	}
	if !s.may(r, k) {
		return known{}, gone
	}
	return k, nil
}

// may reports whether the caller may use a thread: its own, or any as an admin.
func (s *Server) may(r *http.Request, k known) bool {
	who := s.who(r)
	return who.Admin || who.Name != "" && k.record.Owner == who.Name
}

// save stores the record of a thread after the one that was read.
func (s *Server) save(ctx context.Context, k known) error {
	data, err := json.Marshal(k.record)
	if err != nil {
		return err
	}
	_, err = s.cfg.Saver.Put(ctx, k.at, checkpointer.Step{ID: langrooms.NewID(), Channels: map[string][]byte{recordChannel: data}})
	return err
}

// metadata is what clients see as a thread's; one that no client has made is of the default
// graph.
func (s *Server) metadata(k known) map[string]any {
	m := merged(map[string]any{"graph_id": graphPlain, "assistant_id": assistantID(graphPlain), "kind": "thread"}, k.record.Metadata)
	if s.cfg.Room != nil && s.cfg.Room(k.id) {
		m["kind"] = "room"
	}
	if k.has && k.record.Metadata["graph_id"] == nil && len(k.record.Metadata) == 0 {
		delete(m, "graph_id")
		delete(m, "assistant_id")
	}
	return m
}

// object is the Thread object of k, with its values where they are wanted.
func (s *Server) object(ctx context.Context, k known, withValues bool) (threadObject, error) {
	t := threadObject{ID: k.id, Created: stamp(k.record.Created), Updated: stamp(k.record.Updated), Metadata: s.metadata(k),
		Config: map[string]any{}, Interrupts: map[string]any{}}
	newest, err := s.cfg.Runs.List(ctx, k.id, 1)
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
		if newest[0].Updated.After(k.record.Updated) {
			t.Updated = stamp(newest[0].Updated)
		}
	}
	if t.Status != threadBusy { // an older one may still be queued before it
		live, err := s.cfg.Runs.Live(ctx, k.id)
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
	answer(w, t, err)
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
	k, err := s.recordAt(r.Context(), q.ID)
	if err != nil {
		return k, err
	}
	if !k.has {
		_, err := s.cfg.Saver.Get(r.Context(), checkpointer.Ref{Thread: q.ID})
		if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
			return k, err
		}
		if err == nil {
			return s.exists(r, k, q)
		}
		now := time.Now().UTC()
		k.record = record{Created: now, Updated: now, Metadata: q.Metadata, Owner: s.who(r).Name}
		err = s.save(r.Context(), k)
		if errors.Is(err, checkpointer.ErrConflict) {
			return s.exists(r, k, q)
		}
		k.has = true
		return k, err
	}
	return s.exists(r, k, q)
}

// exists is the answer to making a thread that is there.
func (s *Server) exists(r *http.Request, k known, q threadCreate) (known, error) {
	if q.IfExists == "do_nothing" {
		if found, err := s.find(r, k.id); err == nil {
			return found, nil
		}
	}
	return k, refused(http.StatusConflict, "the thread %q exists already", k.id)
}

// withThread answers for a thread that the caller may see.
func (s *Server) withThread(w http.ResponseWriter, r *http.Request, do func(known) (any, error)) {
	var v any
	k, err := s.find(r, r.PathValue("thread"))
	if err == nil {
		v, err = do(k)
	}
	answer(w, v, err)
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
			if *k, err = s.recordAt(ctx, k.id); err != nil {
				return err
			}
		}
		stale = true
		if !k.has && k.record.Created.IsZero() {
			k.record.Created = time.Now().UTC()
		}
		k.record.Metadata, k.record.Updated = merged(k.record.Metadata, metadata), time.Now().UTC()
		err = s.save(ctx, *k)
		k.has = k.has || err == nil
		return err
	})
}

// threadDelete cancels what runs on the thread first.
func (s *Server) threadDelete(w http.ResponseWriter, r *http.Request) {
	s.withThread(w, r, func(k known) (any, error) {
		if err := s.notARoom(k.id); err != nil {
			return nil, err
		}
		return nil, s.remove(r.Context(), k.id)
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
