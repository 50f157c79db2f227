package langgraphapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
)

func (s *Server) runStream(w http.ResponseWriter, r *http.Request) {
	if a, ok := s.accept(w, r, false); ok {
		s.stream(w, r, a, -1)
	}
}

// runJoinStream sends what follows Last-Event-ID; without one, what is still to come.
func (s *Server) runJoinStream(w http.ResponseWriter, r *http.Request) {
	after, fromNow := int64(-1), true
	if text := r.Header.Get("Last-Event-ID"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			refuse(w, http.StatusUnprocessableEntity, "Last-Event-ID is %q, it must be a number", text)
			return
		}
		after, fromNow = n, false
	}
	s.withRun(w, r, func(k known, one runs.Run) error {
		a := accepted{Run: one, known: k}
		if r.FormValue("cancel_on_disconnect") == "1" || r.FormValue("cancel_on_disconnect") == "true" {
			a.query.OnDisconnect = "cancel"
		}
		if fromNow {
			position, err := s.cfg.Runs.Position(r.Context(), k.ID, one.ID)
			if err != nil {
				return err
			}
			s.streamFrom(w, r, a, func(e runs.Event, _ int64) bool { return e.Seq >= position })
			return nil
		}
		s.stream(w, r, a, after)
		return nil
	})
}

// stream sends the events after the one of this id.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, a accepted, after int64) {
	s.streamFrom(w, r, a, func(_ runs.Event, id int64) bool { return id > after })
}

// streamFrom sends a run's events for which due says yes, until the run is over. The head goes
// out at once: clients wait for it.
func (s *Server) streamFrom(w http.ResponseWriter, r *http.Request, a accepted, due func(runs.Event, int64) bool) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	line := &eventLine{w: w, flusher: http.NewResponseController(w)}
	line.flush()
	ctx, cancel := context.WithCancel(r.Context())
	events := make(chan next)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.pump(ctx, a, events)
	}()
	defer func() {
		broken := r.Context().Err() != nil || line.err != nil
		cancel()
		<-done
		s.finish(a, broken)
	}()
	x := s.newExpander(a.Run, a.known)
	id := int64(0)
	if due(runs.Event{Seq: 0}, 0) {
		line.send(ctx, x.begin(), 0)
	}
	ticker := time.NewTicker(s.cfg.Heartbeat)
	defer ticker.Stop()
	for line.err == nil {
		select {
		case n, more := <-events:
			if !more {
				return
			}
			if n.err != nil {
				line.send(ctx, sent{"error", now(map[string]string{"error": "Error", "message": n.err.Error()})}, id+1)
				return
			}
			for _, out := range x.expand(n.event) {
				id++
				if due(n.event, id) {
					line.send(ctx, out, id)
				}
			}
		case <-ticker.C:
			line.comment("heartbeat")
		}
	}
}

// next is what the pump brings.
type next struct {
	event runs.Event
	err   error
}

// pump brings the events of a run from the first on. Events that are not kept any more are an
// empty stream.
func (s *Server) pump(ctx context.Context, a accepted, events chan<- next) {
	defer close(events)
	for e, err := range s.cfg.Runs.Events(ctx, a.Thread, a.ID, 0) {
		if ctx.Err() != nil || errors.Is(err, runs.ErrGone) {
			return
		}
		select {
		case events <- next{e, err}:
		case <-ctx.Done():
			return
		}
	}
}

// eventLine writes server-sent events. Its error is the first one; who reads has gone then.
type eventLine struct {
	w       http.ResponseWriter
	flusher *http.ResponseController
	err     error
}

func (l *eventLine) send(ctx context.Context, out sent, id int64) {
	v, err := out.data(ctx)
	if errors.Is(err, checkpointer.ErrNotFound) {
		return // the state of that moment was taken back
	}
	var data []byte
	if err == nil {
		data, err = marshal(v)
	}
	if err != nil {
		l.err = errors.Join(l.err, err)
		return
	}
	l.write(fmt.Sprintf("event: %s\ndata: %s\nid: %d\n\n", out.event, data, id))
}

func (l *eventLine) comment(text string) { l.write(": " + text + "\n\n") }

func (l *eventLine) write(text string) {
	if l.err != nil {
		return
	}
	_ = l.flusher.SetWriteDeadline(time.Now().Add(writeBound)) // a recorder in tests has none
	_, l.err = l.w.Write([]byte(text))
	l.flush()
}

func (l *eventLine) flush() {
	if err := l.flusher.Flush(); err != nil && l.err == nil && !errors.Is(err, http.ErrNotSupported) {
		l.err = err
	}
}

// writeBound is how long a reader may take to take one event.
const writeBound = 30 * time.Second
