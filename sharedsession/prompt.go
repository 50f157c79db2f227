package sharedsession

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// slice is what a woken agent has not seen (spec 4.6), oldest first.
type slice struct {
	lines []langrooms.Message
	// called are the messages that woke it; they stand apart.
	called []langrooms.Message
	// omitted is how many messages were left out.
	omitted int
}

// cut makes the slice of agent of the messages behind its place, oldest first. Its own lines
// and the room's are left out; what called it is always included.
func cut(messages []langrooms.Message, agent string, called []int64, limits room.Limits) slice {
	limits = limits.Clamp()
	var c slice
	chars, full := 0, false
	for _, m := range slices.Backward(messages) {
		n := noteOf(m)
		if n.Kind == System || *n.Sender == (Party{Agent, agent}) {
			continue
		}
		if slices.Contains(called, m.Seq+1) {
			c.called = append(c.called, m)
			continue
		}
		size := utf8.RuneCountInString(room.Content(m)) + utf8.RuneCountInString(n.Sender.Name)
		full = full || len(c.lines) == limits.Messages || chars+size > limits.Chars
		if full {
			c.omitted++
			continue
		}
		chars += size
		c.lines = append(c.lines, m)
	}
	slices.Reverse(c.lines)
	slices.Reverse(c.called)
	return c
}

// The sentences of a session's prompt.
const (
	passing = "If you have nothing to add, reply with exactly pass and nothing else."
	framing = "Every message begins with its author in brackets, at the beginning of a row; the further rows of a message are indented by two spaces."
)

// frame writes what a woken agent is sent: where it is and who is there, what it has not
// seen, and what it is to answer. No text can begin a row, so none can pass for the frame or
// for another's line.
func (s *state) frame(w wake, c slice, now time.Time) string {
	var b strings.Builder
	b.WriteString("You are taking part in a group chat. It is the shared session " + s.heading() + ".\n")
	b.WriteString("Members: " + s.roster(w.Agent) + ".\n")
	b.WriteString("Left of its budget: " + s.left(now) + ".\n")
	b.WriteString("Your reply is posted as yours. To hand over to another agent here, mention it in your reply as @name.\n")
	b.WriteString(framing + "\n\n")
	switch {
	case len(c.lines) > 0:
		b.WriteString("Here is what has been said since you last spoke:\n")
	case c.omitted > 0:
		b.WriteString("What has been said since you last spoke is too long to be shown.\n")
	default:
		b.WriteString("Nothing else has been said since you last spoke.\n")
	}
	if c.omitted > 0 {
		fmt.Fprintf(&b, "(%d earlier messages left out)\n", c.omitted)
	}
	b.WriteString("\n")
	for _, m := range c.lines {
		b.WriteString(row(m) + "\n")
	}
	if w.Scribe {
		b.WriteString("\nYou have been addressed directly as @" + w.Agent + " by the room. Reply to this message:\n\n" +
			"The room has closed (" + room.Inline(s.room.Close.Reason) + "). You are its scribe: write its summary, what was decided and what is open.")
		return b.String()
	}
	b.WriteString("\nYou have been addressed directly as @" + w.Agent + ". Reply to this message:\n\n")
	for _, m := range c.called {
		b.WriteString(row(m) + "\n")
	}
	b.WriteString("\n" + passing)
	return b.String()
}

func row(m langrooms.Message) string {
	n := noteOf(m)
	author := n.Sender.Name
	if n.Sender.Kind == User && author != langrooms.Operator {
		author += ", a person"
	}
	return "[" + strings.NewReplacer("[", "(", "]", ")").Replace(room.Inline(author)) + "] " + room.Indent(strings.TrimSpace(room.Content(m)))
}

func (s *state) heading() string {
	text := fmt.Sprintf("%q", room.Inline(s.room.Name))
	if s.room.Topic != nil && *s.room.Topic != "" {
		text += ", about: " + room.Indent(*s.room.Topic)
	}
	return text
}

func (s *state) roster(agent string) string {
	var who []string
	for _, m := range s.room.Members {
		if m.Left != nil {
			continue
		}
		text := room.Inline(m.shown()) + " (" + string(m.Kind) + ", " + string(m.Role) + ")"
		if m.Party == (Party{Agent, agent}) {
			text = room.Inline(m.shown()) + " (that is you, " + string(m.Role) + ")"
		}
		who = append(who, text)
	}
	return strings.Join(who, ", ")
}

func (s *state) left(now time.Time) string {
	text := fmt.Sprintf("%d of %d messages", max(s.room.MaxMessages-s.work.Count, 0), s.room.MaxMessages)
	if limit := s.room.MaxCostUSD; limit != nil {
		text += fmt.Sprintf(", %.4f of %.4f US dollars", max(*limit-s.work.CostUSD, 0), *limit)
	}
	if at := s.expires(); at != nil {
		text += fmt.Sprintf(", %.1f hours", max(at.Sub(now).Hours(), 0))
	}
	return text
}
