package langgraphapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/langrooms/langrooms/runs"
)

// runQuery is the fields of a request for a run.
type runQuery struct {
	AssistantID  string          `json:"assistant_id"`
	Input        json.RawMessage `json:"input"`
	Checkpoint   place           `json:"checkpoint"`
	CheckpointID string          `json:"checkpoint_id"`
	Config       struct {
		Configurable struct {
			CheckpointID string `json:"checkpoint_id"`
			Incognito    bool   `json:"incognito"`
			Ask          bool   `json:"ask"`
			Answer       bool   `json:"answer"`
		} `json:"configurable"`
	} `json:"config"`
	StreamMode   modes           `json:"stream_mode"`
	Resumable    bool            `json:"stream_resumable"`
	OnDisconnect string          `json:"on_disconnect"`
	OnCompletion string          `json:"on_completion"`
	IfNotExists  string          `json:"if_not_exists"`
	Metadata     map[string]any  `json:"metadata"`
	After        float64         `json:"after_seconds"`
	Multitask    string          `json:"multitask_strategy"`
	Command      json.RawMessage `json:"command"`
	Before       json.RawMessage `json:"interrupt_before"`
	AfterNodes   json.RawMessage `json:"interrupt_after"`
	Webhook      string          `json:"webhook"`
	FeedbackKeys []string        `json:"feedback_keys"`
}

// run is a Run object.
type run struct {
	ID        string         `json:"run_id"`
	Thread    string         `json:"thread_id"`
	Assistant string         `json:"assistant_id"`
	Status    runs.Status    `json:"status"`
	Metadata  map[string]any `json:"metadata"`
	Kwargs    map[string]any `json:"kwargs"`
	Multitask runs.Strategy  `json:"multitask_strategy"`
	Created   string         `json:"created_at"`
	Updated   string         `json:"updated_at"`
}

// kwargs is what is kept with a run of what the client asked for.
type kwargs struct {
	Graph      string          `json:"graph_id"`
	Input      json.RawMessage `json:"input,omitempty"`
	StreamMode []string        `json:"stream_mode"`
	Temporary  bool            `json:"temporary"`
}

func (s *Server) runObject(r runs.Run) run {
	o := run{ID: r.ID, Thread: r.Thread, Status: r.Status, Metadata: map[string]any{}, Kwargs: map[string]any{}, Multitask: r.Strategy,
		Created: stamp(r.Created), Updated: stamp(r.Updated), Assistant: assistantID(kwargsOf(r).Graph)}
	_ = json.Unmarshal(r.Metadata, &o.Metadata) // absent in runs of other surfaces
	_ = json.Unmarshal(r.Kwargs, &o.Kwargs)
	return o
}

// kwargsOf is what a run was asked with; a run of another surface has the defaults.
func kwargsOf(r runs.Run) kwargs {
	k := kwargs{Graph: graphPlain, StreamMode: []string{modeValues}}
	_ = json.Unmarshal(r.Kwargs, &k)
	return k
}

// check refuses what this server does not do, so that nobody takes it for done.
func (q runQuery) check() error {
	given := func(raw json.RawMessage) bool {
		text := string(bytes.TrimSpace(raw))
		return text != "" && text != "null" && text != "[]" && text != "{}" && text != `""`
	}
	bad := func(field, why string) error { return refused(http.StatusUnprocessableEntity, "%s: %s", field, why) }
	switch {
	case given(q.Before):
		return bad("interrupt_before", "runs are not interrupted before nodes here")
	case given(q.AfterNodes):
		return bad("interrupt_after", "runs are not interrupted after nodes here")
	case q.Webhook != "":
		return bad("webhook", "this server calls no webhooks")
	case len(q.FeedbackKeys) > 0:
		return bad("feedback_keys", "there is no feedback here")
	case given(q.Command):
		return bad("command", "there are no interrupts to resume and no nodes to go to; update the state by POST …/state")
	case !slices.Contains([]string{"", "reject", "enqueue", "interrupt", "rollback"}, q.Multitask):
		return bad("multitask_strategy", "it must be reject, enqueue, interrupt or rollback")
	case !slices.Contains([]string{"", "cancel", "continue"}, q.OnDisconnect):
		return bad("on_disconnect", "it must be cancel or continue")
	case !slices.Contains([]string{"", "delete", "keep"}, q.OnCompletion):
		return bad("on_completion", "it must be delete or keep")
	case !slices.Contains([]string{"", "create", "reject"}, q.IfNotExists):
		return bad("if_not_exists", "it must be create or reject")
	case q.After < 0 || q.After > 86_400:
		return bad("after_seconds", "it must be 0 to 86400")
	}
	return q.StreamMode.check()
}

// at is the checkpoint that the run starts from, said in any of three ways.
func (q runQuery) at() string {
	for _, id := range []string{string(q.Checkpoint), q.CheckpointID, q.Config.Configurable.CheckpointID} {
		if id != "" {
			return id
		}
	}
	return ""
}

// accepted is a run that will be taken, and how it is followed.
type accepted struct {
	runs.Run
	query runQuery
	known known
}

// accept reads a request for a run and takes it on. It answers a refusal itself.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, temporary bool) (accepted, bool) {
	var q runQuery
	key := s.keyed(r)
	if !read(w, r, &q) {
		return accepted{}, false
	}
	a, err := s.acceptQuery(r, q, key, temporary)
	if err != nil {
		s.fail(w, err)
		return accepted{}, false
	}
	location := "/threads/" + escape(a.Thread) + "/runs/" + a.ID
	if temporary {
		location = "/runs/" + a.ID
	}
	w.Header().Set("Content-Location", location)
	if a.Again {
		w.Header().Set(againHeader, "true")
	}
	if q.Resumable && !temporary {
		w.Header().Set("Location", location+"/stream")
	}
	return a, true
}

func (s *Server) acceptQuery(r *http.Request, q runQuery, key runKey, temporary bool) (accepted, error) {
	assistant, err := findAssistant(q.AssistantID)
	if err != nil {
		return accepted{}, err
	}
	if err := errors.Join(q.check(), key.check(temporary)); err != nil {
		return accepted{}, err
	}
	k, err := s.threadOf(r, q, temporary)
	if err != nil {
		return accepted{}, err
	}
	in, err := s.input(r.Context(), k, q)
	if err != nil {
		return accepted{}, err
	}
	if err := s.begun(r.Context(), &k, assistant); err != nil {
		return accepted{}, err
	}
	request := runs.Request{Thread: k.ID, Strategy: runs.Strategy(q.Multitask), After: time.Duration(q.After * float64(time.Second)), Input: in}
	request.Key, request.Digest = key.sums()
	if request.Strategy == "" && in.Checkpoint != "" {
		request.Strategy, err = s.overtakes(r.Context(), k.ID, in.Checkpoint)
		if err != nil {
			return accepted{}, err
		}
	}
	metadata := merged(merged(k.Record.Metadata, q.Metadata), map[string]any{"graph_id": assistant.GraphID, "assistant_id": assistant.ID})
	kw := kwargs{Graph: assistant.GraphID, StreamMode: q.StreamMode.list(), Temporary: temporary}
	if !in.Incognito {
		kw.Input = q.Input
	}
	if request.Metadata, err = json.Marshal(metadata); err == nil {
		request.Kwargs, err = json.Marshal(kw)
	}
	if err != nil {
		return accepted{}, err
	}
	run, err := s.cfg.Runs.Accept(r.Context(), request)
	return accepted{run, q, k}, err
}

func (s *Server) runCreate(w http.ResponseWriter, r *http.Request) {
	if a, ok := s.accept(w, r, false); ok {
		reply(w, s.runObject(a.Run))
	}
}

func (s *Server) runList(w http.ResponseWriter, r *http.Request) {
	q := struct {
		limit, offset *int
		status        string
	}{status: r.FormValue("status")}
	var err error
	if q.limit, err = number(r, "limit"); err == nil {
		q.offset, err = number(r, "offset")
	}
	if err != nil {
		s.fail(w, err)
		return
	}
	s.withThread(w, r, func(k known) (any, error) {
		limit, err := limitOf(q.limit, 1000)
		if err != nil {
			return nil, err
		}
		all, err := s.cfg.Runs.List(r.Context(), k.ID, 0)
		if err != nil {
			return nil, err
		}
		objects := []run{}
		for _, one := range all {
			if q.status == "" || q.status == string(one.Status) {
				objects = append(objects, s.runObject(one))
			}
		}
		offset := 0
		if q.offset != nil {
			offset = *q.offset
		}
		return page(objects, limit, offset), nil
	})
}

// withRun answers for a run of a thread that the caller may see.
func (s *Server) withRun(w http.ResponseWriter, r *http.Request, do func(known, runs.Run) error) {
	k, err := s.find(r, r.PathValue("thread"))
	if err == nil {
		var one runs.Run
		if one, err = s.cfg.Runs.Get(r.Context(), k.ID, r.PathValue("run")); err == nil {
			err = do(k, one)
		}
	}
	if err != nil {
		s.fail(w, err)
	}
}

func (s *Server) runGet(w http.ResponseWriter, r *http.Request) {
	s.withRun(w, r, func(_ known, one runs.Run) error {
		reply(w, s.runObject(one))
		return nil
	})
}

func (s *Server) runDelete(w http.ResponseWriter, r *http.Request) {
	s.withRun(w, r, func(k known, one runs.Run) error {
		err := s.cfg.Runs.Remove(r.Context(), k.ID, one.ID)
		if err == nil {
			w.WriteHeader(http.StatusNoContent)
		}
		return err
	})
}

func (s *Server) runCancel(w http.ResponseWriter, r *http.Request) {
	action := r.FormValue("action")
	if action != "" && action != "interrupt" && action != "rollback" {
		refuse(w, http.StatusUnprocessableEntity, "action is %q, it must be interrupt or rollback", action)
		return
	}
	s.withRun(w, r, func(k known, one runs.Run) error {
		if err := s.cfg.Runs.Cancel(r.Context(), k.ID, one.ID, action == "rollback"); err != nil {
			return err
		}
		if wait := r.FormValue("wait"); wait == "1" || wait == "true" {
			if err := s.cfg.Runs.Wait(r.Context(), k.ID, one.ID); err != nil {
				return err
			}
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		w.WriteHeader(http.StatusAccepted)
		return nil
	})
}
