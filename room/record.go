package room

import (
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
)

// NewAddress makes the record of an address (spec 2.1): what from said to the members to.
// It is one record for all of them, written before anyone is dispatched (spec 2.4).
func NewAddress(from string, to []string, exchange, text string, incognito bool) langrooms.Message {
	return stamped(text, langrooms.Stamp{From: from, To: slices.Clone(to), Exchange: exchange, Incognito: incognito})
}

// NewReply makes the record of a reply, its text trimmed at both ends (spec 2.8). The stamp
// names the member; see [FailedText] and [LateText] for what is no plain reply.
func NewReply(s langrooms.Stamp, text string) langrooms.Message {
	return stamped(strings.TrimSpace(text), s)
}

// Incomplete is the text of words that were cut short, for why.
func Incomplete(words, why string) string {
	return strings.TrimSpace(words) + "\n\n(The answer is incomplete: " + causeOf(why) + ")"
}

// NewFailure makes the record of a dispatch that brought no answer, or of a late answer that
// did not come: its text is [FailedText], and it has seen nothing.
func NewFailure(s langrooms.Stamp, kind langrooms.ErrorKind, cause string) langrooms.Message {
	s.Failed, s.ErrorKind, s.Seen = true, kind, 0
	text := FailedText(kind, cause)
	if s.Late {
		text = LateText(text)
	}
	return stamped(text, s)
}

// stamped has role human, so that the lead never takes a member's words for its own
// (spec 2.2).
func stamped(text string, s langrooms.Stamp) langrooms.Message {
	m := langrooms.NewMessage(langrooms.RoleHuman, validText(text))
	m.Stamp = &s
	return m
}

// FailedText is the text of the record of a dispatch that brought no answer (spec 2.5). One
// that ended from our side is no failure to reach anybody (spec 5.5).
func FailedText(kind langrooms.ErrorKind, cause string) string {
	if kind.Ours() {
		return "(" + causeOf(cause) + ")"
	}
	return "(could not be reached: " + causeOf(cause) + ")"
}

// LateText is the text of a late answer's record: a line that says so, then the answer
// (spec 7.5).
func LateText(answer string) string {
	return "(This arrived after its turn.)\n" + strings.TrimSpace(answer)
}
