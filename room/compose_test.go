package room_test

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

func said(author, reply string) langrooms.Outcome {
	return langrooms.Outcome{Author: author, OK: true, Reply: reply}
}

func passed(author string) langrooms.Outcome {
	return langrooms.Outcome{Author: author, OK: true, Silent: true}
}

func failed(author, cause string, kind langrooms.ErrorKind) langrooms.Outcome {
	return langrooms.Outcome{Author: author, Error: cause, ErrorKind: kind}
}

const (
	truncationNote = "Older messages were left out of the catch-up for @proto — the room since they last spoke is longer than the window. Raise room.catchup_max_messages / room.catchup_max_chars to widen it."
	collectingNote = "Still waiting on @slow in the background — a late answer will be posted here if it finishes."
	capNote        = "The room stopped at its 3-round cap — the conversation had not settled. Ask again to continue it, or raise room.max_rounds."
)

func TestCompose(t *testing.T) {
	one, two := []string{"proto"}, []string{"proto", "reviewer"}
	tests := []struct {
		name     string
		to       []string
		outcomes []langrooms.Outcome
		notes    langrooms.Notes
		text     string
		aside    string
	}{
		// 5.1
		{"one addressee: bare", one, []langrooms.Outcome{said("proto", "a\n\nb")}, langrooms.Notes{}, "a\n\nb", ""},
		{"one failure", one, []langrooms.Outcome{failed("proto", "connection refused", "unreachable")}, langrooms.Notes{},
			"Delegate @proto failed: connection refused", ""},
		{"a failure without a cause", one, []langrooms.Outcome{failed("proto", " ", "failed")}, langrooms.Notes{},
			"Delegate @proto failed: no cause was given", ""},
		{"two addressees", two, []langrooms.Outcome{said("proto", "x"), said("reviewer", "y")}, langrooms.Notes{},
			"**@proto** — x\n\n**@reviewer** — y", ""},
		{"two addressees, one visible", two, []langrooms.Outcome{said("proto", "x"), passed("reviewer")}, langrooms.Notes{},
			"**@proto** — x", ""},
		{"rounds in dispatch order", two, []langrooms.Outcome{said("proto", "1"), said("reviewer", "2"), passed("proto"), said("reviewer", "3")},
			langrooms.Notes{}, "**@proto** — 1\n\n**@reviewer** — 2\n\n**@reviewer** — 3", ""},
		{"a failure beside an answer", two, []langrooms.Outcome{failed("proto", "connection refused", "unreachable"), said("reviewer", "y")},
			langrooms.Notes{}, "Delegate @proto failed: connection refused\n\n**@reviewer** — y", ""},
		{"all silent", two, []langrooms.Outcome{passed("proto"), passed("reviewer")}, langrooms.Notes{},
			"Nobody had anything to add.", "Nobody had anything to add."},
		{"silent and failed is not all silent", two, []langrooms.Outcome{passed("proto"), failed("reviewer", "gone", "unreachable")},
			langrooms.Notes{}, "Delegate @reviewer failed: gone", ""},
		{"nothing was dispatched", two, nil, langrooms.Notes{}, "", ""},

		// 2.8
		{"answered without text", one, []langrooms.Outcome{{Author: "proto", OK: true}}, langrooms.Notes{},
			"@proto answered without text.", "@proto answered without text."},
		{"one addressee cannot pass", one, []langrooms.Outcome{passed("proto")}, langrooms.Notes{},
			"@proto answered without text.", "@proto answered without text."},
		{"one of two without text", two, []langrooms.Outcome{{Author: "proto", OK: true}, said("reviewer", "y")}, langrooms.Notes{},
			"@proto answered without text.\n\n**@reviewer** — y", "@proto answered without text."},

		// 5.5
		{"stopped by the operator", one, []langrooms.Outcome{failed("proto", "stopped by the operator", langrooms.ErrorStopped)}, langrooms.Notes{},
			"@proto did not answer: stopped by the operator", ""},
		{"canceled by the peer", one, []langrooms.Outcome{failed("proto", "the task was canceled", "canceled")}, langrooms.Notes{},
			"Delegate @proto failed: the task was canceled", ""},

		// 5.2
		{"the notes in order", two, []langrooms.Outcome{said("proto", "x")},
			langrooms.Notes{Truncated: one, Collecting: []string{"slow"}, Cap: 3},
			"**@proto** — x\n\n" + truncationNote + "\n\n" + collectingNote + "\n\n" + capNote,
			truncationNote + "\n\n" + collectingNote + "\n\n" + capNote},
		{"a note under a bare answer", one, []langrooms.Outcome{said("proto", "x")}, langrooms.Notes{Truncated: one},
			"x\n\n" + truncationNote, truncationNote},
		{"several names in a note", two, []langrooms.Outcome{passed("proto"), passed("reviewer")},
			langrooms.Notes{Collecting: []string{"slow", "slower"}},
			"Nobody had anything to add.\n\nStill waiting on @slow, @slower in the background — a late answer will be posted here if it finishes.",
			"Nobody had anything to add.\n\nStill waiting on @slow, @slower in the background — a late answer will be posted here if it finishes."},
		{"a cap of one is no note", two, []langrooms.Outcome{said("proto", "x")}, langrooms.Notes{Cap: 1}, "**@proto** — x", ""},
		{"invalid UTF-8 is made valid", one, []langrooms.Outcome{said("proto", "a\xffb")}, langrooms.Notes{}, "a\uFFFDb", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, aside := room.Compose(tt.to, tt.outcomes, tt.notes)
			if text != tt.text {
				t.Errorf("text\n got: %q\nwant: %q", text, tt.text)
			}
			if aside != tt.aside {
				t.Errorf("aside\n got: %q\nwant: %q", aside, tt.aside)
			}
		})
	}
}

// What could not be stored and what was interrupted is told last, with the cause (spec 2.7, 2.4).
func TestComposeTellsOfLostRecords(t *testing.T) {
	o := said("proto", "x")
	o.Unrecorded, o.UnrecordedCause = true, "database is locked"
	text, aside := room.Compose([]string{"proto"}, []langrooms.Outcome{o},
		langrooms.Notes{Truncated: []string{"proto"}, Unrecorded: []string{"proto"}, Interrupted: []string{"reviewer"}})
	parts := strings.Split(text, "\n\n")
	if len(parts) != 4 || parts[0] != "x" || parts[1] != truncationNote {
		t.Fatalf("got %q", parts)
	}
	if !strings.Contains(parts[2], "@proto") || !strings.Contains(parts[2], "could not be stored") || !strings.Contains(parts[2], "database is locked") {
		t.Errorf("unrecorded: %q", parts[2])
	}
	if !strings.Contains(parts[3], "@reviewer") || !strings.Contains(parts[3], "interrupted") {
		t.Errorf("interrupted: %q", parts[3])
	}
	if want := strings.Join(parts[1:], "\n\n"); aside != want {
		t.Errorf("aside %q, want %q", aside, want)
	}
}

// Spec 5.3: a client that draws a bubble for each outcome and shows aside beside them
// shows every part of the text, and none twice.
func TestAsideIsWhatNoBubbleShows(t *testing.T) {
	kinds := []langrooms.Outcome{said("a", "words of a"), passed("a"), failed("a", "cause of a", "failed"),
		failed("a", "stopped by the operator", langrooms.ErrorStopped), {Author: "a", OK: true}}
	for _, first := range kinds {
		for _, second := range kinds {
			outcomes := []langrooms.Outcome{first, second}
			text, aside := room.Compose([]string{"a", "b"}, outcomes, langrooms.Notes{Cap: 3})
			var beside []string
			for _, part := range strings.Split(text, "\n\n") {
				if !drawn(part, outcomes) {
					beside = append(beside, part)
				}
			}
			if got := strings.Join(beside, "\n\n"); got != aside {
				t.Errorf("no bubble shows %q, the aside is %q", got, aside)
			}
		}
	}
}

// drawn reports whether some outcome's reply or error carries the part.
func drawn(part string, outcomes []langrooms.Outcome) bool {
	for _, o := range outcomes {
		if carried := o.Reply + o.Error; carried != "" && strings.Contains(part, carried) {
			return true
		}
	}
	return false
}
