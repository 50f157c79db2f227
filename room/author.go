package room

import (
	"strings"

	"github.com/langrooms/langrooms"
)

// Author says who said m (spec 3.2): a stamped message its From, an ordinary human message
// the operator, an ordinary lead message with words the lead ("" means
// [langrooms.Assistant]). Tool calls, tool results, system text and the summary of a
// compaction are nobody's, and so is a message that says nothing: authored is false.
func Author(m langrooms.Message, lead string) (author string, authored bool) {
	switch {
	case m.Summary != nil || strings.TrimSpace(Content(m)) == "":
		return "", false
	case m.Stamp != nil:
		return m.Stamp.From, m.Stamp.From != ""
	case m.Role == langrooms.RoleHuman:
		return langrooms.Operator, true
	case m.Role == langrooms.RoleAI:
		return leadName(lead), true
	}
	return "", false
}

func leadName(lead string) string {
	if lead == "" {
		return langrooms.Assistant
	}
	return lead
}
