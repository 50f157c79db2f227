package langgraphapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
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
	ctx, cancel := context.WithCancel(r.Context())
	line := &eventLine{w: w, flusher: http.NewResponseController(w), broke: cancel}
	line.flush()
	line.beat(s.cfg.Heartbeat)
	defer func() {
		broken := line.end() || r.Context().Err() != nil
		cancel()
		s.finish(a, broken)
	}()
	x := s.newExpander(a.Run, a.known)
	id := int64(0)
	if due(runs.Event{Seq: 0}, 0) {
		line.send(ctx, x.begin(), 0)
	}
	for e, err := range s.cfg.Runs.Events(ctx, a.Thread, a.ID, 0) {
		if ctx.Err() != nil || errors.Is(err, runs.ErrGone) { // events that are not kept any more are an empty stream
			return
		}
		if err != nil {
			line.send(ctx, sent{"error", now(map[string]string{"error": "Error", "message": err.Error()})}, id+1)
			return
		}
		for _, out := range x.expand(e) {
			id++
			if due(e, id) {
				line.send(ctx, out, id)
			}
		}
	}
}

// eventLine writes server-sent events, and a comment whenever it was quiet for a while. Its error
// is the first one; who reads has gone then, and broke is called. An idle stream has no goroutine
// of its own: there are many of them.
type eventLine struct {
	w       http.ResponseWriter
	flusher *http.ResponseController
	broke   func()

	mu    sync.Mutex
	err   error
	quiet *time.Timer // rings when a comment is due
	every time.Duration
	ended bool
}

// beat begins to send a comment after each silence of this length.
func (l *eventLine) beat(every time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.every = every
	l.quiet = time.AfterFunc(every, func() { l.comment("heartbeat") })
}

// end lets nothing be written any more, and reports whether the reader has gone.
func (l *eventLine) end() (broken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.quiet.Stop()
	return l.err != nil
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
		l.mu.Lock()
		l.fail(err)
		l.mu.Unlock()
		return
	}
	l.write(fmt.Sprintf("event: %s\ndata: %s\nid: %d\n\n", out.event, data, id))
}

func (l *eventLine) comment(text string) { l.write(": " + text + "\n\n") }

func (l *eventLine) write(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil || l.ended {
		return
	}
	_ = l.flusher.SetWriteDeadline(time.Now().Add(writeBound)) // a recorder in tests has none
	if _, err := l.w.Write([]byte(text)); err != nil {
		l.fail(err)
		return
	}
	l.flush()
	l.quiet.Reset(l.every)
}

// flush sends what was written. But for the head it is called with mu held.
func (l *eventLine) flush() {
	if err := l.flusher.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		l.fail(err)
	}
}

// fail keeps the first error and ends the stream. mu is held, but for the head.
func (l *eventLine) fail(err error) {
	if l.err == nil {
		l.err = err
		l.broke()
	}
}

// writeBound is how long a reader may take to take one event.
const writeBound = 30 * time.Second
