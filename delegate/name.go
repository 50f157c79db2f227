package delegate

import "unicode"

// isNameRune accepts what a person can see and type in one run: bidirectional marks and
// other invisible format characters would let one name pass for another.
func isNameRune(r rune) bool {
	return r != unicode.ReplacementChar && unicode.IsGraphic(r) && !unicode.IsSpace(r)
}
