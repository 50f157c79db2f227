package sharedsession

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/internal/names"
)

// The bounds of a room (spec 2).
const (
	MaxName    = 200  // characters
	MaxTopic   = 2000 // characters
	MaxAgents  = 12
	MaxContent = 8000 // characters
	MaxReason  = 50   // characters
)

// Invitee is an agent of a new room. An empty Role is member.
type Invitee struct {
	Name string
	Role Role
}

// NewRoom is what a room is created from.
type NewRoom struct {
	Name   string
	Agents []Invitee
	// Users are members from the beginning.
	Users []string
	Topic *string
	// A budget that is nil is the default; a MaxCostUSD that is nil is the default's too.
	MaxMessages *int
	MaxCostUSD  *float64
	TTLHours    *float64
	// Scribe is one of the agents; empty is none.
	Scribe string
}

// Create makes a room, with its members and the line that says so, as one write. The creator
// is its moderator; of a room that an agent creates its owner is, if it has one.
func (s *Service) Create(ctx context.Context, caller Caller, n NewRoom) (Detail, error) {
	if err := s.checkNew(caller, &n); err != nil {
		return Detail{}, err
	}
	now := time.Now().UTC()
	st := &state{id: newRoomID(), changed: map[string]bool{roomChannel: true, workChannel: true}}
	d := s.cfg.Defaults()
	st.room = roomState{Format: format, Name: n.Name, Topic: n.Topic, CreatedAt: now, OpenedAt: now, CreatedBy: caller.Party,
		MaxMessages: d.MaxMessages, MaxCostUSD: d.MaxCostUSD, TTLHours: d.TTLHours}
	if n.MaxMessages != nil {
		st.room.MaxMessages = *n.MaxMessages
	}
	if n.MaxCostUSD != nil {
		st.room.MaxCostUSD = n.MaxCostUSD
	}
	if n.TTLHours != nil {
		st.room.TTLHours = *n.TTLHours
	}
	st.seatAll(caller, n, now)
	h, err := exchange.Hold(ctx, s.cfg.Saver, st.id)
	if err != nil {
		return Detail{}, fmt.Errorf("creating a room: %w", err)
	}
	first := line(st.creation(caller), note{})
	err = errors.Join(put(h.Put, st, []langrooms.Message{first}), h.End())
	if err != nil {
		return Detail{}, fmt.Errorf("creating a room: %w", err)
	}
	s.stored(st)
	first.Seq = 0
	return Detail{Room: st.view(caller, now), Participants: st.participants(st.length), Messages: []Message{shown(first)}, Working: []Working{}}, nil
}

func (s *Service) checkNew(caller Caller, n *NewRoom) error {
	if err := checkName(n.Name); err != nil {
		return err
	}
	switch {
	case len(n.Agents) == 0:
		return ErrNobody
	case len(n.Agents) > MaxAgents:
		return ErrTooMany
	}
	seen := map[string]bool{}
	for i := range n.Agents {
		a := &n.Agents[i]
		if seen[a.Name] {
			return ErrDuplicate
		}
		seen[a.Name] = true
		if a.Role == "" {
			a.Role = Member
		}
		if !a.Role.valid() {
			return ErrRole
		}
	}
	if n.Scribe != "" && !seen[n.Scribe] {
		return ErrScribe
	}
	if err := checkTopic(n.Topic); err != nil {
		return err
	}
	if err := checkBudgets(n.MaxMessages, n.MaxCostUSD, n.TTLHours); err != nil {
		return err
	}
	for _, user := range n.Users {
		if langrooms.CheckIdentity(user) != nil {
			return ErrParticipant
		}
	}
	roster := s.roster()
	for _, a := range n.Agents {
		if caller.Party != (Party{Agent, a.Name}) && !s.reaches(caller, roster, a.Name) {
			return ErrAccess
		}
	}
	return nil
}

func (r Role) valid() bool { return slices.Contains([]Role{Moderator, Member, Observer, Scribe}, r) }

func checkName(name string) error {
	if n := utf8.RuneCountInString(name); n > MaxName || blank(name) || !utf8.ValidString(name) {
		return ErrName
	}
	return nil
}

// blank reports whether nothing is seen of text.
func blank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || names.Ignorable(r) }) == ""
}

func checkTopic(topic *string) error {
	if topic != nil && (utf8.RuneCountInString(*topic) > MaxTopic || !utf8.ValidString(*topic)) {
		return ErrTopic
	}
	return nil
}

func checkBudgets(messages *int, cost, hours *float64) error {
	switch {
	case messages != nil && (*messages < 1 || *messages > 500):
		return ErrBudget
	case cost != nil && !(*cost > 0 && !math.IsInf(*cost, 0)):
		return ErrBudget
	case hours != nil && !(*hours >= 0 && *hours <= 168):
		return ErrBudget
	}
	return nil
}

// seatAll seats a new room's members; the line of creation, seq 1, says who they are.
func (s *state) seatAll(caller Caller, n NewRoom, now time.Time) {
	role := Moderator
	if caller.Kind == Agent && caller.Owner != "" {
		s.seat(Party{User, caller.Owner}, Moderator, 1, now)
		role = Member
	}
	s.seat(caller.Party, role, 1, now)
	for _, a := range n.Agents {
		r := a.Role
		if a.Name == n.Scribe {
			r = Scribe
		}
		if who := (Party{Agent, a.Name}); s.find(who) == nil || r != Member {
			s.seat(who, r, 1, now)
		}
	}
	for _, name := range n.Users {
		if who := (Party{User, name}); s.find(who) == nil {
			s.seat(who, Member, 1, now)
		}
	}
}

// creation is the line of seq 1.
func (s *state) creation(caller Caller) string {
	var with []string
	for _, m := range s.room.Members {
		if m.Party != caller.Party {
			with = append(with, m.shown())
		}
	}
	text := caller.shown() + " created the room"
	if len(with) > 0 {
		text += " with " + strings.Join(with, ", ")
	}
	return text + "."
}
