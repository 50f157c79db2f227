package acpagent

import (
	"cmp"
	"slices"
	"strings"
)

const blot = "[redacted]"

// redactor blots secrets out of text. The zero value has none.
type redactor struct {
	secrets []string // longest first, so that one secret inside another is safe
}

func newRedactor(secrets []string) redactor {
	sorted := slices.SortedFunc(slices.Values(secrets), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return redactor{slices.Compact(sorted)}
}

func (r redactor) redact(text string) string {
	for _, s := range r.secrets {
		text = strings.ReplaceAll(text, s, blot)
	}
	return text
}

// redactStream blots out secrets in a text that comes in pieces, also where a secret lies
// across them.
type redactStream struct {
	redactor
	held string // the end of the text so far, which may be the start of a secret
}

// next takes one piece and returns what can be shown by now.
func (s *redactStream) next(piece string) string {
	text := s.redact(s.held + piece)
	keep := 0
	for _, secret := range s.secrets {
		keep = max(keep, overlap(text, secret))
	}
	s.held = text[len(text)-keep:]
	return text[:len(text)-keep]
}

// rest returns what was held back, at the end of the text.
func (s *redactStream) rest() string {
	text := s.held
	s.held = ""
	return text
}

// overlap is the length of the longest end of text that is a true beginning of secret.
func overlap(text, secret string) int {
	for n := min(len(text), len(secret)-1); n > 0; n-- {
		if strings.HasSuffix(text, secret[:n]) {
			return n
		}
	}
	return 0
}
