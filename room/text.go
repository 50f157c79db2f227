package room

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isShown accepts the characters that a line can hold without surprise: no controls, no
// invisible or bidirectional marks, no white space but the plain blank.
func isShown(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r)
}

// isBreak accepts every character that some reader takes for the end of a line.
func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\x1c', '\x1d', '\x1e', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// indent writes text with every line but the first indented by two spaces, so that no
// text begins a line in column 0 (spec 3.3). Line breaks of every kind become "\n"; other
// control characters but the tab become U+FFFD.
func indent(b *strings.Builder, text string) {
	text = strings.ReplaceAll(neutralize(text, instructionTag), "\r\n", "\n")
	for _, r := range text {
		switch {
		case isBreak(r):
			b.WriteString("\n  ")
		case r != '\t' && unicode.IsControl(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
}

// clip shortens text to about limit code points by leaving out its middle and saying how
// much that was (spec 3.4). The statement counts against the limit, of which it takes no
// more than half; at least one code point is kept at each end.
func clip(text string, limit int) string {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text
	}
	keep := max(limit-utf8.RuneCountInString(omission(n)), limit/2, 2)
	if n <= keep {
		return text
	}
	head, tail := (keep+1)/2, keep/2
	from, to := 0, len(text)
	for range head {
		_, width := utf8.DecodeRuneInString(text[from:])
		from += width
	}
	for range tail {
		_, width := utf8.DecodeLastRuneInString(text[:to])
		to -= width
	}
	return text[:from] + omission(n-keep) + text[to:]
}

func omission(n int) string { return fmt.Sprintf(" […%d characters left out…] ", n) }

// validText makes text valid UTF-8.
func validText(text string) string { return strings.ToValidUTF8(text, string(utf8.RuneError)) }
