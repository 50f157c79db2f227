package room

import "strings"

// Inline makes a name or title from anywhere fit to be shown within a line: bounded to 128
// characters, valid UTF-8, with U+FFFD for whatever could break the line or turn it around.
func Inline(name string) string { return inline(name) }

// Indent writes text from anywhere with every row but the first indented by two spaces, so
// that no text begins a row (spec 3.3). Line breaks of every kind become "\n", other control
// characters but the tab U+FFFD.
func Indent(text string) string {
	var b strings.Builder
	indent(&b, validText(text))
	return b.String()
}
