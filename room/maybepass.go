package room

import (
	"strings"
	"unicode"
)

// MayBePass reports whether text that comes in pieces can still
// become a bare "pass", which is no message.
func MayBePass(text string) bool {
	letters := strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text[:min(len(text), 200)]))
	return strings.HasPrefix("pass", letters)
}
