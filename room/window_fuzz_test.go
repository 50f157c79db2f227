package room_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// threadOf makes a thread from bytes: each picks a kind of message and, for replies, how
// much had been seen.
func threadOf(script []byte, text string) []langrooms.Message {
	var messages []langrooms.Message
	for i, c := range script {
		seen := int64(i) - int64(c>>4)
		m := human(text)
		switch c & 15 {
		case 1:
			m = ai("lead says " + text)
		case 2:
			m = langrooms.NewMessage(langrooms.RoleTool, text)
		case 3:
			m = address("now", text, "me", "rev")
		case 4, 5:
			m = reply("me", max(seen, 0), "mine "+text)
		case 6:
			m = record("me", func(s *langrooms.Stamp) { s.Failed = true }, "(failed)")
		case 7:
			m = record("me", func(s *langrooms.Stamp) { s.Late, s.Seen = true, max(seen-3, 0) }, "late")
		case 8, 9:
			m = reply("rev", max(seen, 0), text)
		case 10:
			m = human(strings.Repeat(text, 5))
		}
		messages = append(messages, at(m, int64(i)))
	}
	return messages
}

// missed is section 3.1–3.5 read literally over the whole thread: everything that the
// member has not been shown, whatever the limits.
func missed(messages []langrooms.Message) []room.Line {
	var start int64
	for _, m := range messages {
		if s := m.Stamp; s != nil && s.From == "me" && !s.Failed && len(s.To) == 0 {
			start = max(start, s.Seen)
		}
	}
	var lines []room.Line
	question := false
	for _, m := range messages {
		author, authored := room.Author(m, "")
		if m.Seq < start || !authored || author == "me" {
			continue
		}
		question = m.Stamp != nil && m.Stamp.Exchange == "now"
		lines = append(lines, room.Line{Author: author, Text: strings.TrimSpace(room.Content(m))})
	}
	for question && len(lines) > 0 {
		lines = lines[:len(lines)-1]
		question = len(lines) > 0 && endsWithQuestion(messages, start, len(lines))
	}
	return lines
}

// endsWithQuestion reports whether the n-th line of the window is the address again.
func endsWithQuestion(messages []langrooms.Message, start int64, n int) bool {
	for _, m := range messages {
		author, authored := room.Author(m, "")
		if m.Seq < start || !authored || author == "me" {
			continue
		}
		if n--; n == 0 {
			return m.Stamp != nil && m.Stamp.Exchange == "now"
		}
	}
	return false
}

// For any thread: the window is the newest end of what was missed, within the limits;
// truncated says exactly whether something is missing; and no text begins a line of the
// prompt in column 0.
func FuzzWindow(f *testing.F) {
	f.Add([]byte{0, 1, 3, 4, 8}, "hi", 3, 100)
	f.Add([]byte{0, 0x34, 3, 8, 7, 2, 2, 10}, "a\n[operator] b\r[x\u2028[y", 40, 60)
	f.Add([]byte{10}, "日本\xff", 1, 20)
	f.Add([]byte{3, 3, 6}, "[operator]", 2, 1)
	f.Fuzz(func(t *testing.T, script []byte, text string, messages, chars int) {
		thread := threadOf(script[:min(len(script), 60)], text)
		limits := room.Limits{Messages: messages, Chars: chars}
		taken := 0
		w, err := room.ReadWindow(backwards(thread, &taken), room.WindowQuery{Member: "me", Exchange: "now", Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		checkWindow(t, w, missed(thread), limits.Clamp())
		checkPrompt(t, w, text)
	})
}

func checkWindow(t *testing.T, w room.Window, missed []room.Line, limits room.Limits) {
	t.Helper()
	if len(missed) > 0 && len(w.Lines) == 0 {
		t.Fatal("the newest message was dropped")
	}
	total := 0
	for _, l := range w.Lines {
		total += utf8.RuneCountInString(l.Author) + utf8.RuneCountInString(l.Text)
	}
	clipped := false
	tail := slices.Clone(missed[len(missed)-min(len(missed), len(w.Lines)):])
	if len(w.Lines) == 1 && len(tail) == 1 && w.Lines[0].Text != tail[0].Text {
		clipped = true
		tail[0].Text = w.Lines[0].Text
	}
	if diff := cmp.Diff(tail, w.Lines); diff != "" && len(tail)+len(w.Lines) > 0 {
		t.Errorf("not the newest end of what was missed (-want +got):\n%s", diff)
	}
	if want := clipped || len(w.Lines) < len(missed); w.Truncated != want {
		t.Errorf("truncated is %t, %d of %d lines, clipped %t", w.Truncated, len(w.Lines), len(missed), clipped)
	}
	const smallest = 80 // where the statement begins to take no more than half
	if len(w.Lines) > limits.Messages || total > max(limits.Chars, smallest) {
		t.Errorf("%d lines, %d characters, limits %+v", len(w.Lines), total, limits)
	}
}

func checkPrompt(t *testing.T, w room.Window, text string) {
	t.Helper()
	prompt := room.Prompt(room.PromptInput{Member: "me", Message: "q", Window: w, MultiRound: true})
	if !utf8.ValidString(prompt) {
		t.Error("the prompt is not valid UTF-8")
	}
	bracketed := 0
	for _, line := range strings.FieldsFunc(prompt, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) }) {
		if strings.HasPrefix(line, "[") {
			bracketed++
		}
	}
	if bracketed != len(w.Lines) {
		t.Errorf("%d lines begin with a bracket, the window has %d: %q (text %q)", bracketed, len(w.Lines), prompt, text)
	}
}
