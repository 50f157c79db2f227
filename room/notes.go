package room

import (
	"fmt"
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
)

// NotesOf derives what the room has to say about a run that ended for reason under the
// round cap given (spec 5.2): Truncated, Collecting, Kept, Cap, NewConversation and Unrecorded.
// Interrupted is the caller's to fill in. Each member is named once, in dispatch order.
func NotesOf(outcomes []langrooms.Outcome, reason langrooms.Reason, cap int) langrooms.Notes {
	var n langrooms.Notes
	var clipped []string // by a limit
	for _, o := range outcomes {
		if o.Truncated && o.OK && !o.Silent && o.Reply != "" {
			n.Truncated = addOnce(n.Truncated, o.Author)
			if o.Compacted {
				n.Compacted = addOnce(n.Compacted, o.Author)
			} else {
				clipped = addOnce(clipped, o.Author)
			}
		}
		if o.Paused {
			n.Paused = addOnce(n.Paused, o.Author)
		}
		if o.Collecting {
			n.Collecting = addOnce(n.Collecting, o.Author)
		}
		if o.Kept {
			n.Kept = addOnce(n.Kept, o.Author)
		}
		if o.NewConversation {
			n.NewConversation = addOnce(n.NewConversation, o.Author)
		}
		if o.Unrecorded {
			n.Unrecorded = addOnce(n.Unrecorded, o.Author)
		}
	}
	n.Compacted = slices.DeleteFunc(n.Compacted, func(name string) bool { return slices.Contains(clipped, name) })
	if reason == langrooms.ReasonCapped && cap > 1 {
		n.Cap = cap
	}
	return n
}

func addOnce(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// noteTexts renders the notes in the order of spec 5.2, then those that tell of a store
// or a process that failed.
func noteTexts(n langrooms.Notes, outcomes []langrooms.Outcome) []string {
	var texts []string
	if n.Group != "" {
		texts = append(texts, groupText(n))
	}
	clipped := slices.DeleteFunc(slices.Clone(n.Truncated), func(name string) bool { return slices.Contains(n.Compacted, name) })
	if len(clipped) > 0 {
		texts = append(texts, "Older messages were left out of the catch-up for "+mentions(clipped)+
			" — the room since they last spoke is longer than the window. Raise room.catchup_max_messages"+
			" / room.catchup_max_chars to widen it.")
	}
	if len(n.Compacted) > 0 {
		texts = append(texts, "Older messages were left out of the catch-up for "+mentions(n.Compacted)+
			" — a compaction has replaced them, and their summary was shown instead.")
	}
	if len(n.Collecting) > 0 {
		texts = append(texts, "Still waiting on "+mentions(n.Collecting)+
			" in the background — a late answer will be posted here if it finishes.")
	}
	if len(n.Kept) > 0 {
		texts = append(texts, "Nobody waits for "+mentions(n.Kept)+
			" now — the next turn on this thread begins by looking for the late answer.")
	}
	if n.MaxCost > 0 {
		texts = append(texts, fmt.Sprintf("The room stopped at its cost bound: this message has cost %s, as far as that is known,"+
			" and room.max_cost_usd is %s. Ask again to go on, or raise it.", langrooms.Dollars(n.Cost), langrooms.Dollars(n.MaxCost)))
	}
	if n.Cap > 1 {
		texts = append(texts, fmt.Sprintf("The room stopped at its %d-round cap — the conversation had not"+
			" settled. Ask again to continue it, or raise room.max_rounds.", n.Cap))
	}
	if len(n.Paused) > 0 && len(outcomes) > 1 {
		texts = append(texts, "Waiting for an answer from you: "+mentions(n.Paused)+
			". In the terminal chat, /answer @"+inline(n.Paused[0])+" and the words give it. A member that waits takes no further part in the run.")
	}
	if len(n.NewConversation) > 0 {
		texts = append(texts, "The conversation with "+mentions(n.NewConversation)+" had been forgotten at the"+
			" other end; a new one has begun.")
	}
	if len(n.Unrecorded) > 0 {
		texts = append(texts, "What came from "+mentions(n.Unrecorded)+" could not be stored on the thread"+
			whyUnrecorded(outcomes)+". It stands here only.")
	}
	if len(n.Interrupted) > 0 {
		texts = append(texts, "An earlier exchange on this thread was interrupted before an answer from "+
			mentions(n.Interrupted)+" arrived. The thread now says so.")
	}
	return texts
}

// groupText says whom a group was taken for.
func groupText(n langrooms.Notes) string {
	text := "@" + n.Group + " was taken for " + mentions(n.Meant) + "."
	if n.Left > 0 {
		text += fmt.Sprintf(" %d more were not asked: a group is at most %d.", n.Left, MaxGroup)
	}
	return text
}

// whyUnrecorded gives the causes, each once, in brackets.
func whyUnrecorded(outcomes []langrooms.Outcome) string {
	var causes []string
	for _, o := range outcomes {
		if cause := strings.TrimSpace(o.UnrecordedCause); cause != "" {
			causes = addOnce(causes, validText(cause))
		}
	}
	if len(causes) == 0 {
		return ""
	}
	return " (" + strings.Join(causes, "; ") + ")"
}
