package terminal

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/langrooms/langrooms"
)

// Columns are counted, not characters.
func TestColumns(t *testing.T) {
	for _, row := range []struct {
		text    string
		columns int
		want    string
	}{
		{"short", 10, "short"}, {"exactly10!", 10, "exactly10!"}, {"eleven char", 10, "eleven ch…"},
		{"漢字漢字漢字", 8, "漢字漢…"}, {"a\nb\tc\r", 10, "a b c"}, {"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"}, {"x", 0, ""},
	} {
		same(t, row.text, row.want, clip(row.text, row.columns))
	}
	same(t, "rows", []string{"one two", "three", "漢字漢", "字"}, rows("one two three 漢字漢字", 7))
	same(t, "tabs", []string{"a       b", "        c"}, rows("a\tb\n\tc", 20))
	same(t, "a style goes on", []string{"\x1b[2mone", "two\x1b[0m"}, rows("\x1b[2mone two\x1b[0m", 4))
}

func newTestScreen(colours bool) (*screen, *bytes.Buffer) {
	var out bytes.Buffer
	ed := newEditor(&history{})
	s := &screen{chat: &Chat{Printer: NewPrinter(&out, &out, false), leaving: make(chan struct{})}, ctx: nil, ed: ed,
		lines: make(chan line), look: watcher{colours: colours}, paper: painter{w: &out}, send: func(tea.Msg) {}}
	s.Update(tea.WindowSizeMsg{Width: 30, Height: 10})
	return s, &out
}

// The status says what is done, for how long and how to stop it; words under way stand above
// it, what is queued below.
func TestBottom(t *testing.T) {
	s, _ := newTestScreen(false)
	s.Update(status{busy: true, doing: "@proto is working"})
	same(t, "working", []string{"@proto is working · 0 s · Ct…", "› "}, s.below().rows)
	s.now = s.since.Add(75e9)
	s.Update(status{busy: true, doing: "漢字漢字 is writing", who: "@proto", written: "one two three four five six\nseven"})
	same(t, "writing", []string{"@proto — one two three four", "five six", "seven", "漢字漢字 is writing · 75 s ·…", "› "}, s.below().rows)
	hit(s.ed, "next")
	s.Update(keys["enter"])
	hit(s.ed, "half")
	same(t, "queued", []string{"queued: next", "› half"}, s.below().rows[4:])
	same(t, "the cursor", [2]int{6, 5}, [2]int{s.below().x, s.below().y})
	s.Update(tea.WindowSizeMsg{Width: 30, Height: 3})
	same(t, "a low screen", []string{"漢字漢字 is writing · 75 s ·…", "queued: next", "› half"}, s.below().rows)
	s.Update(status{})
	if s.handed != true || len(s.queue) != 0 {
		t.Error("what was queued is not sent when the turn is over")
	}
	s, _ = newTestScreen(true)
	s.Update(status{busy: true})
	same(t, "colours", "\x1b[2mworking · 0 s · Ctrl-C stops\x1b[0m", s.below().rows[0])
}

// Ctrl-C during a turn stops it and gives back what was queued; at rest it ends the chat.
func TestScreenInterrupt(t *testing.T) {
	s, _ := newTestScreen(false)
	s.Update(status{busy: true})
	hit(s.ed, "next")
	s.Update(keys["enter"])
	stopped := false
	s.chat.running = func() { stopped = true }
	s.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
	same(t, "stopped, queue, editor", []any{true, 0, "next"}, []any{stopped, len(s.queue), s.ed.text()})
	s.Update(status{})
	s.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
	same(t, "cleared", []any{false, ""}, []any{s.closed, s.ed.text()})
	s.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
	same(t, "ended", true, s.closed)
}

// After a change of width everything that a screen holds is written for the new one.
func TestScreenResize(t *testing.T) {
	s, out := newTestScreen(false)
	s.Update(printMsg("one two three four five six seven\n"))
	out.Reset()
	s.Update(tea.WindowSizeMsg{Width: 16, Height: 10})
	same(t, "written", "\x1b[2J\x1b[Hone two three|four five six|seven||", between(out.String()))
	out.Reset()
	s.Update(tea.WindowSizeMsg{Width: 16, Height: 12})
	same(t, "a change of height", "", out.String())
}

// between is what a frame writes, the rows apart, without what every frame begins and ends
// with.
func between(frame string) string {
	frame = strings.TrimPrefix(frame, beginFrame)
	frame, _, _ = strings.Cut(frame, "\x1b[?7l")
	return strings.ReplaceAll(frame, "\r\n", "|")
}

// A frame begins where the bottom did, wherever the cursor stood in it.
func TestPainter(t *testing.T) {
	var out bytes.Buffer
	p := painter{w: &out}
	paint := func(said []string, b bottom) string {
		t.Helper()
		out.Reset()
		if err := p.paint(said, b); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(strings.TrimPrefix(out.String(), beginFrame), endFrame)
	}
	b := bottom{rows: []string{"status", "› ab", "hint"}, x: 4, y: 1}
	same(t, "the first", "\r\x1b[J\x1b[?7lstatus\r\n› ab\r\nhint\x1b[A\r\x1b[4C", paint(nil, b))
	same(t, "nothing new", "", paint(nil, b))
	same(t, "words above it", "\r\x1b[A\x1b[Jhello\r\n\x1b[?7lstatus\r\n› ab\r\nhint\x1b[A\r\x1b[4C", paint([]string{"hello"}, b))
	same(t, "a lower one", "\r\x1b[A\x1b[J\x1b[?7l› \r\x1b[2C", paint(nil, bottom{rows: []string{"› "}, x: 2}))
	p.w = failing{}
	if err := p.paint([]string{"x"}, b); err == nil {
		t.Error("an error of writing is lost")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("gone") }

// What a person is shown of a turn, as it happens.
func TestWatcher(t *testing.T) {
	piece := func(member, text string) langrooms.Event {
		exchange := "x"
		if member == "otto" {
			exchange = "" // the lead
		}
		return langrooms.Event{Type: langrooms.EventProgress, Exchange: exchange, Member: member, Progress: &langrooms.Progress{Kind: langrooms.ProgressText, Text: text}}
	}
	var w watcher
	for _, row := range []struct {
		event                langrooms.Event
		said, doing, written string
	}{
		{piece("otto", "I will "), "", "the lead is writing", "I will "},
		{piece("otto", "ask.\x1b[2J"), "", "the lead is writing", "I will ask.<1B>[2J"},
		{langrooms.Event{Type: langrooms.EventLeadText, Text: "I will ask."}, "I will ask.", "the lead is writing", ""},
		{langrooms.Event{Type: langrooms.EventToolCall, Text: "delegate_to"}, "", "the lead calls delegate_to", ""},
		{langrooms.Event{Type: langrooms.EventDispatchStarted, Member: "proto", Text: "what broke?"}, "@assistant → proto — what broke?", "@proto is working", ""},
		{piece("proto", "au"), "", "@proto is writing", "au"},
		{piece("proto", "th"), "", "@proto is writing", "auth"},
		{langrooms.Event{Type: langrooms.EventProgress, Exchange: "x", Member: "proto", Progress: &langrooms.Progress{Kind: langrooms.ProgressTool, Text: "grep\nx", State: "running"}}, "", "@proto uses grep x running", "auth"},
		{langrooms.Event{Type: langrooms.EventDispatchEnded, Member: "proto", Outcome: &langrooms.Outcome{Author: "proto", OK: true, Reply: "auth \u202ebroke"}}, "@proto — auth <202E>broke", "", ""},
		{langrooms.Event{Type: langrooms.EventDispatchEnded, Member: "proto", Outcome: &langrooms.Outcome{Author: "proto", OK: true, Reply: "here", Files: []string{"a\x1b.png (image/png, 8 bytes)"}}},
			"@proto — here\nwith a<1B>.png (image/png, 8 bytes); /save lists and saves files", "", ""},
	} {
		said := w.event(row.event)
		same(t, string(row.event.Type), []string{row.said, row.doing, row.written}, []string{said, w.now().doing, w.now().written})
	}
	side := watcher{}
	for _, row := range []struct {
		event               langrooms.Event
		doing, who, written string
	}{
		{langrooms.Event{Type: langrooms.EventDispatchStarted, Member: "proto"}, "@proto is working", "", ""},
		{langrooms.Event{Type: langrooms.EventDispatchStarted, Member: "reviewer"}, "@proto is working · @reviewer is working", "", ""},
		{piece("reviewer", "the "), "@proto is working · @reviewer is writing", "@reviewer", "the "},
		{piece("proto", "au"), "@proto is writing · @reviewer is writing", "@proto", "au"},
		{piece("reviewer", "cache"), "@proto is writing · @reviewer is writing", "@proto", "au"},
		{langrooms.Event{Type: langrooms.EventDispatchEnded, Member: "proto", Outcome: &langrooms.Outcome{Author: "proto", OK: true, Reply: "auth"}}, "@reviewer is writing", "@reviewer", "the cache"},
	} {
		side.event(row.event)
		now := side.now()
		same(t, "side by side, "+string(row.event.Type), []string{row.doing, row.who, row.written}, []string{now.doing, now.who, now.written})
	}
	same(t, "the end", "It was auth.", w.conclude(langrooms.Result{Text: "It was auth."}))
	w.said = "I will ask."
	same(t, "what was said is not said again", "Stopped by the operator.", w.conclude(langrooms.Result{Text: "I will ask.\n\nStopped by the operator."}))
}

func TestSlash(t *testing.T) {
	for text, want := range map[string][]string{
		"/help": {"help", ""}, "/Now  go on\nplease ": {"now", "go on\nplease"}, "/stop @proto": {"stop", "@proto"},
		"/etc/hosts is odd": nil, " /help": nil, "/": nil, "/ x": nil, "hello": nil, "/x1": nil, "//help": nil,
	} {
		name, args, ok := slash(text)
		var got []string
		if ok {
			got = []string{name, args}
		}
		same(t, text, want, got)
	}
}
