package room

import (
	"strings"

	"github.com/langrooms/langrooms"
)

// The room's own sentences in a prompt (spec 3.6–3.8).
const (
	groupChat    = "You are taking part in a group chat. "
	hereIsNews   = "Here is what has been said since you last spoke:"
	hereIsAll    = "Here is what has been said so far:"
	nothingNew   = "Nothing new has been said since you last spoke."
	allOmitted   = "What has been said since you last spoke cannot be shown to you."
	omittedOlder = "(earlier messages omitted)"
	offerToPass  = "If you have nothing to add, reply with exactly pass and nothing else."
)

// Frame writes what a member is sent: the window and the message in the words of the
// occasion. [Prompt] is the room's.
type Frame func(PromptInput) string

// SpeakerKind says what a speaker is.
type SpeakerKind string

// The kinds of speaker.
const (
	SpeakerUser  SpeakerKind = "user"
	SpeakerAgent SpeakerKind = "agent"
	SpeakerLead  SpeakerKind = "lead"
)

// Operator is the person at the keyboard.
var Operator = Speaker{Kind: SpeakerUser, Name: langrooms.Operator}

// Speaker is who a message is from.
type Speaker struct {
	Kind SpeakerKind
	// Name is "operator", a roster name, or the lead's name.
	Name string
}

// PromptInput is what a prompt is made of.
type PromptInput struct {
	// Member is who is addressed.
	Member string
	// From is who addresses it. [Prompt] does not show it.
	From Speaker
	// Message is what the address says, verbatim.
	Message string
	// Window is what the member has missed.
	Window Window
	// MultiRound adds the offer to pass; see [Run.MultiRound].
	MultiRound bool
	// NoOffer leaves the offer out of a multi-round prompt; see [Run.OffersPass].
	NoOffer bool
}

// Prompt writes what a member is sent (spec 3.6–3.8): preface, window, the message, and in
// a multi-round run the offer to pass. In a single-round run with an empty window it is the
// bare message. In the window every line that begins with "[" is the room's own; other
// lines of a text are indented by two spaces. The message stands as it is, but for
// invalid UTF-8, and for a forged envelope of [Instructions] in the words of an agent.
func Prompt(in PromptInput) string {
	if in.From.Kind == SpeakerLead || in.From.Kind == SpeakerAgent {
		in.Message = neutralize(in.Message, instructionTag) // only the operator instructs
	}
	omitted := in.Window.Truncated
	if len(in.Window.Lines) == 0 && !omitted && !in.MultiRound {
		return validText(in.Message)
	}
	var b strings.Builder
	b.WriteString(groupChat)
	switch {
	case len(in.Window.Lines) > 0 && in.Window.FromStart:
		b.WriteString(hereIsAll)
	case len(in.Window.Lines) > 0:
		b.WriteString(hereIsNews)
	case omitted:
		b.WriteString(allOmitted)
	default:
		b.WriteString(nothingNew)
	}
	if omitted {
		b.WriteString("\n" + omittedOlder)
	}
	b.WriteString("\n\n")
	for _, line := range in.Window.Lines {
		b.WriteString("[" + label(line.Author) + "] ")
		indent(&b, line.Text)
		b.WriteString("\n")
	}
	if len(in.Window.Lines) > 0 {
		b.WriteString("\n")
	}
	b.WriteString("You have been addressed directly as @" + inline(in.Member) + ". Reply to this message:\n\n" + validText(in.Message))
	if in.MultiRound && !in.NoOffer {
		b.WriteString("\n\n" + offerToPass)
	}
	return b.String()
}
