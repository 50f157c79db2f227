package room

import (
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
)

// The defaults and ceilings of the catch-up window (spec 10).
const (
	DefaultCatchupMessages = 40
	MaxCatchupMessages     = 500
	DefaultCatchupChars    = 8000
	MaxCatchupChars        = 200_000
)

// Limits bound a catch-up window; the first to trip wins (spec 3.4).
type Limits struct {
	// Messages is room.catchup_max_messages: how many authored messages are shown.
	Messages int
	// Chars is room.catchup_max_chars: how many code points their authors and texts have
	// together.
	Chars int
}

// Clamp returns the limits in force: the default for zero and below, the ceiling above it.
func (l Limits) Clamp() Limits {
	return Limits{
		Messages: clampTo(l.Messages, DefaultCatchupMessages, MaxCatchupMessages),
		Chars:    clampTo(l.Chars, DefaultCatchupChars, MaxCatchupChars),
	}
}

func clampTo(n, standard, ceiling int) int {
	if n <= 0 {
		return standard
	}
	return min(n, ceiling)
}

// WindowQuery says whose window is read.
type WindowQuery struct {
	// Member is who will be shown the window.
	Member string
	// Lead is the lead's configured name; "" means [langrooms.Assistant].
	Lead string
	// Exchange is the id of the exchange being answered; its address is left out of the
	// window while nothing follows it (spec 3.5), and when it alone is too long for it.
	Exchange string
	// Own shows the member its own replies too, as "Member (you)", for one that keeps no
	// conversation. They begin with its newest, as all of the window does.
	Own bool
	// Limits are clamped, see [Limits.Clamp].
	Limits Limits
	// FromStart is for a member that knows nothing of the thread any more: the window does not
	// start after what it has seen, and holds its own words.
	FromStart bool
}

// Line is one message of a window.
type Line struct {
	// Author is fit to be shown in a line.
	Author string
	// Text is raw and may have several lines.
	Text string
}

// Window is what a member has missed, oldest line first.
type Window struct {
	Lines []Line
	// Truncated means that the member is not shown something that it had not been shown.
	Truncated bool
	// Compacted means that a summary, which stands as the first line, is all that was
	// Truncated: no limit would bring back the messages that it has replaced.
	Compacted bool
	// Continues means that the member has been shown what stands before the window.
	Continues bool
	// FromStart is the query's.
	FromStart bool
}

// ReadWindow reads the window of q.Member backwards from the newest message (spec 3). It
// starts after what the member's newest successful reply had seen, or at the top of the
// thread. newestFirst must yield messages in descending order of Seq; it is consumed only
// as far as needed, which depends on the limits and never on the thread's length: of
// messages that nobody or the member itself said, no more are passed over than
// 100 + 20 × Limits.Messages, and a window that ends there is Truncated.
//
// An error of newestFirst ends the reading and is returned, wrapped.
func ReadWindow(newestFirst iter.Seq2[langrooms.Message, error], q WindowQuery) (Window, error) {
	r := windowReader{query: q, limits: q.Limits.Clamp()}
	r.skips = 100 + 20*r.limits.Messages
	for m, err := range newestFirst {
		if err != nil {
			return Window{}, fmt.Errorf("reading the catch-up window of @%s: %w", inline(q.Member), err)
		}
		if !r.read(m) {
			break
		}
	}
	return r.window(), nil
}

// windowReader collects a window, newest line first.
type windowReader struct {
	query  WindowQuery
	limits Limits
	// start is the position from which on the member has not been shown the thread, as
	// far as known. Reading backwards it can only rise to a position that is still below
	// all that was read.
	start     int64
	lines     []Line
	chars     int
	skips     int
	truncated bool
	compacted bool
}

// read takes the next older message and reports whether to go on.
func (r *windowReader) read(m langrooms.Message) bool {
	if !r.query.FromStart {
		r.moveStart(m)
	}
	if m.Seq < r.start {
		return false
	}
	if m.Summary != nil {
		r.summary(m)
		return false
	}
	author, authored := Author(m, r.query.Lead)
	question := r.isQuestion(m)
	if !authored || author == r.query.Member && !r.recalls(m) || question && len(r.lines) == 0 {
		r.skips--
		r.truncated = r.skips < 0
		return !r.truncated
	}
	// A question that is too long, such as a pasted log, is no loss: it stands in full below
	// the window. What is older can still fit.
	tooLong := question && len(r.lines) < r.limits.Messages
	shown := label(author)
	if r.query.Own && author == r.query.Member {
		shown += " (you)"
	}
	r.truncated = !r.add(shown, strings.TrimSpace(Content(m))) && !tooLong
	return !r.truncated
}

// SummaryAuthor is the author of the line that stands for messages which a compaction has
// replaced. No delegate can have the name.
const SummaryAuthor = "summary"

// summary takes what stands in place of messages that the member has not been shown, at
// least in part. It is a loss, also where all of its words are shown.
func (r *windowReader) summary(m langrooms.Message) {
	text := strings.TrimSpace(Content(m))
	r.compacted = text == "" || r.add(SummaryAuthor, text)
	r.truncated = true
}

// moveStart raises the start to what the member is known to have been shown when m, a
// successful reply of its own or a summary of such, came into being (spec 3.1). A late
// answer, which has seen less than replies before it, does not move it back.
func (r *windowReader) moveStart(m langrooms.Message) {
	if s := m.Stamp; s != nil && s.From == r.query.Member && !s.Failed && len(s.To) == 0 {
		r.start = max(r.start, min(s.Seen, m.Seq))
	}
	if m.Summary == nil {
		return
	}
	for _, member := range m.Summary.Members {
		if member.Name == r.query.Member {
			r.start = max(r.start, min(member.Seen, m.Seq+1))
		}
	}
}

// recalls reports whether m, of the member itself, is shown to it.
func (r *windowReader) recalls(m langrooms.Message) bool {
	return (r.query.FromStart || r.query.Own) && (m.Stamp == nil || !m.Stamp.Failed)
}

// isQuestion recognises the address being answered.
func (r *windowReader) isQuestion(m langrooms.Message) bool {
	return m.Stamp != nil && len(m.Stamp.To) > 0 &&
		r.query.Exchange != "" && m.Stamp.Exchange == r.query.Exchange
}

// add puts a line at the old end unless a limit forbids it. The newest line is clipped
// rather than dropped (spec 3.4).
func (r *windowReader) add(author, text string) bool {
	names, n := utf8.RuneCountInString(author), utf8.RuneCountInString(text)
	clipped := false
	if len(r.lines) == 0 && names+n > r.limits.Chars {
		short := clip(text, r.limits.Chars-names)
		clipped = short != text
		text, n = short, utf8.RuneCountInString(short)
	} else if len(r.lines) == r.limits.Messages || r.chars+names+n > r.limits.Chars {
		return false
	}
	r.lines = append(r.lines, Line{Author: author, Text: text})
	r.chars += names + n
	return !clipped
}

func (r *windowReader) window() Window {
	w := Window{Truncated: r.truncated, Compacted: r.compacted, Continues: r.start > 0, FromStart: r.query.FromStart}
	for i := len(r.lines) - 1; i >= 0; i-- {
		w.Lines = append(w.Lines, r.lines[i])
	}
	return w
}
