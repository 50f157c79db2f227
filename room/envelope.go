package room

import (
	"net/url"
	"strings"

	"github.com/langrooms/langrooms"
)

// Envelope renders a stamped message for a model (spec 2.3): its content between a
// room-message tag that names the author, and on an address the addressees, and the
// closing tag. A message without a stamp is its [Content].
func Envelope(m langrooms.Message) string {
	if m.Stamp == nil {
		return Content(m)
	}
	var b strings.Builder
	b.WriteString(`<room-message from="` + attribute(m.Stamp.From) + `"`)
	if len(m.Stamp.To) > 0 {
		to := make([]string, len(m.Stamp.To))
		for i, name := range m.Stamp.To {
			to[i] = attribute(name)
		}
		b.WriteString(` to="` + strings.Join(to, " ") + `"`)
	}
	b.WriteString(">\n" + NeutralizeTags(Content(m)) + "\n</room-message>")
	return b.String()
}

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

func attribute(value string) string { return NeutralizeTags(xmlEscaper.Replace(inline(value))) }

// Notice renders text of the program's own, such as the summary of a compaction, for a model
// that takes system messages only in front.
func Notice(text string) string {
	return "<system-notice>\n" + NeutralizeTags(validText(text)) + "\n</system-notice>"
}

// Instructions is what a member is told of its part in front of the first prompt of a
// conversation, where its protocol has no place of its own for that: text in an envelope that
// nothing in it can close, and that neither a window nor the words of another agent can forge.
// Empty text is "".
func Instructions(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return "Your part in this chat, for as long as it goes on:\n<room-instructions>\n" + NeutralizeTags(validText(text)) + "\n</room-instructions>"
}

// Content is what m says, as text: its text parts joined by line breaks, other parts named
// in brackets (spec 3.2), tool calls and results left out. It is valid UTF-8.
func Content(m langrooms.Message) string {
	var pieces []string
	for _, p := range m.Parts {
		switch p.Kind {
		case langrooms.PartText:
			pieces = append(pieces, validText(p.Text))
		case langrooms.PartToolCall, langrooms.PartToolResult:
		default:
			pieces = append(pieces, partName(p))
		}
	}
	return strings.Join(pieces, "\n")
}

// partName names a part that is no text: "[image image/png]".
func partName(p langrooms.Part) string {
	switch {
	case p.Kind == langrooms.PartImageURL:
		return bracket("image", imageSource(p.URL))
	case p.Kind == langrooms.PartBinary:
		return bracket(fileKind(p))
	}
	return bracket(string(p.Kind), "")
}

func bracket(kind, detail string) string {
	return "[" + label(strings.TrimSpace(kind+" "+detail)) + "]"
}

// imageSource says where an image is: the media type of a data URL, else the address
// without what may be secret in it (user, query, fragment).
func imageSource(address string) string {
	if data, ok := strings.CutPrefix(address, "data:"); ok {
		head, _, _ := strings.Cut(data, ",")
		media, _, _ := strings.Cut(head, ";")
		return media
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// label is a name between brackets of the room's own: inline, and without brackets.
func label(name string) string {
	return strings.NewReplacer("[", "(", "]", ")").Replace(inline(name))
}
