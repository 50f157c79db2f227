package sharedsession

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
)

// Change is a field that may be set, or not; a nil Value takes the field's value away.
type Change[T any] struct {
	Set   bool
	Value *T
}

// UnmarshalJSON reads a value or null.
func (c *Change[T]) UnmarshalJSON(data []byte) error {
	c.Set = true
	return json.Unmarshal(data, &c.Value)
}

// Patch changes a room. Name and topic are any member's to change, the rest a moderator's
// (spec 2).
type Patch struct {
	Name        Change[string]
	Topic       Change[string]
	MaxMessages Change[int]
	MaxCostUSD  Change[float64]
	TTLHours    Change[float64]
	// Reopen makes a closed room an open one; a budget that is used up must be extended.
	Reopen bool
}

func (p Patch) check() error {
	switch {
	case p.Name.Set && p.Name.Value == nil:
		return ErrName
	case p.MaxMessages.Set && p.MaxMessages.Value == nil, p.TTLHours.Set && p.TTLHours.Value == nil:
		return ErrBudget
	}
	if p.Name.Set {
		if err := checkName(*p.Name.Value); err != nil {
			return err
		}
	}
	if err := checkTopic(p.Topic.Value); err != nil {
		return err
	}
	return checkBudgets(p.MaxMessages.Value, p.MaxCostUSD.Value, p.TTLHours.Value)
}

// Patch changes a room and returns it.
func (s *Service) Patch(ctx context.Context, caller Caller, id string, p Patch) (Room, error) {
	manages := p.MaxMessages.Set || p.MaxCostUSD.Set || p.TTLHours.Set || p.Reopen
	rights := func(r may) bool { return r.post && !manages || r.manage }
	var out Room
	err := s.manage(ctx, caller, id, rights, p.check, func(st *state, now time.Time) ([]langrooms.Message, error) {
		lines, err := st.patch(caller, p, now)
		out = st.view(caller, now)
		out.HeadSeq += int64(len(lines))
		return lines, err
	})
	return out, err
}

// manage changes a room for a caller who has the right to. Check is asked for what the room
// has no part in.
func (s *Service) manage(ctx context.Context, caller Caller, id string, has func(may) bool, check func() error, do func(*state, time.Time) ([]langrooms.Message, error)) error {
	_, _, rights, err := s.load(ctx, caller, id)
	switch {
	case err != nil:
		return err
	case !rights.present:
		return ErrNotFound
	case !has(rights):
		return ErrForbidden
	}
	if err := check(); err != nil {
		return err
	}
	_, err = s.change(ctx, id, func(st *state, now time.Time) ([]langrooms.Message, error) {
		if r := st.rights(caller); !r.present {
			return nil, ErrNotFound
		} else if !has(r) {
			return nil, ErrForbidden
		}
		return do(st, now)
	})
	return err
}

func unchecked() error { return nil }

func (s *state) patch(caller Caller, p Patch, now time.Time) ([]langrooms.Message, error) {
	was := s.room
	if p.Name.Set {
		s.room.Name = *p.Name.Value
	}
	if p.Topic.Set {
		s.room.Topic = p.Topic.Value
	}
	if p.MaxMessages.Set {
		s.room.MaxMessages = *p.MaxMessages.Value
	}
	if p.MaxCostUSD.Set {
		s.room.MaxCostUSD = p.MaxCostUSD.Value
	}
	if p.TTLHours.Set {
		s.room.TTLHours = *p.TTLHours.Value
	}
	var lines []langrooms.Message
	say := func(text string) { lines = append(lines, line(caller.shown()+" "+text, note{})) }
	if p.Name.Set && was.Name != s.room.Name {
		say(fmt.Sprintf("renamed the room to %q.", s.room.Name))
	}
	if reopens := p.Reopen && s.ended(now) != nil || p.Reopen && was.Close != nil; reopens {
		if s.room.Close = nil; p.TTLHours.Set || was.Close != nil {
			s.room.OpenedAt = now
		}
		if reason := s.exhausted(now); reason != "" {
			s.room = was
			return nil, ErrExhausted
		}
		s.room.Summary = nil
		say("reopened the room.")
	}
	s.changed[roomChannel] = true
	return lines, nil
}

// Shut closes a room. Closing a closed one changes nothing: the first reason stays.
func (s *Service) Shut(ctx context.Context, caller Caller, id, reason string) (Closing, error) {
	if reason == "" {
		reason = ReasonUser
	}
	check := func() error {
		if utf8.RuneCountInString(reason) > MaxReason || !utf8.ValidString(reason) {
			return ErrReason
		}
		return nil
	}
	out := Closing{RoomID: id, Closed: true}
	err := s.manage(ctx, caller, id, func(r may) bool { return r.manage }, check, func(st *state, now time.Time) ([]langrooms.Message, error) {
		if st.room.Close != nil {
			out.AlreadyClosed, out.StopReason = true, st.room.Close.Reason
			return nil, nil
		}
		var by *Party
		if out.StopReason = st.exhausted(now); out.StopReason != ReasonExpired {
			out.StopReason, by = reason, &caller.Party
		} else {
			out.AlreadyClosed = true
		}
		return []langrooms.Message{line(st.close(by, out.StopReason, now), note{})}, nil
	})
	return out, err
}

// AddParticipant seats one who is not in the room; one who is stays as it is.
func (s *Service) AddParticipant(ctx context.Context, caller Caller, id string, who Party, role Role) (Detail, error) {
	if role == "" {
		role = Member
	}
	roster := s.roster()
	check := func() error {
		switch {
		case who.Kind != Agent && who.Kind != User || langrooms.CheckIdentity(who.Name) != nil:
			return ErrParticipant
		case !role.valid():
			return ErrRole
		case who.Kind == Agent && !s.reaches(caller, roster, who.Name):
			return ErrAccess
		}
		return nil
	}
	err := s.manage(ctx, caller, id, func(r may) bool { return r.manage }, check, func(st *state, now time.Time) ([]langrooms.Message, error) {
		switch {
		case st.present(who) != nil:
			return nil, nil
		case st.ended(now) != nil:
			return nil, closedError(st.ended(now).Reason)
		case who.Kind == Agent && len(st.agents()) >= MaxAgents:
			return nil, ErrTooMany
		}
		st.seat(who, role, st.seq(0), now)
		return []langrooms.Message{line(who.shown()+" joined, added by "+caller.shown()+".", note{})}, nil
	})
	return s.after(ctx, caller, id, err)
}

// after returns a room as it is after a change.
func (s *Service) after(ctx context.Context, caller Caller, id string, err error) (Detail, error) {
	if err != nil {
		return Detail{}, err
	}
	st, _, rights, err := s.load(ctx, caller, id)
	if err != nil {
		return Detail{}, err
	}
	d := Detail{Room: st.view(caller, time.Now().UTC()), Participants: st.participants(rights.upTo), Messages: []Message{}, Working: []Working{}}
	if rights.present {
		d.Working = st.working()
	}
	return d, nil
}

// RemoveParticipant takes one out of the room; its turns end. A name of both an agent and a
// user means the agent, unless kind says otherwise. Every member may take itself out.
func (s *Service) RemoveParticipant(ctx context.Context, caller Caller, id string, kind Kind, name string) (Detail, error) {
	self := caller.Name == name && (kind == "" || kind == caller.Kind)
	var stopped []string
	err := s.manage(ctx, caller, id, func(r may) bool { return r.manage || self }, unchecked, func(st *state, now time.Time) ([]langrooms.Message, error) {
		m := st.leaver(caller, kind, name)
		if m == nil {
			return nil, nil
		}
		text := m.shown() + " left."
		if m.Party != caller.Party {
			if !st.rights(caller).manage {
				return nil, ErrForbidden
			}
			text = m.shown() + " left, removed by " + caller.shown() + "."
		}
		m.Left = &leaving{At: now, Seq: st.seq(0), Count: st.work.Count, CostUSD: st.work.CostUSD,
			CostUnknown: st.work.CostUnknown, LastMessageAt: st.work.LastMessageAt}
		st.changed[roomChannel] = true
		for _, w := range slices.Clone(st.work.Wakes) {
			if m.Kind == Agent && w.Agent == m.Name {
				stopped = append(stopped, w.ID)
				st.finish(w.ID, Stopped)
			}
		}
		return []langrooms.Message{line(text, note{})}, nil
	})
	for _, wake := range stopped {
		s.cancelTurn(wake)
	}
	return s.after(ctx, caller, id, err)
}

// leaver returns the present member that a name means.
func (s *state) leaver(caller Caller, kind Kind, name string) *member {
	kinds := []Kind{Agent, User}
	switch {
	case kind != "":
		kinds = []Kind{kind}
	case caller.Name == name && caller.Kind == User:
		kinds = []Kind{User, Agent}
	}
	for _, k := range kinds {
		if m := s.present(Party{k, name}); m != nil {
			return m
		}
	}
	return nil
}

// Stop ends a turn that waits or runs; the agent's peer is told to stop. A turn that is over
// stays what it is. People who may post, and moderators, can stop one.
func (s *Service) Stop(ctx context.Context, caller Caller, id, wakeID string) (Wake, error) {
	var out Wake
	has := func(r may) bool { return r.manage || r.post && caller.Kind == User }
	err := s.manage(ctx, caller, id, has, unchecked, func(st *state, now time.Time) ([]langrooms.Message, error) {
		if i := slices.IndexFunc(st.done, func(w Wake) bool { return w.ID == wakeID }); i >= 0 {
			out = st.done[i]
			return nil, nil
		}
		i := st.waking(wakeID)
		if i < 0 {
			return nil, ErrWakeNotFound
		}
		w := st.work.Wakes[i]
		st.finish(wakeID, Stopped)
		out = Wake{ID: w.ID, Agent: w.Agent, State: Stopped}
		return []langrooms.Message{line(caller.shown()+" stopped @"+w.Agent+".", note{Wake: w.ID, Chains: w.Chains})}, nil
	})
	if err == nil {
		s.cancelTurn(wakeID)
	}
	return out, err
}

// cancelTurn stops a turn that runs in this process.
func (s *Service) cancelTurn(wake string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.turns[wake]; cancel != nil {
		cancel(errStopped)
	}
}
