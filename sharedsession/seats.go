package sharedsession

import "sync"

// maxSeats is how many rooms are remembered.
const maxSeats = 4096

// seats remembers who could post in a room when it was last written to here. It only spares a
// member's post the reading that says so: what is true stands on the thread, and is read under
// its hold.
type seats struct {
	mu    sync.Mutex
	rooms map[string]map[Party]bool
}

// note takes over who can post in the room.
func (s *seats) note(st *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, same, n := s.rooms[st.id], true, 0
	for _, m := range st.room.Members {
		if m.posts() {
			n++
			same = same && known[m.Party]
		}
	}
	if same && n == len(known) {
		return
	}
	known = make(map[Party]bool, n)
	for _, m := range st.room.Members {
		if m.posts() {
			known[m.Party] = true
		}
	}
	if s.rooms == nil || len(s.rooms) >= maxSeats {
		s.rooms = make(map[string]map[Party]bool)
	}
	s.rooms[st.id] = known
}

// has reports whether who could post in the room.
func (s *seats) has(room string, who Party) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rooms[room][who]
}

// posts reports whether a member may post.
func (m member) posts() bool { return m.Left == nil && m.Role != Observer }
