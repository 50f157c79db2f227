package runs

import (
	"sync"
	"time"

	"github.com/langrooms/langrooms"
)

// The bounds on what is kept of one run's events. Beyond them pieces of text are dropped: the
// whole words come with the message itself.
const (
	maxEvents = 20_000
	maxText   = 4 << 20
)

// stream is the events of a run of this process, in memory while it is live.
type stream struct {
	mu      sync.Mutex
	events  []Event
	text    int
	ended   bool
	changed chan struct{} // closed at each change, and then another one
}

func newStream() *stream { return &stream{changed: make(chan struct{})} }

// add appends an event and gives it its place; it reports false for one that was dropped.
func (s *stream) add(e Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.isText() {
		if s.text += len(e.Turn.Progress.Text); s.text > maxText || len(s.events) >= maxEvents {
			return false
		}
	}
	e.Seq = int64(len(s.events))
	s.events = append(s.events, e)
	s.tell()
	return true
}

// feed takes what a turn tells.
func (s *stream) feed() Feed {
	return Feed{
		Events: func(e langrooms.Event) { s.add(Event{Type: EventTurn, Time: time.Now().UTC(), Turn: &e}) },
		Stored: func(checkpoint string, messages []langrooms.Message) {
			for _, m := range messages {
				s.add(Event{Type: EventStored, Time: time.Now().UTC(), Message: &m, Checkpoint: checkpoint})
			}
		},
	}
}

// end says that nothing follows.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.tell()
}

// tell wakes who waits. s.mu is held.
func (s *stream) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// from returns the events from position n on, whether that is all there will be, and what
// is closed at the next change.
func (s *stream) from(n int64) (events []Event, ended bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = min(max(n, 0), int64(len(s.events)))
	return s.events[n:len(s.events):len(s.events)], s.ended, s.changed
}

// len is the number of events so far.
func (s *stream) len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.events))
}

// isText reports whether e is a piece of an answer or of reasoning.
func (e Event) isText() bool {
	return e.Turn != nil && e.Turn.Progress != nil &&
		(e.Turn.Progress.Kind == langrooms.ProgressText || e.Turn.Progress.Kind == langrooms.ProgressThought)
}
