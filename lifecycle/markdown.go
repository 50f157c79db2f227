package lifecycle

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// writeMarkdown writes a page. Each line of a message stands behind a quote mark and its
// tags are disarmed, so no text can pass for a heading of another author.
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

// describe is what a message says, tool traffic included.
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
	return tag.ReplaceAllString(clean(strings.Join(pieces, "\n")), "&lt;$1")
}

// tag is where Markdown hands over to HTML (CommonMark 6.6), which knows no quote marks.
var tag = regexp.MustCompile(`<([A-Za-z/!?])`)

// clean makes every kind of line break one, and takes out what a terminal would obey.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, breaks.Replace(text))
}

var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n",
	"\x1c", "\n", "\x1d", "\n", "\x1e", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

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
	if s.Incomplete {
		who += " (incomplete)"
	}
	if s.Late {
		who += " (late)"
	}
	return inline(who)
}

// inline keeps a name on one line and out of Markdown's hands.
func inline(name string) string { return strings.TrimSpace(active.Replace(clean(name))) }

var active = strings.NewReplacer("\n", " ", `\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "<", `\<`, "&", `\&`)
