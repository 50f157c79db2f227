package terminal

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Clean returns text without what a terminal would obey: line breaks and tabs stay, every
// other control character (C0, DEL, C1) becomes its visible form, as in <1B>. Invalid
// UTF-8 becomes U+FFFD, because its bytes can be C1 controls.
func Clean(text string) string {
	if !dirty(text) {
		return text
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if isControl(r) {
			fmt.Fprintf(&b, "<%02X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func dirty(text string) bool {
	return !utf8.ValidString(text) || strings.IndexFunc(text, isControl) >= 0
}

func isControl(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f
}

// cleanJSON escapes the controls that JSON itself lets through raw: DEL and C1. They can
// stand only inside strings.
func cleanJSON(line []byte) []byte {
	if !strings.ContainsFunc(string(line), isControl) {
		return line
	}
	var b strings.Builder
	for _, r := range string(line) {
		if isControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return []byte(b.String())
}
