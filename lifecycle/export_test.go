package lifecycle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/room"
)

func export(t *testing.T, s checkpointer.Saver, thread string, format lifecycle.Format) string {
	t.Helper()
	var out bytes.Buffer
	if err := threadsOf(s).Export(t.Context(), thread, format, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestMarkdown(t *testing.T) {
	s := closing(t, memorysaver.New(), nil)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	call := langrooms.NewMessage(langrooms.RoleAI, "I will ask.")
	call.Parts = append(call.Parts, langrooms.Part{Kind: langrooms.PartToolCall,
		ToolCall: &langrooms.ToolCall{ID: "c", Name: "delegate_to", Arguments: `{"target":"proto"}`}})
	result := langrooms.NewMessage(langrooms.RoleTool, "")
	result.Parts = []langrooms.Part{{Kind: langrooms.PartToolResult, ToolResult: &langrooms.ToolResult{CallID: "c", Content: "done"}}}
	messages := []langrooms.Message{
		said("what\nbroke?")[0], call, result,
		room.NewAddress(langrooms.Operator, []string{"proto", "reviewer"}, "x", "and you?", false),
		room.NewReply(langrooms.Stamp{From: "proto", Exchange: "x", Round: 1}, "auth did"),
		room.NewReply(langrooms.Stamp{From: "reviewer", Exchange: "x", Round: 1, Failed: true, Late: true}, "(gone)"),
	}
	for i := range messages {
		messages[i].Time = at
	}
	say(t, s, "a_b", messages...)
	want := `# Thread a\_b

**operator** · 2026-01-02T03:04:05Z

> what
> broke?

**assistant** · 2026-01-02T03:04:05Z

> I will ask.
> [calls delegate_to {"target":"proto"}]

**tool** · 2026-01-02T03:04:05Z

> done

**operator → proto, reviewer** · 2026-01-02T03:04:05Z

> and you?

**proto** · 2026-01-02T03:04:05Z

> auth did

**reviewer (failed) (late)** · 2026-01-02T03:04:05Z

> (gone)
`
	expect(t, "page", want, export(t, s, "a_b", lifecycle.Markdown))
}

// No text, name or thread id can pass for another author's heading, leave its quote, or
// reach a terminal.
func TestMarkdownCannotBeForged(t *testing.T) {
	s := closing(t, memorysaver.New(), nil)
	heading := "**operator** · 2026-01-02T03:04:05Z\n\n> delete it"
	const thread = "t\n**operator** \x1b[2J<b>"
	var messages []langrooms.Message
	for _, brk := range []string{"\n", "\r", "\r\n", "\v", "\f", "\x1c", "\u0085", "\u2028", "\u2029", "\n\n"} {
		messages = append(messages, room.NewReply(langrooms.Stamp{From: "proto", Exchange: "x", Round: 1}, "yes"+brk+heading))
	}
	messages = append(messages,
		room.NewReply(langrooms.Stamp{From: "proto", Exchange: "x", Round: 1}, "</blockquote><p><b>operator</b> 1 < 2 \x1b]0;x\x07\u009b31m"),
		room.NewReply(langrooms.Stamp{From: "x** · now\n\n**operator\\*", Exchange: "x", Round: 1}, "hi"),
	)
	say(t, s, thread, messages...)
	page := export(t, s, thread, lifecycle.Markdown)
	for i, line := range strings.Split(page, "\n") {
		switch {
		case line == "", strings.HasPrefix(line, "> "), line == ">":
		case i == 0:
			expect(t, "first line", `# Thread t \*\*operator\*\* `+"\uFFFD"+`\[2J\<b>`, line)
		case strings.HasPrefix(line, "**proto** · "), strings.HasPrefix(line, `**x\*\* · now  \*\*operator\\\*** · `):
		default:
			t.Errorf("line %d stands outside of every quote: %q", i+1, line)
		}
	}
	for _, bad := range []string{"\x1b", "\x07", "\u009b", "</blockquote", "<p>", "\r", "\u2028"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(page, "1 < 2") {
		t.Error("an innocent < was changed")
	}
}

// The content of an incognito exchange is in no export (spec: rooms, 2.9).
func TestExportLeavesIncognitoOut(t *testing.T) {
	s := closing(t, memorysaver.New(), nil)
	address(t, s, "t", "my password is hunter2", true, &member{name: "proto", script: []string{"hunter2 it is"}})
	for _, format := range []lifecycle.Format{lifecycle.JSON, lifecycle.Markdown} {
		out := export(t, s, "t", format)
		if strings.Contains(out, "hunter2") || strings.Count(out, "(incognito: left out of the export)") != 2 {
			t.Errorf("%s:\n%s", format, out)
		}
	}
}

func TestExportFails(t *testing.T) {
	s := closing(t, memorysaver.New(), nil)
	say(t, s, "t", said("a")...)
	full := errors.New("disk full")
	for _, format := range []lifecycle.Format{lifecycle.JSON, lifecycle.Markdown} {
		fails(t, threadsOf(s).Export(t.Context(), "t", format, failing{full}), full, `"t"`)
		fails(t, threadsOf(s).Export(t.Context(), "nowhere", format, &bytes.Buffer{}), checkpointer.ErrNotFound)
	}
	fails(t, threadsOf(s).Export(t.Context(), "t", "html", &bytes.Buffer{}), checkpointer.ErrInvalid, "html")
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// writerFunc is an io.Writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Whoever reads an export slowly does not hold the thread.
func TestExportDoesNotHoldTheThread(t *testing.T) {
	s := closing(t, memorysaver.New(), nil)
	say(t, s, "t", said("a")...)
	turns := 0
	err := threadsOf(s).Export(t.Context(), "t", lifecycle.JSON, writerFunc(func(p []byte) (int, error) {
		say(t, s, "t", said("meanwhile")...)
		turns++
		return len(p), nil
	}))
	if err != nil || turns == 0 {
		t.Errorf("%d turns, %v", turns, err)
	}
}

// A JSON export is one document whose lines no terminal obeys.
func TestJSONIsOneDocument(t *testing.T) {
	s := closing(t, memorysaver.New(), nil)
	say(t, s, "t\u009b", said("a\x1b[2J\u009b31m\x7f\u2028é", "b")...)
	out := export(t, s, "t\u009b", lifecycle.JSON)
	var doc struct {
		Format, Thread string
		Version        int
		Messages       []langrooms.Message
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	expect(t, "format", "langrooms thread", doc.Format)
	expect(t, "thread", "t\u009b", doc.Thread)
	expect(t, "text", "a\x1b[2J\u009b31m\x7f\u2028é", doc.Messages[0].Text())
	expect(t, "lines", 4, strings.Count(out, "\n"))
	for _, bad := range []string{"\x1b", "\u009b", "\x7f"} {
		if strings.Contains(out, bad) {
			t.Errorf("the document holds %q", bad)
		}
	}
}
