package sharedsession

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

// The channels of a room's thread. What changes seldom stands apart from what every message
// changes.
const (
	roomChannel = "session.room"
	workChannel = "session.work"
	keysChannel = "session.keys"
	doneChannel = "session.done"
)

// format is the version of the stored form.
const format = 1

// state is a room as it is stored in its thread's channels. It is a value under a hold, or
// of one read; the methods that change it are the room's policy.
type state struct {
	room roomState
	work workState
	// keys are the posts that carried an idempotency key, done the states of the newest
	// turns that are over.
	keys map[string]int64
	done []Wake

	id string
	// length is the thread's; changed says which channels the next write sets.
	length  int64
	changed map[string]bool
}

// roomState is who is in a room and what it may use.
type roomState struct {
	Format    int       `json:"format"`
	Name      string    `json:"name"`
	Topic     *string   `json:"topic,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	CreatedBy Party     `json:"created_by"`
	// OpenedAt is when the room was created or reopened; its time runs from there.
	OpenedAt    time.Time `json:"opened_at"`
	MaxMessages int       `json:"max_messages"`
	MaxCostUSD  *float64  `json:"max_cost_usd,omitempty"`
	TTLHours    float64   `json:"ttl_hours"`
	Members     []member  `json:"members"`
	Close       *closing  `json:"close,omitempty"`
	Summary     *string   `json:"summary,omitempty"`
}

type closing struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

type member struct {
	Party
	Role     Role      `json:"role"`
	JoinedAt time.Time `json:"joined_at"`
	// JoinedSeq is the seq of the line that says so: an agent's first slice begins behind it.
	JoinedSeq int64    `json:"joined_seq"`
	Left      *leaving `json:"left,omitempty"`
}

// leaving is what stood there when a member left: all that it may still read.
type leaving struct {
	At            time.Time  `json:"at"`
	Seq           int64      `json:"seq"`
	Count         int        `json:"count"`
	CostUSD       float64    `json:"cost_usd"`
	CostUnknown   bool       `json:"cost_unknown,omitempty"`
	LastMessageAt *time.Time `json:"last_message_at,omitempty"`
}

// workState is what every message changes.
type workState struct {
	// Length is the thread's length as far as counted: what another road has put behind it
	// is counted by the next writer.
	Length        int64      `json:"length"`
	Count         int        `json:"count"`
	CostUSD       float64    `json:"cost_usd"`
	CostUnknown   bool       `json:"cost_unknown,omitempty"`
	LastMessageAt *time.Time `json:"last_message_at,omitempty"`
	// Places are by party; see place.
	Places map[string]place `json:"places,omitempty"`
	Wakes  []wake           `json:"wakes,omitempty"`
	// Turns counts the turns of each chain that is not over, by the seq that began it.
	Turns map[int64]int `json:"turns,omitempty"`
	// Recent are the times of each sender's wakes within rateWindow, in Unix seconds.
	Recent map[string][]int64 `json:"recent,omitempty"`
	// TurnCost is the greatest cost of one turn so far.
	TurnCost float64 `json:"turn_cost,omitempty"`
}

// place is how far a member has read, and what there was to read.
type place struct {
	// Read is the seq up to which it has read.
	Read int64 `json:"read"`
	// Others counts the messages of others, Mentions those of them that mention it; the
	// rest is how many of them it has read.
	Others       int `json:"others,omitempty"`
	Mentions     int `json:"mentions,omitempty"`
	ReadOthers   int `json:"read_others,omitempty"`
	ReadMentions int `json:"read_mentions,omitempty"`
}

// wake is a turn of an agent that is not over.
type wake struct {
	ID    string    `json:"id"`
	Agent string    `json:"agent"`
	State State     `json:"state"`
	Since time.Time `json:"since"`
	// By is who caused it, Seqs the messages that did; the first is what it replies to.
	By   Party   `json:"by"`
	Seqs []int64 `json:"seqs,omitempty"`
	// Root is the message that began the chain, Depth how far from it this turn is, and
	// Chains all messages whose chain the turn belongs to.
	Root   int64   `json:"root,omitempty"`
	Depth  int     `json:"depth,omitempty"`
	Chains []int64 `json:"chains,omitempty"`
	// Attempt counts the times it was begun: only the newest may end it.
	Attempt int `json:"attempt,omitempty"`
	// Reserved is what the running turn is expected to cost, in US dollars.
	Reserved float64 `json:"reserved,omitempty"`
	// Scribe marks the last turn of a closed room, which writes its summary.
	Scribe bool `json:"scribe,omitempty"`
}

func (w wake) shown() Wake { return Wake{ID: w.ID, Agent: w.Agent, State: w.State} }

func (p Party) key() string { return string(p.Kind) + ":" + p.Name }

// decode reads a room's state from its thread's channels; ok is false where there is no room.
func decode(id string, length int64, channel func(string) ([]byte, bool)) (s *state, ok bool, err error) {
	data, ok := channel(roomChannel)
	if !ok {
		return nil, false, nil
	}
	s = &state{id: id, length: length, changed: map[string]bool{}}
	if err := read(roomChannel, data, &s.room); err != nil {
		return nil, false, err
	}
	if s.room.Format != format {
		return nil, false, fmt.Errorf("%w: channel %s has format %d, this program reads %d", checkpointer.ErrFormat, roomChannel, s.room.Format, format)
	}
	for name, into := range map[string]any{workChannel: &s.work, keysChannel: &s.keys, doneChannel: &s.done} {
		if data, ok := channel(name); ok {
			if err := read(name, data, into); err != nil {
				return nil, false, err
			}
		}
	}
	return s, true, nil
}

func read(channel string, data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%w: channel %s: %w", checkpointer.ErrFormat, channel, err)
	}
	return nil
}

// encode returns the channels that have changed.
func (s *state) encode() map[string][]byte {
	set := map[string][]byte{}
	for name, value := range map[string]any{roomChannel: s.room, workChannel: s.work, keysChannel: s.keys, doneChannel: s.done} {
		if !s.changed[name] {
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			panic("sharedsession: plain values do not marshal: " + err.Error())
		}
		set[name] = data
	}
	return set
}

// find returns the member that p is or was.
func (s *state) find(p Party) *member {
	for i := range s.room.Members {
		if s.room.Members[i].Party == p {
			return &s.room.Members[i]
		}
	}
	return nil
}

// present returns the member that p is.
func (s *state) present(p Party) *member {
	if m := s.find(p); m != nil && m.Left == nil {
		return m
	}
	return nil
}

// agents names the present agents, in order of their joining.
func (s *state) agents() []string {
	names := []string{}
	for _, m := range s.room.Members {
		if m.Kind == Agent && m.Left == nil {
			names = append(names, m.Name)
		}
	}
	return names
}

// seq is the number of the message that will stand n behind the thread's end.
func (s *state) seq(n int) int64 { return s.length + int64(n) + 1 }

// expires returns when the room's time is over; nil is never.
func (s *state) expires() *time.Time {
	if s.room.TTLHours == 0 {
		return nil
	}
	at := s.room.OpenedAt.Add(time.Duration(s.room.TTLHours * float64(time.Hour)))
	return &at
}

// exhausted returns the budget that is used up, in the order of the specification (spec 5), or
// "".
func (s *state) exhausted(now time.Time) string {
	at := s.expires()
	switch {
	case at != nil && !now.Before(*at):
		return ReasonExpired
	case s.work.Count >= s.room.MaxMessages:
		return ReasonMessages
	case s.room.MaxCostUSD != nil && s.work.CostUSD >= *s.room.MaxCostUSD:
		return ReasonCost
	}
	return ""
}

// used is the largest share of a budget that is used up.
func (s *state) used(count int, cost float64, now time.Time) float64 {
	share := float64(count) / float64(s.room.MaxMessages)
	if s.room.MaxCostUSD != nil {
		share = max(share, cost / *s.room.MaxCostUSD)
	}
	if at := s.expires(); at != nil {
		if s.room.Close != nil {
			now = s.room.Close.At
		}
		share = max(share, now.Sub(s.room.OpenedAt).Hours()/s.room.TTLHours)
	}
	return min(max(share, 0), 1)
}

// count takes a message of from with mentions into the counters; its seq is that of the
// thread's end plus n.
func (s *state) count(from *Party, mentions []string, now time.Time) {
	s.changed[workChannel] = true
	if from == nil {
		return
	}
	s.work.Count++
	s.work.LastMessageAt = &now
	for _, m := range s.room.Members {
		if m.Left != nil || m.Party == *from {
			continue
		}
		p := s.work.Places[m.key()]
		p.Others++
		if slices.Contains(mentions, m.Name) {
			p.Mentions++
		}
		s.place(m.Party, p)
	}
}

func (s *state) place(who Party, p place) {
	if s.work.Places == nil {
		s.work.Places = map[string]place{}
	}
	s.work.Places[who.key()] = p
	s.changed[workChannel] = true
}

// seat makes who a present member from the line at seq on.
func (s *state) seat(who Party, role Role, seq int64, now time.Time) {
	m := member{Party: who, Role: role, JoinedAt: now, JoinedSeq: seq}
	if old := s.find(who); old != nil {
		*old = m
	} else {
		s.room.Members = append(s.room.Members, m)
	}
	s.place(who, place{Read: seq})
	s.changed[roomChannel] = true
}

// clone returns a copy for a reader.
func (s *state) clone() *state {
	c := *s
	c.room.Members = slices.Clone(s.room.Members)
	c.work.Places, c.work.Turns, c.work.Recent = maps.Clone(s.work.Places), maps.Clone(s.work.Turns), maps.Clone(s.work.Recent)
	c.work.Wakes, c.done = slices.Clone(s.work.Wakes), slices.Clone(s.done)
	return &c
}
