package sharedsession

import (
	"slices"
	"time"
)

// view is the room as caller sees it. One who has left sees what was there then.
func (s *state) view(caller Caller, now time.Time) Room {
	r := Room{ID: s.id, Name: s.room.Name, Topic: s.room.Topic, Status: Open, CreatedAt: s.room.CreatedAt, CreatedBy: s.room.CreatedBy,
		ExpiresAt: s.expires(), LastMessageAt: s.work.LastMessageAt, MaxMessages: s.room.MaxMessages, MaxCostUSD: s.room.MaxCostUSD,
		TTLHours: s.room.TTLHours, MessageCount: s.work.Count, CostUSD: s.work.CostUSD, CostKnown: !s.work.CostUnknown,
		HeadSeq: s.length, Agents: s.agents(), Summary: s.room.Summary}
	for _, m := range s.room.Members {
		if m.Left == nil {
			r.ParticipantCount++
		}
	}
	switch m := s.find(caller.Party); {
	case m == nil || m.Left != nil && caller.Admin:
	case m.Left != nil:
		r.HeadSeq, r.MessageCount, r.LastMessageAt = m.Left.Seq, m.Left.Count, m.Left.LastMessageAt
		r.CostUSD, r.CostKnown, r.Summary = m.Left.CostUSD, !m.Left.CostUnknown, nil
	default:
		p := s.work.Places[m.key()]
		r.Role, r.Unread, r.UnreadMentions = &m.Role, max(p.Others-p.ReadOthers, 0), max(p.Mentions-p.ReadMentions, 0)
	}
	if c := s.ended(now); c != nil {
		r.Status, r.StopReason, r.ClosedAt = Closed, &c.Reason, &c.At
	}
	r.BudgetUsed = s.used(r.MessageCount, r.CostUSD, now)
	return r
}

// ended returns the room's close; one whose time is over is closed, also before the line that
// says so is written (spec 5).
func (s *state) ended(now time.Time) *closing {
	if s.room.Close != nil {
		return s.room.Close
	}
	if at := s.expires(); at != nil && !now.Before(*at) {
		return &closing{At: *at, Reason: ReasonExpired}
	}
	return nil
}

// participants lists who is and was in the room, as far as the caller may know.
func (s *state) participants(upTo int64) []Participant {
	list := []Participant{}
	for _, m := range s.room.Members {
		if m.JoinedSeq > upTo {
			continue
		}
		p := Participant{Party: m.Party, Role: m.Role, JoinedAt: m.JoinedAt, ReadSeq: min(s.work.Places[m.key()].Read, upTo)}
		if m.Left != nil && m.Left.Seq <= upTo {
			p.LeftAt = &m.Left.At
		}
		list = append(list, p)
	}
	return list
}

// working lists the turns that are not over.
func (s *state) working() []Working {
	list := []Working{}
	for _, w := range s.work.Wakes {
		list = append(list, Working{Wake: w.ID, Agent: w.Agent, State: w.State, Since: w.Since})
	}
	return list
}

// wakeState returns how far a turn has come.
func (s *state) wakeState(w Wake) Wake {
	if i := s.waking(w.ID); i >= 0 {
		return s.work.Wakes[i].shown()
	}
	if i := slices.IndexFunc(s.done, func(d Wake) bool { return d.ID == w.ID }); i >= 0 {
		return s.done[i]
	}
	w.State = Done
	return w
}

func (s *state) waking(id string) int {
	return slices.IndexFunc(s.work.Wakes, func(w wake) bool { return w.ID == id })
}

// may says what a caller can do in a room.
type may struct {
	// read up to this seq; -1 is nothing.
	upTo int64
	// post messages, rename; manage members, budgets and close.
	post, manage bool
	present      bool
}

// refusal is the answer to a post that is not allowed, or nil.
func (m may) refusal() error {
	switch {
	case !m.present:
		return ErrNotFound
	case !m.post:
		return ErrForbidden
	}
	return nil
}

// rights returns what caller may do (spec 1.3, 1.5, 6).
func (s *state) rights(caller Caller) may {
	admin := caller.Admin && caller.Kind == User
	m := s.find(caller.Party)
	switch {
	case admin:
		return may{upTo: s.length, post: m == nil || m.Left != nil || m.posts(), manage: true, present: true}
	case m == nil:
		return may{upTo: -1}
	case m.Left != nil:
		return may{upTo: m.Left.Seq}
	}
	return may{upTo: s.length, post: m.posts(), manage: m.Role == Moderator, present: true}
}
