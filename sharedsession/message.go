package sharedsession

import (
	"encoding/json"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// noteField is the field of a stored message that holds its note.
const noteField = "session"

// note is what a room's message carries beside its stamp.
type note struct {
	Kind     MessageKind `json:"kind"`
	Sender   *Party      `json:"sender,omitempty"`
	Mentions []string    `json:"mentions,omitempty"`
	Wake     string      `json:"wake,omitempty"`
	ReplyTo  int64       `json:"in_reply_to,omitempty"`
	CostUSD  *float64    `json:"cost_usd,omitempty"`
	Late     bool        `json:"late,omitempty"`
	Failed   bool        `json:"failed,omitempty"`
	// Chains are the messages whose chain this one belongs to.
	Chains []int64 `json:"chains,omitempty"`
	// Wakes are the turns that a post caused, Unresolved and Added the rest of its answer.
	Wakes      []Wake   `json:"wakes,omitempty"`
	Unresolved []string `json:"unresolved,omitempty"`
	Added      []string `json:"added,omitempty"`
	// Digest is that of a keyed post's content.
	Digest string `json:"digest,omitempty"`
}

// with returns m with the note.
func (n note) with(m langrooms.Message) langrooms.Message {
	data, err := json.Marshal(n)
	if err != nil {
		panic("sharedsession: a note does not marshal: " + err.Error())
	}
	m.Extra = map[string]json.RawMessage{noteField: data}
	return m
}

// said makes the stored message of what somebody says.
func said(from Party, content string, n note) langrooms.Message {
	m := langrooms.NewMessage(langrooms.RoleHuman, content)
	m.Stamp = &langrooms.Stamp{From: from.Name, To: n.Mentions}
	n.Kind, n.Sender = Said, &from
	return n.with(m)
}

// line makes the stored message of the room's own words.
func line(text string, n note) langrooms.Message {
	n.Kind = System
	return n.with(langrooms.NewMessage(langrooms.RoleSystem, text))
}

// noteOf reads a message's note. A message that another road has put on the thread has none:
// its stamp and role say as much.
func noteOf(m langrooms.Message) note {
	var n note
	if err := json.Unmarshal(m.Extra[noteField], &n); err == nil && (n.Kind == System || n.Kind == Said && n.Sender != nil) {
		return n
	}
	author, authored := room.Author(m, "")
	if !authored {
		return note{Kind: System}
	}
	n = note{Kind: Said, Sender: &Party{Kind: Agent, Name: author}}
	if author == langrooms.Operator {
		n.Sender.Kind = User
	}
	if m.Stamp != nil {
		if n.Mentions, n.Late, n.Failed = m.Stamp.To, m.Stamp.Late, m.Stamp.Failed; n.Late {
			n.Wake = m.Stamp.Exchange
		}
	}
	return n
}

// shown is a stored message as a reader gets it.
func shown(m langrooms.Message) Message {
	n := noteOf(m)
	out := Message{Seq: m.Seq + 1, ID: m.ID, Kind: n.Kind, Sender: n.Sender, Content: room.Content(m), Mentions: n.Mentions,
		CreatedAt: m.Time.UTC(), CostUSD: n.CostUSD, Late: n.Late, Failed: n.Failed}
	if out.Mentions == nil {
		out.Mentions = []string{}
	}
	if n.Wake != "" {
		out.Wake = &n.Wake
	}
	if n.ReplyTo != 0 {
		out.InReplyTo = &n.ReplyTo
	}
	return out
}
