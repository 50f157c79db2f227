package room

import (
	"strings"

	"github.com/langrooms/langrooms"
)

// allSilentText is the answer of a run in which every outcome was a pass (spec 5.1).
const allSilentText = "Nobody had anything to add."

// Compose writes the operator's text of a run (spec 5.1, 5.2): one addressee's one outcome
// bare, otherwise each visible outcome as "**@proto** — text" in dispatch order, then the
// notes, a blank line between all of them. A failure reads "Delegate @proto failed:
// connection refused"; it names the delegate itself and so has no name in front. A dispatch
// that ended from our side (langrooms.ErrorKind.Ours) reads
// "@proto did not answer: stopped by the operator"; what it had written by then is shown as its reply.
//
// A member that passed has OK and Silent set. One that answered without text in a run of
// one round has OK set, Silent not and no Reply; of a single addressee, who is never
// offered to pass, a silent outcome is taken for the same (spec 2.8).
//
// Aside is the part of text that neither Reply nor Error of an outcome holds: who answered
// without text, that nobody had anything to add, the notes.
func Compose(to []string, outcomes []langrooms.Outcome, notes langrooms.Notes) (text, aside string) {
	var all, unshown []string
	silent := 0
	for _, o := range outcomes {
		switch {
		case o.OK && o.Silent && len(to) != 1:
			silent++
		case o.OK && (o.Silent || o.Reply == ""):
			line := "@" + inline(o.Author) + " answered without text."
			all, unshown = append(all, line), append(unshown, line)
		case (o.OK || o.Reply != "") && len(to) == 1 && len(outcomes) == 1:
			all = append(all, validText(o.Reply))
		case o.OK || o.Reply != "":
			all = append(all, "**@"+inline(o.Author)+"** — "+validText(o.Reply))
		default:
			all = append(all, failureText(o))
		}
	}
	if silent > 0 && silent == len(outcomes) {
		all, unshown = append(all, allSilentText), append(unshown, allSilentText)
	}
	said := noteTexts(notes, outcomes)
	return paragraphs(append(all, said...)), paragraphs(append(unshown, said...))
}

// failureText words a dispatch that brought no answer. Being stopped is not the delegate's
// failure (spec 5.5); a peer that canceled the work itself has failed.
func failureText(o langrooms.Outcome) string {
	cause := validText(causeOf(o.Error))
	if o.ErrorKind.Ours() {
		return "@" + inline(o.Author) + " did not answer: " + cause
	}
	return "Delegate @" + inline(o.Author) + " failed: " + cause
}

func causeOf(text string) string {
	if text = strings.TrimSpace(text); text != "" {
		return text
	}
	return "no cause was given"
}

func paragraphs(texts []string) string { return strings.Join(texts, "\n\n") }
