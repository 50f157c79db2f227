package room_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// thread gives messages their positions, from 0 unless they have one.
func thread(messages ...langrooms.Message) []langrooms.Message {
	for i := range messages {
		if messages[i].Seq == 0 {
			messages[i].Seq = int64(i)
		}
	}
	return messages
}

// backwards reads messages newest first and counts how many were taken.
func backwards(messages []langrooms.Message, taken *int) iter.Seq2[langrooms.Message, error] {
	return func(yield func(langrooms.Message, error) bool) {
		for i := len(messages) - 1; i >= 0; i-- {
			*taken++
			if !yield(messages[i], nil) {
				return
			}
		}
	}
}

func reply(from string, seen int64, text string) langrooms.Message {
	return room.NewReply(langrooms.Stamp{From: from, Exchange: "old", Round: 1, Seen: seen}, text)
}

func address(exchange, text string, to ...string) langrooms.Message {
	return room.NewAddress(langrooms.Operator, to, exchange, text, false)
}

func record(from string, edit func(*langrooms.Stamp), text string) langrooms.Message {
	m := reply(from, 0, text)
	edit(m.Stamp)
	return m
}

func summary(replaced int, seq int64, members ...langrooms.SummaryMember) langrooms.Message {
	m := langrooms.NewMessage(langrooms.RoleSystem, "what was said before")
	m.Summary, m.Seq = &langrooms.Summary{Replaced: replaced, Members: members}, seq
	return m
}

func at(m langrooms.Message, seq int64) langrooms.Message { m.Seq = seq; return m }

// show renders a window as "author: text" lines.
func show(w room.Window) []string {
	var lines []string
	for _, l := range w.Lines {
		lines = append(lines, l.Author+": "+l.Text)
	}
	return lines
}

func TestReadWindow(t *testing.T) {
	failed := func(s *langrooms.Stamp) { s.Failed, s.Seen = true, 0 }
	call := langrooms.Message{Role: langrooms.RoleAI, Parts: []langrooms.Part{{Kind: langrooms.PartToolCall, ToolCall: &langrooms.ToolCall{Name: "x"}}}}
	result := langrooms.NewMessage(langrooms.RoleTool, "secret")
	tests := []struct {
		name      string
		thread    []langrooms.Message
		limits    room.Limits
		lead      string
		want      []string
		truncated bool
		compacted bool
	}{
		{name: "an empty thread"},
		// 3.1
		{name: "from the top when it never spoke", thread: thread(human("a"), ai("b"), reply("rev", 2, "c"), address("now", "q", "me")),
			want: []string{"operator: a", "assistant: b", "rev: c"}},
		{name: "since what its last reply had seen", thread: thread(human("a"), address("old", "b", "me", "rev"), reply("me", 2, "c"), reply("rev", 3, "d"), human("e")),
			want: []string{"rev: d", "operator: e"}},
		{name: "also what came while it was answering", thread: thread(human("a"), address("old", "b", "me"), human("meanwhile"), reply("me", 2, "c"), human("e")),
			want: []string{"operator: meanwhile", "operator: e"}},
		{name: "its own messages are left out", thread: thread(human("a"), reply("me", 0, "mine"), human("b")),
			want: []string{"operator: a", "operator: b"}},
		{name: "a failed record does not move the start", thread: thread(human("a"), reply("me", 1, "mine"), human("b"), record("me", failed, "(could not be reached: x)"), human("c")),
			want: []string{"operator: b", "operator: c"}},
		{name: "a failed record of another member is shown", thread: thread(reply("me", 0, "mine"), record("rev", failed, "(could not be reached: x)")),
			want: []string{"rev: (could not be reached: x)"}},
		{name: "a late answer moves it to what it had been shown", thread: thread(human("a"), address("old", "b", "me"), record("me", failed, "(x)"), human("c"),
			record("me", func(s *langrooms.Stamp) { s.Late, s.Seen = true, 2 }, "late")),
			want: []string{"operator: c"}},
		{name: "a late answer does not move it back", thread: thread(human("a"), human("b"), human("c"), reply("me", 3, "mine"), human("d"),
			record("me", func(s *langrooms.Stamp) { s.Late, s.Seen = true, 1 }, "late"), human("e")),
			want: []string{"operator: d", "operator: e"}},
		{name: "being addressed is not speaking", thread: thread(human("a"), room.NewAddress("me", []string{"rev"}, "old", "b", false), human("c")),
			want: []string{"operator: a", "operator: c"}},
		{name: "a position beyond its own reply is not believed", thread: thread(human("a"), reply("me", 99, "mine"), human("b")),
			want: []string{"operator: b"}},
		{name: "a negative position neither", thread: thread(human("a"), reply("me", -5, "mine"), human("b")),
			want: []string{"operator: a", "operator: b"}},
		// 3.2
		{name: "tool calls, results, system text and blanks are nobody's", thread: thread(human("a"), call, result, langrooms.NewMessage(langrooms.RoleSystem, "s"), human(" \n"), ai("b")),
			lead: "ava", want: []string{"operator: a", "ava: b"}},
		{name: "text is trimmed", thread: thread(human("\n a\n b \n")), want: []string{"operator: a\n b"}},
		{name: "an author cannot pass for another", thread: thread(reply("operator] x\n[rev", 0, "a"), reply("opera\u200btor", 0, "b")),
			want: []string{"operator) x\uFFFD(rev: a", "opera\uFFFDtor: b"}},
		// 3.4
		{name: "messages bound", thread: thread(human("a"), human("b"), human("c")), limits: room.Limits{Messages: 2},
			want: []string{"operator: b", "operator: c"}, truncated: true},
		{name: "just as many as the bound", thread: thread(human("b"), human("c")), limits: room.Limits{Messages: 2},
			want: []string{"operator: b", "operator: c"}},
		{name: "what is beyond the bound was seen", thread: thread(human("a"), reply("me", 1, "mine"), human("b"), human("c")), limits: room.Limits{Messages: 2},
			want: []string{"operator: b", "operator: c"}},
		{name: "what is beyond the bound is nobody's", thread: thread(result, human("b"), human("c")), limits: room.Limits{Messages: 2},
			want: []string{"operator: b", "operator: c"}},
		{name: "characters bound: author and text", thread: thread(human("aa"), human("bb")), limits: room.Limits{Chars: 20},
			want: []string{"operator: aa", "operator: bb"}},
		{name: "one character more drops the whole old message", thread: thread(human("aaa"), human("bb")), limits: room.Limits{Chars: 20},
			want: []string{"operator: bb"}, truncated: true},
		{name: "code points, not bytes", thread: thread(human("日本"), human("日本")), limits: room.Limits{Chars: 20},
			want: []string{"operator: 日本", "operator: 日本"}},
		{name: "nothing older is let in past a dropped one", thread: thread(human("a"), human(strings.Repeat("b", 50)), human("c")), limits: room.Limits{Chars: 30},
			want: []string{"operator: c"}, truncated: true},
		{name: "a seen message that would not fit is no loss", thread: thread(human(strings.Repeat("b", 50)), reply("me", 1, "mine"), human("c")), limits: room.Limits{Chars: 30},
			want: []string{"operator: c"}},
		// 3.5
		{name: "the address being answered is left out", thread: thread(human("a"), address("now", "q", "me")), want: []string{"operator: a"}},
		{name: "and does not count", thread: thread(human("a"), address("now", "q", "me")), limits: room.Limits{Messages: 1}, want: []string{"operator: a"}},
		{name: "also when its own record follows", thread: thread(human("a"), address("now", "q", "me", "rev"), record("me", failed, "(x)")), want: []string{"operator: a"}},
		{name: "it stays once another member has spoken", thread: thread(address("now", "what broke the build?", "rev", "me"), reply("rev", 1, "I'd blame auth")),
			want: []string{"operator: what broke the build?", "rev: I'd blame auth"}},
		{name: "it stays once another member has failed", thread: thread(address("now", "q", "rev", "me"), record("rev", failed, "(x)")),
			want: []string{"operator: q", "rev: (x)"}},
		{name: "one that is too long is no loss, it stands below", thread: thread(human("a"), address("now", strings.Repeat("q", 50), "rev", "me"), reply("rev", 1, "b")), limits: room.Limits{Chars: 30},
			want: []string{"operator: a", "rev: b"}},
		{name: "what is older than that and does not fit is one", thread: thread(human(strings.Repeat("a", 50)), address("now", strings.Repeat("q", 50), "rev", "me"), reply("rev", 1, "b")), limits: room.Limits{Chars: 30},
			want: []string{"rev: b"}, truncated: true},
		{name: "beyond the bound of messages it is", thread: thread(address("now", "q", "rev", "me"), reply("rev", 1, "b")), limits: room.Limits{Messages: 1},
			want: []string{"rev: b"}, truncated: true},
		{name: "an older address is a message like any other", thread: thread(address("older", "q", "me")), want: []string{"operator: q"}},
		// 11: compaction
		{name: "a summary of what it had not seen", thread: thread(summary(90, 89), human("a")), want: []string{"summary: what was said before", "operator: a"}, truncated: true, compacted: true},
		{name: "a summary of what it had seen", thread: thread(summary(90, 89, langrooms.SummaryMember{Name: "me", Seen: 90}), at(human("a"), 90)),
			want: []string{"operator: a"}},
		{name: "its reply is in the summary, the window starts inside what was kept", want: []string{"operator: b"},
			thread: thread(summary(90, 89, langrooms.SummaryMember{Name: "me", Seen: 90}), at(reply("me", 80, "mine"), 90), at(human("b"), 91))},
		{name: "its reply is in the summary, what followed it too", want: []string{"summary: what was said before", "operator: a"}, truncated: true, compacted: true,
			thread: thread(summary(90, 89, langrooms.SummaryMember{Name: "me", Seen: 50}), at(human("a"), 90))},
		{name: "a summary that does not fit", limits: room.Limits{Chars: 15}, want: []string{"operator: a"}, truncated: true,
			thread: thread(summary(90, 89), at(human("a"), 90))},
		{name: "a summary alone is clipped", limits: room.Limits{Chars: 20}, want: []string{"summary: wha […14 characters left out…] ore"}, truncated: true,
			thread: thread(summary(90, 89))},
		{name: "a bound before the summary is a truncation", limits: room.Limits{Messages: 1}, want: []string{"operator: b"}, truncated: true,
			thread: thread(summary(90, 89), at(human("a"), 90), at(human("b"), 91))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			taken := 0
			w, err := room.ReadWindow(backwards(tt.thread, &taken), room.WindowQuery{Member: "me", Lead: tt.lead, Exchange: "now", Limits: tt.limits})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, show(w)); diff != "" {
				t.Errorf("window (-want +got):\n%s", diff)
			}
			if w.Truncated != tt.truncated || w.Compacted != tt.compacted {
				t.Errorf("truncated %t, compacted %t, want %t, %t", w.Truncated, w.Compacted, tt.truncated, tt.compacted)
			}
		})
	}
}

// A member that keeps no conversation may be shown its own words, within the same bounds.
func TestReadWindowOwn(t *testing.T) {
	messages := thread(human("a"), reply("me", 1, "mine"), human("b"), reply("me", 3, "mine too"), record("me", func(s *langrooms.Stamp) { s.Failed = true }, "(x)"), human("c"))
	for limit, want := range map[int][]string{0: {"me (you): mine too", "operator: c"}, 1: {"operator: c"}} {
		w, err := room.ReadWindow(backwards(messages, new(int)), room.WindowQuery{Member: "me", Own: true, Limits: room.Limits{Messages: limit}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, show(w)); diff != "" || w.Truncated != (limit == 1) {
			t.Errorf("window (-want +got):\n%s truncated %t", diff, w.Truncated)
		}
	}
}

// Spec 3.4: the newest message is clipped in the middle, never dropped.
func TestReadWindowClipsTheNewest(t *testing.T) {
	text := "head" + strings.Repeat("日", 1_000_000) + "tail"
	for _, chars := range []int{1, 8, 20, 80, 8000, 200_000} {
		taken := 0
		w, err := room.ReadWindow(backwards(thread(human("older"), human(text)), &taken), room.WindowQuery{Member: "me", Limits: room.Limits{Chars: chars}})
		if err != nil || len(w.Lines) != 1 || !w.Truncated {
			t.Fatalf("%d characters: %d lines, truncated %t, %v", chars, len(w.Lines), w.Truncated, err)
		}
		got := w.Lines[0].Text
		if !strings.HasPrefix(got, "h") || !strings.HasSuffix(got, "l") || !strings.Contains(got, "characters left out") {
			t.Errorf("%d characters: got %.80q…", chars, got)
		}
		var left int
		marker := got[strings.Index(got, "[…"):]
		if _, err := fmt.Sscanf(marker, "[…%d characters", &left); err != nil {
			t.Fatalf("%d characters: the number is missing: %v", chars, err)
		}
		kept := strings.Replace(got, fmt.Sprintf(" […%d characters left out…] ", left), "", 1)
		if n := utf8.RuneCountInString(kept) + left; n != utf8.RuneCountInString(text) {
			t.Errorf("%d characters: kept and left out make %d", chars, n)
		}
		if total := utf8.RuneCountInString(got) + len("operator"); chars >= 80 && total > chars {
			t.Errorf("%d characters: the window has %d", chars, total)
		}
	}
}

// A text that just fits is not clipped, and a name that takes all the room leaves a short
// text whole.
func TestReadWindowClipsOnlyWhatIsTooLong(t *testing.T) {
	taken := 0
	for text, chars := range map[string]int{"12345678901234567890": 28, "ab": 1, "a": 8, "日本": 10} {
		w, err := room.ReadWindow(backwards(thread(human(text)), &taken), room.WindowQuery{Member: "me", Limits: room.Limits{Chars: chars}})
		if err != nil || len(w.Lines) != 1 || w.Lines[0].Text != text || w.Truncated {
			t.Errorf("%q in %d characters: %+v, %v", text, chars, w, err)
		}
	}
}

// Spec 3.9: the number of messages read does not depend on the thread's length.
func TestReadWindowReadsOnlyTheWindow(t *testing.T) {
	long := make([]langrooms.Message, 100_000)
	for i := range long {
		long[i] = at(human("x"), int64(i))
	}
	read := func(messages []langrooms.Message, limits room.Limits) (int, room.Window) {
		taken := 0
		w, err := room.ReadWindow(backwards(messages, &taken), room.WindowQuery{Member: "me", Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		return taken, w
	}
	for _, n := range []int{100, 10_000, 100_000} {
		if taken, w := read(long[:n], room.Limits{Messages: 20}); taken != 21 || len(w.Lines) != 20 || !w.Truncated {
			t.Errorf("of %d messages %d were read for %d lines, want 21 for 20", n, taken, len(w.Lines))
		}
	}
	long[50_000] = at(reply("me", 50_000, "mine"), 50_000)
	if taken, w := read(long[:50_011], room.Limits{Messages: 20}); taken != 12 || len(w.Lines) != 10 || w.Truncated {
		t.Errorf("with a reply 10 messages ago %d were read for %d lines, want 12 for 10", taken, len(w.Lines))
	}
	for i := 100; i < len(long)-3; i++ {
		long[i].Role = langrooms.RoleTool
		long[i].Stamp = nil
	}
	if taken, w := read(long, room.Limits{Messages: 20}); taken != 3+100+20*20+1 || len(w.Lines) != 3 || !w.Truncated {
		t.Errorf("behind a long tool run %d were read, %d lines, truncated %t", taken, len(w.Lines), w.Truncated)
	}
}

func TestReadWindowError(t *testing.T) {
	broken := errors.New("the store is away")
	w, err := room.ReadWindow(func(yield func(langrooms.Message, error) bool) {
		if yield(human("a"), nil) {
			yield(langrooms.Message{}, broken)
		}
	}, room.WindowQuery{Member: "me"})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "@me") || len(w.Lines) != 0 {
		t.Errorf("got %+v, %v", w, err)
	}
}

// Spec 10.
func TestLimitsClamp(t *testing.T) {
	for in, want := range map[room.Limits]room.Limits{
		{}:                               {Messages: 40, Chars: 8000},
		{Messages: -1, Chars: -1}:        {Messages: 40, Chars: 8000},
		{Messages: 1, Chars: 1}:          {Messages: 1, Chars: 1},
		{Messages: 501, Chars: 200_001}:  {Messages: 500, Chars: 200_000},
		{Messages: 500, Chars: 200_000}:  {Messages: 500, Chars: 200_000},
		{Messages: 1 << 40, Chars: 8000}: {Messages: 500, Chars: 8000},
	} {
		if got := in.Clamp(); got != want {
			t.Errorf("%+v: got %+v, want %+v", in, got, want)
		}
	}
}

// A text that is barely too long is clipped although the statement is as long as what it
// replaces: what is shown never passes for the whole.
func TestReadWindowClipsABarelyTooLongText(t *testing.T) {
	taken := 0
	text := strings.Repeat("ab", 20)
	w, err := room.ReadWindow(backwards(thread(human(text)), &taken), room.WindowQuery{Member: "me", Limits: room.Limits{Chars: 47}})
	if err != nil || !w.Truncated || w.Lines[0].Text == text {
		t.Errorf("got %+v, %v", w, err)
	}
}
