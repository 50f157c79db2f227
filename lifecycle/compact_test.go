package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/room"
)

func TestCompact(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		for _, tt := range []struct {
			name     string
			keep     int
			replaced int
			want     []string
		}{
			{"keep 2", 2, 3, []string{"system: short", "human: d", "human: e"}},
			{"keep none", 0, 5, []string{"system: short"}},
			{"keep all", 5, 0, []string{"human: a", "human: b", "human: c", "human: d", "human: e"}},
			{"keep more than there is", 100, 0, []string{"human: a", "human: b", "human: c", "human: d", "human: e"}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				ids := say(t, s, tt.name, said("a", "b", "c", "d", "e")...)
				threads := threadsOf(s)
				before := epoch(t, s, tt.name)
				n, err := threads.Compact(t.Context(), tt.name, tt.keep, " short\n")
				if err != nil {
					t.Fatal(err)
				}
				expect(t, "replaced", tt.replaced, n)
				expect(t, "thread", tt.want, texts(t, s, tt.name))
				expect(t, "nothing is forgotten", []string(nil), threads.forgot)
				expect(t, "the epoch stays", before, epoch(t, s, tt.name))
				now := history(t, s, tt.name)
				for i, m := range now[len(now)-min(tt.keep, 5):] {
					expect(t, "id", ids[5-min(tt.keep, 5)+i], m.ID)
				}
				if tt.replaced > 0 {
					expect(t, "summary", &langrooms.Summary{Replaced: tt.replaced}, now[0].Summary)
				}
				say(t, s, tt.name, said("next")...)
				expect(t, "going on", append(tt.want, "human: next"), texts(t, s, tt.name))
			})
		}
	})
}

// A second compaction counts what the first one had replaced; with nothing new it does
// nothing.
func TestCompactTwice(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		threads := threadsOf(s)
		say(t, s, "t", said("a", "b", "c", "d")...)
		for _, tt := range []struct{ keep, replaced int }{{1, 3}, {1, 0}, {0, 2}, {0, 0}} {
			n, err := threads.Compact(t.Context(), "t", tt.keep, "short")
			if err != nil {
				t.Fatal(err)
			}
			expect(t, "replaced", tt.replaced, n)
		}
		expect(t, "stands for", 4, history(t, s, "t")[0].Summary.Replaced)
	})
}

// The cast, and each member's place in the conversation, survive a compaction and a second
// one: the next window begins where the member had got to.
func TestCompactKeepsCastAndPlaces(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		proto := &member{name: "proto", script: []string{"one", "last"}}
		reviewer := &member{name: "reviewer", script: []string{"two", "three"}}
		broken := &member{name: "broken"}
		address(t, s, "t", "first?", false, proto, reviewer, broken)
		say(t, s, "t", said("in between")...)
		address(t, s, "t", "second?", false, reviewer) // reviewer has seen more than proto
		say(t, s, "t", said("after")...)
		before := history(t, s, "t")
		window := func(name string) []room.Line {
			w, err := room.ReadWindow(func(yield func(langrooms.Message, error) bool) {
				messages := history(t, s, "t")
				for i := len(messages) - 1; i >= 0 && yield(messages[i], nil); i-- {
				}
			}, room.WindowQuery{Member: name})
			if err != nil {
				t.Fatal(err)
			}
			return w.Lines
		}
		want := map[string][]room.Line{}
		for _, name := range []string{"proto", "reviewer"} {
			lines := window(name)
			want[name] = lines[len(lines)-1:]
		}
		expect(t, "cast", []string{"proto", "reviewer"}, room.Cast(before, ""))
		for _, keep := range []int{2, 1} {
			if _, err := threadsOf(s).Compact(t.Context(), "t", keep, "they talked"); err != nil {
				t.Fatal(err)
			}
			expect(t, "cast", []string{"proto", "reviewer"}, room.Cast(history(t, s, "t"), ""))
		}
		summary := history(t, s, "t")[0].Summary
		expect(t, "places", []langrooms.SummaryMember{{Name: "proto", Seen: 2}, {Name: "reviewer", Seen: 7}}, summary.Members)
		// proto has not been shown what came between, which is only summarized now;
		// reviewer has, and is shown only what came after.
		expect(t, "proto's window", append([]room.Line{{Author: room.SummaryAuthor, Text: "they talked"}}, want["proto"]...), window("proto"))
		expect(t, "reviewer's window", want["reviewer"], window("reviewer"))
		address(t, s, "t", "third?", false, proto)
		if prompt := proto.prompts[1]; strings.Contains(prompt, "in between") || !strings.Contains(prompt, "[operator] after") {
			t.Errorf("proto's prompt:\n%s", prompt)
		}
	})
}

// A tool's result is not parted from its call.
func TestCompactKeepsToolResultsWithTheirCall(t *testing.T) {
	s := closing(t, memorysaver.New(), nil)
	call := langrooms.NewMessage(langrooms.RoleAI, "I will ask.")
	result := langrooms.NewMessage(langrooms.RoleTool, "one")
	for keep, want := range map[int]int{1: 4, 2: 1, 3: 1, 4: 1} { // kept at least, and how many are replaced
		thread := fmt.Sprint("keep ", keep)
		messages := []langrooms.Message{said("go")[0], call.Clone(), result.Clone(), result.Clone(), said("so?")[0]}
		for i := range messages {
			messages[i].ID = langrooms.NewID()
		}
		say(t, s, thread, messages...)
		n, err := threadsOf(s).Compact(t.Context(), thread, keep, "short")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, thread, want, n)
	}
}

// The lead's model writes the summary when no text is given; what was said incognito is not
// among what it reads (spec: rooms, 2.9).
func TestCompactWritesTheSummary(t *testing.T) {
	s := closing(t, memorysaver.New(), nil)
	proto := &member{name: "proto", script: []string{"the secret", "the other secret", "in the open"}}
	say(t, s, "t", said("hello")...)
	address(t, s, "t", "between us?", true, proto)
	address(t, s, "t", "openly?", false, &member{name: "proto", script: []string{"in the open"}})
	threads := threadsOf(s)
	var read []string
	threads.Summarize = func(_ context.Context, messages []langrooms.Message) (string, error) {
		for _, m := range messages {
			read = append(read, m.Text())
		}
		return "\nthey talked ", nil
	}
	if _, err := threads.Compact(t.Context(), "t", 0, ""); err != nil {
		t.Fatal(err)
	}
	expect(t, "the model reads", []string{"hello", "openly?", "in the open"}, read)
	expect(t, "thread", []string{"system: they talked"}, texts(t, s, "t"))

	address(t, s, "only incognito", "between us?", true, proto)
	read = nil
	if _, err := threads.Compact(t.Context(), "only incognito", 0, ""); err != nil {
		t.Fatal(err)
	}
	expect(t, "the model reads", []string(nil), read)
	expect(t, "thread", []string{"system: (Everything that was said here was incognito.)"}, texts(t, s, "only incognito"))
}

func TestCompactRefuses(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		say(t, s, "t", said("a", "b")...)
		threads := threadsOf(s)
		compact := func(thread string, keep int, text string) error {
			n, err := threads.Compact(t.Context(), thread, keep, text)
			expect(t, "replaced", 0, n)
			return err
		}
		fails(t, compact("t", -1, "short"), checkpointer.ErrInvalid, "-1")
		fails(t, compact("nowhere", 0, "short"), checkpointer.ErrNotFound, `"nowhere"`)
		fails(t, compact("t", 0, ""), lifecycle.ErrNoSummary)
		fails(t, compact("t", 0, " \n"), lifecycle.ErrNoSummary)
		fails(t, compact("t", 0, "\xff"), langrooms.ErrText)
		fails(t, compact("t", 0, strings.Repeat("x", langrooms.MaxText+1)), langrooms.ErrText)
		broken := errors.New("HTTP 500")
		threads.Summarize = func(context.Context, []langrooms.Message) (string, error) { return "", broken }
		fails(t, compact("t", 0, ""), broken, "summary")
		threads.Summarize = func(context.Context, []langrooms.Message) (string, error) { return " \n", nil }
		fails(t, compact("t", 0, ""), lifecycle.ErrNoSummary)
		expect(t, "thread", []string{"human: a", "human: b"}, texts(t, s, "t"))
	})
}
