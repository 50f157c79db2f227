package late

import (
	"slices"
	"sync"

	"github.com/langrooms/langrooms"
)

// maxArrivals is how many arrivals a subscription keeps for a reader that is busy.
const maxArrivals = 64

// arrivals are those who want to hear of what has landed.
type arrivals struct {
	mu     sync.Mutex
	closed bool
	all    []*subscription
}

// subscription is one reader. Its channel is closed with it; sends and the close are under
// arrivals.mu.
type subscription struct {
	wants func(thread string) bool
	c     chan langrooms.Arrival
}

// subscribe adds a reader of the threads that wants accepts. After close the channel is
// closed already.
func (a *arrivals) subscribe(wants func(thread string) bool) (<-chan langrooms.Arrival, func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &subscription{wants, make(chan langrooms.Arrival, maxArrivals)}
	if a.closed {
		close(s.c)
		return s.c, func() {}
	}
	a.all = append(a.all, s)
	return s.c, func() { a.leave(s) }
}

func (a *arrivals) leave(s *subscription) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.all, s); i >= 0 {
		a.all = slices.Delete(a.all, i, i+1)
		close(s.c)
	}
}

// tell hands m to whoever wants it and waits for nobody.
func (a *arrivals) tell(m langrooms.Arrival) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.all {
		if s.wants(m.Thread) {
			s.offer(m)
		}
	}
}

// offer puts m at the end. Where the reader is too far behind, its oldest go, and m says how
// many.
func (s *subscription) offer(m langrooms.Arrival) {
	for {
		select {
		case s.c <- m:
			return
		default:
		}
		select {
		case old := <-s.c:
			m.Missed += old.Missed + 1
		default: // the reader has just taken it
		}
	}
}

// close ends all subscriptions.
func (a *arrivals) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, s := range a.all {
		close(s.c)
	}
	a.all = nil
}
