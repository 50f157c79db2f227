package langgraphapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/langrooms/langrooms/runs"
)

func escape(id string) string { return url.PathEscape(id) }

// number reads a whole number of the query; absent is nil.
func number(r *http.Request, name string) (*int, error) {
	text := r.FormValue(name)
	if text == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, refused(http.StatusUnprocessableEntity, "%s is %q, it must be a number", name, text)
	}
	return &n, nil
}

func (s *Server) runWait(w http.ResponseWriter, r *http.Request) {
	if a, ok := s.accept(w, r, false); ok {
		s.join(w, r, a)
	}
}

func (s *Server) runJoin(w http.ResponseWriter, r *http.Request) {
	s.withRun(w, r, func(k known, one runs.Run) error {
		s.join(w, r, accepted{Run: one, known: k})
		return nil
	})
}

// join answers with the final values when the run is over. The head goes out at once and a
// space now and then, which is allowed before JSON, so that no proxy takes the line for dead.
func (s *Server) join(w http.ResponseWriter, r *http.Request, a accepted) {
	w.Header().Set("Content-Type", "application/json")
	flusher := http.NewResponseController(w)
	w.WriteHeader(http.StatusOK)
	_ = flusher.Flush()
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() { done <- s.cfg.Runs.Wait(ctx, a.Thread, a.ID) }()
	ticker := time.NewTicker(s.cfg.Heartbeat)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			s.finish(a, r.Context().Err() != nil)
			if err == nil {
				s.writeFinal(w, r.Context(), a)
			}
			return
		case <-ticker.C:
			_, _ = w.Write([]byte("\n"))
			_ = flusher.Flush()
		}
	}
}

// finish ends what a broken connection ends.
func (s *Server) finish(a accepted, broken bool) {
	if !broken || a.query.OnDisconnect != "cancel" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = s.cfg.Runs.Abandon(ctx, a.Thread, a.ID) // nobody is there to be told
}

// writeFinal writes the state that a run has ended with, or its error.
func (s *Server) writeFinal(w http.ResponseWriter, ctx context.Context, a accepted) {
	one, err := s.cfg.Runs.Get(ctx, a.Thread, a.ID)
	var v any
	if err == nil && one.Status == runs.Failed {
		v = map[string]any{"__error__": map[string]string{"error": "Error", "message": one.Error}}
	} else if err == nil {
		var st state
		st, err = s.stateOf(ctx, a.known, "")
		v = st.Values
	}
	if err != nil {
		v = map[string]any{"__error__": map[string]string{"error": "Error", "message": err.Error()}}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
}

// temporary runs work on a thread of their own, which goes with them unless it is to be kept.
func (s *Server) temporary(w http.ResponseWriter, r *http.Request, follow func(accepted)) {
	a, ok := s.accept(w, r, true)
	if !ok {
		return
	}
	follow(a)
	if a.query.OnCompletion == "keep" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 30*time.Second)
	defer cancel()
	if one, err := s.cfg.Runs.Get(ctx, a.Thread, a.ID); err == nil && !one.Status.Live() {
		_ = s.cfg.Delete(ctx, a.Thread) // it is nobody's, and only takes room
	}
}

func (s *Server) statelessStream(w http.ResponseWriter, r *http.Request) {
	s.temporary(w, r, func(a accepted) { s.stream(w, r, a, -1) })
}

func (s *Server) statelessWait(w http.ResponseWriter, r *http.Request) {
	s.temporary(w, r, func(a accepted) { s.join(w, r, a) })
}

func (s *Server) statelessCreate(w http.ResponseWriter, r *http.Request) {
	if a, ok := s.accept(w, r, true); ok {
		reply(w, s.runObject(a.Run))
	}
}

func (s *Server) statelessBatch(w http.ResponseWriter, r *http.Request) {
	var queries []runQuery
	key := s.keyed(r)
	if !read(w, r, &queries) {
		return
	}
	objects := []run{}
	for _, q := range queries {
		a, err := s.acceptQuery(r, q, key, true)
		if err != nil {
			s.fail(w, err)
			return
		}
		objects = append(objects, s.runObject(a.Run))
	}
	reply(w, objects)
}
