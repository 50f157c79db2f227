package a2aagent

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// paragraph appends text as a paragraph of its own; blank text is none.
func paragraph(all, text string) string {
	switch {
	case blank(text):
		return all
	case all == "":
		return text
	}
	return all + "\n\n" + strings.TrimLeft(text, "\n")
}

// lastWords is what the agent has said since the last message from us. Beside its text, data
// is what it thinks and does on the way.
func lastWords(history []wireMessage) string {
	from := 0
	for i := range history {
		if strings.HasSuffix(strings.ToLower(history[i].Role), "user") {
			from = i + 1
		}
	}
	text, all := "", ""
	for _, m := range history[from:] {
		text, all = join(text, renderText(m.Parts)), join(all, render(m.Parts))
	}
	if blank(text) {
		return all
	}
	return text
}

// renderText is render without data and files.
func renderText(parts []wirePart) string {
	var b strings.Builder
	for i := range parts {
		if p := &parts[i]; p.Text != nil && !p.isThought() {
			b.WriteString(*p.Text)
		}
	}
	return b.String()
}

// join appends what the agent said next. Some agents speak in pieces that are cut anywhere,
// others in whole messages: only after the end of a sentence, and before what begins one, is
// there a break.
func join(all, piece string) string {
	begins, _ := utf8.DecodeRuneInString(piece)
	if all != "" && strings.ContainsRune(".!?:", rune(all[len(all)-1])) && unicode.IsUpper(begins) {
		return paragraph(all, piece)
	}
	return all + piece
}
