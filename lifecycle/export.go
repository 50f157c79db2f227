package lifecycle

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
)

// Format is a form of an export.
type Format string

// The forms. JSON can be imported again; Markdown is for people.
const (
	JSON     Format = "json"
	Markdown Format = "md"
)

// incognitoText stands for what was said incognito (spec: rooms, 2.9).
const incognitoText = "(incognito: left out of the export)"

// formatName and formatVersion are in the head of a JSON export.
const (
	formatName    = "langrooms thread"
	formatVersion = 1
)

// Export writes a thread. The content of incognito messages is left out.
func (t *Threads) Export(ctx context.Context, thread string, format Format, w io.Writer) error {
	return t.with(ctx, thread, func(turn *exchange.Turn) error {
		messages, err := turn.History()
		if err != nil {
			return err
		}
		out := bufio.NewWriter(w)
		if format == JSON {
			err = writeJSON(out, thread, messages)
		} else {
			err = writeMarkdown(out, thread, messages)
		}
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			return fmt.Errorf("exporting the thread %q: %w", thread, err)
		}
		return nil
	})
}

// exported is what of m leaves the store.
func exported(m langrooms.Message) langrooms.Message {
	if m.Stamp == nil || !m.Stamp.Incognito {
		return m
	}
	m = m.Clone()
	m.Parts = []langrooms.Part{langrooms.TextPart(incognitoText)}
	m.Extra = nil
	return m
}

// positionField holds a message's position in a JSON export, so that each member's place
// in the conversation can be found again.
const positionField = "seq"

// writeJSON writes one JSON document, a message a line.
func writeJSON(w io.Writer, thread string, messages []langrooms.Message) error {
	head, err := json.Marshal(thread)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, `{"format":%q,"version":%d,"thread":%s,"messages":[`, formatName, formatVersion, head); err != nil {
		return err
	}
	for i, m := range messages {
		m = exported(m).Clone()
		if m.Extra == nil {
			m.Extra = map[string]json.RawMessage{}
		}
		m.Extra[positionField] = json.RawMessage(fmt.Sprint(m.Seq))
		data, err := m.MarshalJSON()
		if err != nil {
			return err
		}
		separator := ",\n"
		if i == 0 {
			separator = "\n"
		}
		if _, err := fmt.Fprintf(w, "%s%s", separator, data); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(w, "\n]}\n")
	return err
}

// writeMarkdown writes a page. Each line of a message stands behind a quote mark, so no
// text can pass for a heading of another author.
func writeMarkdown(w io.Writer, thread string, messages []langrooms.Message) error {
	if _, err := fmt.Fprintf(w, "# Thread %s\n", inline(thread)); err != nil {
		return err
	}
	for _, m := range messages {
		text := strings.ReplaceAll(describe(exported(m)), "\n", "\n> ")
		if _, err := fmt.Fprintf(w, "\n**%s** · %s\n\n> %s\n", headOf(m), m.Time.UTC().Format(time.RFC3339), text); err != nil {
			return err
		}
	}
	return nil
}

// describe is what a message says, tool traffic included. Every kind of line break is one.
func describe(m langrooms.Message) string {
	pieces := []string{}
	if text := room.Content(m); text != "" {
		pieces = append(pieces, text)
	}
	for _, p := range m.Parts {
		switch {
		case p.ToolCall != nil:
			pieces = append(pieces, fmt.Sprintf("[calls %s %s]", p.ToolCall.Name, p.ToolCall.Arguments))
		case p.ToolResult != nil:
			pieces = append(pieces, p.ToolResult.Content)
		}
	}
	return breaks.Replace(strings.Join(pieces, "\n"))
}

var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func headOf(m langrooms.Message) string {
	who := string(m.Role)
	if author, ok := room.Author(m, ""); ok {
		who = author
	}
	s := m.Stamp
	if s == nil {
		return inline(who)
	}
	if len(s.To) > 0 {
		who += " → " + strings.Join(s.To, ", ")
	}
	if s.Failed {
		who += " (failed)"
	}
	if s.Late {
		who += " (late)"
	}
	return inline(who)
}

// inline keeps a name on one line and out of Markdown's hands.
func inline(name string) string {
	name = strings.NewReplacer("\n", " ", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "<", `\<`).Replace(breaks.Replace(name))
	return strings.TrimSpace(name)
}
