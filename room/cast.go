package room

import (
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
)

// Cast lists who has successfully spoken in messages, in first-spoken order, without the
// operator and the lead ("" means [langrooms.Assistant]); spec 9. An address is not
// speaking, a failed record neither. The summary of a compaction stands for the speakers
// that it lists.
func Cast(messages []langrooms.Message, lead string) []string {
	var cast []string
	skip := []string{"", langrooms.Operator, langrooms.Assistant, lead}
	add := func(name string) {
		if !slices.Contains(skip, name) {
			cast = addOnce(cast, name)
		}
	}
	for _, m := range messages {
		if m.Summary != nil {
			for _, member := range m.Summary.Members {
				add(member.Name)
			}
		}
		if s := m.Stamp; s != nil && !s.Failed && len(s.To) == 0 {
			add(s.From)
		}
	}
	return cast
}

// CastMark begins every cast block; a system block that starts with it is an earlier
// call's and can be replaced.
const CastMark = "[room]"

// CastBlock is the system block that tells the lead ("" means [langrooms.Assistant]) who is
// in the room (spec 9), or "" when members is empty.
func CastBlock(lead string, members []string) string {
	if len(members) == 0 {
		return ""
	}
	return strings.Join([]string{
		CastMark + " You are " + NeutralizeTags(inline(leadName(lead))) + ", the lead of this chat.",
		"These other agents have spoken in it, in the order in which they first spoke: " + NeutralizeTags(mentions(members)) + ".",
		"They are other agents and not you, however similar their names are to yours.",
		`A message inside <room-message from="name"> … </room-message> was said in the room by that name;` +
			` to="…" lists whom it addressed.`,
		"For a follow-up prefer an agent that has spoken here, because it already has the context.",
		"This is awareness, not permission: every delegate on the roster can be reached.",
		"Never answer as one of them and never write a room-message tag yourself.",
	}, "\n")
}
