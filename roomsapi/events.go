package roomsapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/langrooms/langrooms/sharedsession"
)

// aliveEvery is how often a quiet stream has a comment line (spec 7).
const aliveEvery = 15 * time.Second

// events streams what happens in a room. The goroutine that reads the room ends with the
// request.
func (s *Server) events(w http.ResponseWriter, r *http.Request) (any, error) {
	since, err := sinceOf(r)
	if err != nil {
		return nil, s.unusable(r, err)
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	events, err := s.cfg.Rooms.Events(ctx, s.cfg.Who(r), r.PathValue("id"), since)
	if err != nil {
		return nil, err
	}
	c := unbounded(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	_ = c.Flush()
	ch := make(chan sharedsession.Event)
	go func() {
		defer close(ch)
		for e, err := range events {
			if err != nil {
				s.cfg.Failed(err)
				return
			}
			select {
			case ch <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	stream(w, c, ch)
	cancel()
	for range ch { // the reader of the room is gone when this ends
	}
	return answered, nil
}

// stream writes events until there are no more or nobody reads them.
func stream(w http.ResponseWriter, c *http.ResponseController, events <-chan sharedsession.Event) {
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for {
		var err error
		select {
		case e, more := <-events:
			if !more {
				return
			}
			var data []byte
			if data, err = json.Marshal(e.Data); err == nil {
				_, err = fmt.Fprintf(w, "id: %s\nevent: %s\ndata: %s\n\n", e.ID, e.Type, data)
			}
			alive.Reset(aliveEvery)
		case <-alive.C:
			_, err = fmt.Fprint(w, ": alive\n\n")
		}
		if err == nil {
			err = c.Flush()
		}
		if err != nil {
			return
		}
	}
}

// sinceOf is where a stream begins: Last-Event-ID wins (spec 7).
func sinceOf(r *http.Request) (int64, error) {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		return sharedsession.SinceOf(id)
	}
	n, err := number(r, "since")
	if err != nil || n == nil {
		return 0, err
	}
	return *n, nil
}
