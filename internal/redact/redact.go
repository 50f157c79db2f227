// Package redact takes configured secrets out of text that may be shown: what a peer or a
// model's endpoint says may repeat the credential that it was sent.
//
// Only what is configured as a secret is looked for, and of that only what cannot be an
// ordinary word: the keys that local servers want ("ollama", "test") would otherwise be
// taken out of honest sentences.
package redact

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
)

// mask stands where a secret stood.
const mask = "[redacted]"

// Set is a set of secrets. The zero value is empty. It is safe for concurrent use.
type Set struct {
	// forms are the secrets in every form that is looked for, longest first, so that one
	// inside another leaves nothing of the other.
	forms []string
}

// New returns the set of those values that are secrets (see [isSecret]), each as it is and
// as a URL or a JSON string holds it.
func New(values ...string) Set {
	var forms []string
	for _, v := range values {
		if isSecret(v) {
			forms = append(forms, v, url.QueryEscape(v), url.PathEscape(v), quoted(v, true), quoted(v, false))
		}
	}
	slices.SortFunc(forms, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return Set{slices.Compact(forms)}
}

// quoted is the inside of the JSON string of v.
func quoted(v string, html bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if enc.Encode(v) != nil {
		return v
	}
	return strings.TrimSuffix(b.String(), "\"\n")[1:]
}

// Text returns text with [mask] in the place of each secret.
func (s Set) Text(text string) string {
	for _, form := range s.forms {
		text = strings.ReplaceAll(text, form, mask)
	}
	return text
}

// Error returns err when its text holds no secret. Otherwise it returns an error with the
// text that is left, which matches what err matches (errors.Is) and does not unwrap.
func (s Set) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if left := s.Text(text); left != text {
		return &redacted{left, err}
	}
	return err
}

// redacted is an error whose own words cannot be got at.
type redacted struct {
	text string
	err  error
}

func (r *redacted) Error() string        { return r.text }
func (r *redacted) Is(target error) bool { return errors.Is(r.err, target) }

// Stream takes the secrets of a set out of a text that comes in pieces, also where a
// secret lies across them. It is for one goroutine.
type Stream struct {
	set  Set
	held string // the end of the text so far, which may begin a secret
}

// Stream returns a stream at its beginning.
func (s Set) Stream() *Stream { return &Stream{set: s} }

// Next takes one piece and returns what can be shown by now.
func (s *Stream) Next(piece string) string {
	text := s.set.Text(s.held + piece)
	keep := 0
	for _, form := range s.set.forms {
		keep = max(keep, overlap(text, form))
	}
	s.held = text[len(text)-keep:]
	return text[:len(text)-keep]
}

// Rest returns what was held back, at the end of the text or of a part of it.
func (s *Stream) Rest() string {
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
