package sharedsession

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// EventType says what an event's Data is.
type EventType string

// The events of a room (spec 7).
const (
	EventMessage  EventType = "message"  // a Message
	EventWake     EventType = "wake"     // a Wake
	EventPartial  EventType = "partial"  // a Partial
	EventProgress EventType = "progress" // a Progress
	EventRoom     EventType = "room"     // a Room
	EventGone     EventType = "gone"     // a Gone; nothing follows
)

// Event is one thing that happened in a room.
type Event struct {
	// ID is the seq of the last message before or in it, and a counter; see [SinceOf].
	ID   string
	Type EventType
	Data any
}

// Partial is what a running turn has said so far; it is not stored.
type Partial struct {
	Wake  string `json:"wake"`
	Agent string `json:"agent"`
	Text  string `json:"text"`
}

// Progress is what a running turn reports beside its words.
type Progress struct {
	Wake  string                 `json:"wake"`
	Agent string                 `json:"agent"`
	Kind  langrooms.ProgressKind `json:"kind"`
	Text  string                 `json:"text"`
	State string                 `json:"state"`
}

// Gone says that the caller may not read the room any more.
type Gone struct {
	RoomID string `json:"room_id"`
}

// SinceOf returns the seq of an event's ID, from which a stream goes on.
func SinceOf(eventID string) (int64, error) {
	head, _, _ := strings.Cut(eventID, "-")
	seq, err := strconv.ParseInt(head, 10, 64)
	if err != nil || seq < 0 {
		return 0, ErrQuery
	}
	return seq, nil
}

// Events follows a room: every message behind since, once and in order, and what happens
// meanwhile. It ends with ctx, with the service, or with an EventGone when the caller has
// lost access; that is checked at every event and at least once a second. An error before
// the first event is a refusal.
func (s *Service) Events(ctx context.Context, caller Caller, id string, since int64) (iter.Seq2[Event, error], error) {
	st, _, _, err := s.load(ctx, caller, id)
	if err != nil {
		return nil, err
	}
	if since < 0 {
		return nil, ErrQuery
	}
	over := map[string]Wake{}
	for _, w := range st.done {
		over[w.ID] = w
	}
	return func(yield func(Event, error) bool) {
		f := &follower{s: s, caller: caller, id: id, sent: since, yield: yield, wakes: over, room: st.face(caller)}
		f.follow(ctx)
	}, nil
}

// follower is one stream of a room's events.
type follower struct {
	s      *Service
	caller Caller
	id     string
	sent   int64
	n      int
	yield  func(Event, error) bool

	// wakes are the turns as last told, room what else was last told; they begin as they
	// were when the stream was asked for.
	wakes map[string]Wake
	room  string
}

func (f *follower) follow(ctx context.Context) {
	sub := f.s.hub.join(f.id)
	defer sub.leave()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		if !f.look(ctx) {
			return
		}
		for again := true; again; {
			select {
			case e := <-sub.partial:
				if !f.emit(e.Type, e.Data) {
					return
				}
			case _, open := <-sub.changed:
				if again = false; !open {
					return
				}
			case <-poll.C:
				again = false
			case <-ctx.Done():
				return
			}
		}
	}
}

// look emits what is new in the room, and reports whether to go on.
func (f *follower) look(ctx context.Context) bool {
	st, at, rights, err := f.s.load(ctx, f.caller, f.id)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return false
	case errors.Is(err, ErrNotFound):
		f.emit(EventGone, Gone{f.id})
		return false
	default:
		f.yield(Event{}, err)
		return false
	}
	if !f.messages(ctx, at, rights.upTo) {
		return false
	}
	if !rights.present {
		f.emit(EventGone, Gone{f.id})
		return false
	}
	return f.turns(st) && f.changes(st)
}

func (f *follower) messages(ctx context.Context, at checkpointer.Ref, upTo int64) bool {
	if f.sent >= upTo {
		return true
	}
	for m, err := range f.s.cfg.Saver.Messages(ctx, at, checkpointer.Range{From: f.sent, To: upTo}) {
		if err != nil {
			if ctx.Err() == nil {
				f.yield(Event{}, fmt.Errorf("reading the room %q: %w", f.id, err))
			}
			return false
		}
		f.sent = m.Seq + 1
		if !f.emit(EventMessage, shown(m)) {
			return false
		}
	}
	return true
}

// turns emits the turns whose state has changed.
func (f *follower) turns(st *state) bool {
	now := map[string]Wake{}
	for _, w := range st.work.Wakes {
		now[w.ID] = w.shown()
		if f.wakes[w.ID].State != w.State && !f.emit(EventWake, w.shown()) {
			return false
		}
	}
	for _, w := range st.done {
		if now[w.ID] = w; f.wakes[w.ID].State != w.State && !f.emit(EventWake, w) {
			return false
		}
	}
	f.wakes = now
	return true
}

// changes emits the room when more than its messages has changed.
func (f *follower) changes(st *state) bool {
	before := f.room
	f.room = st.face(f.caller)
	return before == f.room || f.emit(EventRoom, st.view(f.caller, time.Now().UTC()))
}

// face is what of a room is worth telling beside its messages.
func (s *state) face(caller Caller) string {
	r := s.view(caller, time.Now().UTC())
	key, err := json.Marshal([]any{r.Name, r.Topic, r.Status, r.StopReason, r.MaxMessages, r.MaxCostUSD, r.TTLHours, r.Summary, s.room.Members})
	if err != nil {
		panic("sharedsession: a room does not marshal: " + err.Error())
	}
	return string(key)
}

func (f *follower) emit(t EventType, data any) bool {
	f.n++
	return f.yield(Event{ID: fmt.Sprintf("%d-%d", f.sent, f.n), Type: t, Data: data}, nil)
}
