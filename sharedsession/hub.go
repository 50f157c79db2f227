package sharedsession

import (
	"context"
	"slices"
	"sync"
	"time"
)

// pollEvery is how often a room is looked at for what other processes have done in it.
const pollEvery = time.Second

// hub tells those who look at a room that it has changed, and what a running turn says.
type hub struct {
	mu     sync.Mutex
	rooms  map[string][]*sub
	closed bool
	// words are what each running turn has said so far, by room and turn, for who comes later.
	words map[string]map[string]Event
}

// sub is one who looks at a room.
type sub struct {
	hub  *hub
	room string
	// changed has a value when something may have changed.
	changed chan struct{}
	// partial are words and reports of running turns; what does not fit is dropped.
	partial chan Event
}

const partialBuffer = 64

func (h *hub) join(room string) *sub {
	u := &sub{hub: h, room: room, changed: make(chan struct{}, 1), partial: make(chan Event, partialBuffer)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rooms == nil {
		h.rooms = map[string][]*sub{}
	}
	h.rooms[room] = append(h.rooms[room], u)
	for _, e := range h.words[room] {
		u.offer(e)
	}
	if h.closed {
		close(u.changed)
	}
	return u
}

func (u *sub) leave() {
	u.hub.mu.Lock()
	defer u.hub.mu.Unlock()
	subs := slices.DeleteFunc(slices.Clone(u.hub.rooms[u.room]), func(o *sub) bool { return o == u })
	if u.hub.rooms[u.room] = subs; len(subs) == 0 {
		delete(u.hub.rooms, u.room)
	}
}

// wait returns when the room may have changed or after a time; the error is errEnding.
func (u *sub) wait(ctx context.Context, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case _, open := <-u.changed:
		if !open {
			return errEnding
		}
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

func (h *hub) nudge(room string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	for _, u := range h.rooms[room] {
		select {
		case u.changed <- struct{}{}:
		default:
		}
	}
}

func (h *hub) say(room string, e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p, ok := e.Data.(Partial); ok {
		if h.words == nil {
			h.words = map[string]map[string]Event{}
		}
		if h.words[room] == nil {
			h.words[room] = map[string]Event{}
		}
		h.words[room][p.Wake] = e
	}
	for _, u := range h.rooms[room] {
		u.offer(e)
	}
}

// hush forgets what a turn has said so far: it has ended.
func (h *hub) hush(room, wake string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.words[room], wake)
	if len(h.words[room]) == 0 {
		delete(h.words, room)
	}
}

// offer gives u an event, or drops it where u is too far behind.
func (u *sub) offer(e Event) {
	select {
	case u.partial <- e:
	default:
	}
}

// close ends every wait.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	for _, subs := range h.rooms {
		for _, u := range subs {
			close(u.changed)
		}
	}
}
