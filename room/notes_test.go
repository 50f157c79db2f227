package room_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

func TestNotesOf(t *testing.T) {
	said := func(author string) langrooms.Outcome {
		return langrooms.Outcome{Author: author, OK: true, Reply: "hi", Truncated: true}
	}
	tests := []struct {
		name     string
		outcomes []langrooms.Outcome
		reason   langrooms.Reason
		cap      int
		want     langrooms.Notes
	}{
		{"nothing to note", []langrooms.Outcome{{Author: "a", OK: true, Reply: "hi"}}, langrooms.ReasonAnswered, 1, langrooms.Notes{}},
		{"no outcomes", nil, langrooms.ReasonStopped, 3, langrooms.Notes{}},
		{"truncation, once each, in dispatch order", []langrooms.Outcome{said("b"), said("a"), said("b")},
			langrooms.ReasonSettled, 3, langrooms.Notes{Truncated: []string{"b", "a"}}},
		{"not of those that failed, passed or had no words", []langrooms.Outcome{
			{Author: "a", Truncated: true, Error: "refused"},
			{Author: "b", Truncated: true, OK: true, Silent: true},
			{Author: "c", Truncated: true, OK: true},
			said("d"),
		}, langrooms.ReasonSettled, 3, langrooms.Notes{Truncated: []string{"d"}}},
		{"a member that answered once and failed once is named", []langrooms.Outcome{
			said("a"), {Author: "a", Truncated: true},
		}, langrooms.ReasonExhausted, 3, langrooms.Notes{Truncated: []string{"a"}}},
		{"by a compaction, and by a limit", []langrooms.Outcome{
			{Author: "a", OK: true, Reply: "x", Truncated: true, Compacted: true}, said("b"), {Author: "b", OK: true, Reply: "x", Truncated: true, Compacted: true},
		}, langrooms.ReasonSettled, 3, langrooms.Notes{Truncated: []string{"a", "b"}, Compacted: []string{"a"}}},
		{"paused", []langrooms.Outcome{{Author: "a", OK: true, Reply: "⏸", Paused: true}}, langrooms.ReasonAnswered, 1, langrooms.Notes{Paused: []string{"a"}}},
		{"collecting", []langrooms.Outcome{{Author: "slow", Collecting: true}, {Author: "a", OK: true, Reply: "x"}},
			langrooms.ReasonExhausted, 3, langrooms.Notes{Collecting: []string{"slow"}}},
		{"cap", nil, langrooms.ReasonCapped, 3, langrooms.Notes{Cap: 3}},
		{"never a cap of one", nil, langrooms.ReasonCapped, 1, langrooms.Notes{}},
		{"no cap when settled", nil, langrooms.ReasonSettled, 3, langrooms.Notes{}},
		{"no cap when exhausted", nil, langrooms.ReasonExhausted, 3, langrooms.Notes{}},
		{"a conversation that was forgotten", []langrooms.Outcome{{Author: "a", OK: true, Reply: "x", NewConversation: true}},
			langrooms.ReasonAnswered, 1, langrooms.Notes{NewConversation: []string{"a"}}},
		{"unrecorded", []langrooms.Outcome{{Author: "a", OK: true, Reply: "x", Unrecorded: true, UnrecordedCause: "disk full"}},
			langrooms.ReasonAnswered, 1, langrooms.Notes{Unrecorded: []string{"a"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, room.NotesOf(tt.outcomes, tt.reason, tt.cap)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
