package langrooms

import (
	"encoding/json"
	"strings"
	"time"
)

// Role says which side of a model's conversation a message belongs to. It is not
// the author: a delegate's words have role human and a [Stamp], so that the lead
// never takes them for its own.
type Role string

// The roles of a message, by langchaingo's and LangGraph's names.
const (
	RoleHuman  Role = "human"
	RoleAI     Role = "ai"
	RoleSystem Role = "system"
	RoleTool   Role = "tool"
)

// Message is one entry of a thread as it is stored.
type Message struct {
	// ID is a UUIDv7 given before the first store (see [NewID]). It survives save,
	// load, fork, export and import.
	ID string `json:"id"`
	// Time is when the message came into being, in UTC.
	Time time.Time `json:"time"`
	// Role is the side of the conversation the message stands on.
	Role Role `json:"role"`
	// Parts are the contents, in order. Text is raw: envelopes exist only in what a
	// model is sent.
	Parts []Part `json:"parts"`
	// Stamp says who spoke in the room. Nil on an ordinary message: the operator's
	// own turn, or the lead's.
	Stamp *Stamp `json:"stamp,omitempty"`
	// Usage is, on a message of the lead's, what it cost; nil when nothing of it is known. What
	// a member's reply cost stands in its stamp; see [Message.Cost].
	Usage *Usage `json:"usage,omitempty"`
	// Summary is set on the message that a compaction puts in place of older ones.
	Summary *Summary `json:"summary,omitempty"`
	// Extra holds JSON fields of later versions, kept over a round trip.
	Extra map[string]json.RawMessage `json:"-"`

	// Seq is the message's position in the thread's log, counted from 0. A
	// checkpointer sets it on every message that it reads and ignores it on every
	// message that it writes; it is no part of the stored form. A position is never
	// given to two messages that one reader can see.
	Seq int64 `json:"-"`
}

// Stamp is the structural mark of a room message (spec: who said it stands beside
// the text). A new field also stands in encode.go and decode.go, at the end.
type Stamp struct {
	// From is the author: the roster's spelling of a delegate, "operator", or the
	// lead's name on an address made by the lead.
	From string `json:"from"`
	// To lists the addressees of an address in written order; empty on a reply.
	To []string `json:"to,omitempty"`
	// Exchange is shared by an address and all its replies.
	Exchange string `json:"exchange,omitempty"`
	// Round is the 1-based round of a reply; 0 on an address.
	Round int `json:"round,omitempty"`
	// Failed marks the record of a dispatch that brought no answer.
	Failed bool `json:"failed,omitempty"`
	// Late marks an answer that arrived after its turn was given up.
	Late bool `json:"late,omitempty"`
	// Incognito keeps the content out of logs, traces, exports and summaries.
	Incognito bool `json:"incognito,omitempty"`
	// Incomplete marks words that were cut short; the text ends by saying why. Where the member
	// was stopped ErrorKind says so, and Seen is 0.
	Incomplete bool `json:"incomplete,omitempty"`
	// Seen is, on a reply, the log position at which the window shown to this member
	// ended: every message with a lower Seq had been shown or deliberately left out.
	Seen int64 `json:"seen,omitempty"`
	// ErrorKind is, on a failed or an incomplete record, the kind of the failure, where it is known.
	ErrorKind ErrorKind `json:"error_kind,omitempty"`
	// Task is, on a reply that asks something, the peer's id of the task that waits for the
	// answer, and on an address the one that it answers.
	Task string `json:"task,omitempty"`
	// Usage is, on a reply, what it cost; nil when nothing of it is known.
	Usage *Usage `json:"usage,omitempty"`
	// Extra holds JSON fields of later versions, kept over a round trip.
	Extra map[string]json.RawMessage `json:"-"`
}

// Summary describes the messages that a compaction replaced, so that the cast and
// each member's place in the conversation survive it.
type Summary struct {
	// Replaced is the number of messages that the summary stands for, those of
	// earlier summaries included.
	Replaced int `json:"replaced"`
	// Members lists who had successfully spoken in them, in first-spoken order.
	Members []SummaryMember `json:"members,omitempty"`
}

// SummaryMember is one speaker of the replaced messages.
type SummaryMember struct {
	Name string `json:"name"`
	// Seen is the position up to which the member had seen them: the [Stamp.Seen] of its newest
	// successful reply among them, or that reply's end if it stands right there.
	Seen int64 `json:"seen"`
}

// NewMessage returns a message with a fresh ID, the present time and one text part.
func NewMessage(role Role, text string) Message {
	return Message{ID: NewID(), Time: time.Now().UTC(), Role: role, Parts: []Part{TextPart(text)}}
}

// As gives m the identity of said, a message as its sender's program knows it: its id, where
// there is one, its parts that are no text, and its Extra. The words are m's.
func (m Message) As(said Message) Message {
	if said.ID != "" {
		m.ID = said.ID
	}
	for _, p := range said.Parts {
		if p.Kind != PartText {
			m.Parts = append(m.Parts, p.clone())
		}
	}
	if said.Extra != nil {
		m.Extra = cloneExtra(said.Extra)
	}
	return m
}

// Cost is what m cost, whoever said it; nil when nothing of it is known.
func (m Message) Cost() *Usage {
	if m.Stamp != nil {
		return m.Stamp.Usage
	}
	return m.Usage
}

// Text joins the text parts of m with line breaks. Other parts are left out.
func (m Message) Text() string {
	var texts []string
	for _, p := range m.Parts {
		if p.Kind == PartText {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Clone returns a copy that shares no memory with m.
func (m Message) Clone() Message {
	c := m
	c.Parts = make([]Part, len(m.Parts))
	for i, p := range m.Parts {
		c.Parts[i] = p.clone()
	}
	if m.Parts == nil {
		c.Parts = nil
	}
	if m.Stamp != nil {
		s := *m.Stamp
		s.To = append([]string(nil), m.Stamp.To...)
		s.Usage = m.Stamp.Usage.clone()
		s.Extra = cloneExtra(m.Stamp.Extra)
		c.Stamp = &s
	}
	if m.Summary != nil {
		s := *m.Summary
		s.Members = append([]SummaryMember(nil), m.Summary.Members...)
		c.Summary = &s
	}
	c.Usage = m.Usage.clone()
	c.Extra = cloneExtra(m.Extra)
	return c
}
