package room

import (
	"strings"
	"unicode/utf8"

	"github.com/langrooms/langrooms/internal/names"
)

// roster resolves tokens.
type roster struct {
	names []string
	exact map[string]bool
	// keyed maps a name's key to the roster's spelling, or to "" when two names have one.
	keyed map[string]string
	// longest is the length of the longest name, in bytes.
	longest int
}

func newRoster(all []string) roster {
	n := roster{names: all, exact: make(map[string]bool), keyed: make(map[string]string)}
	for _, name := range all {
		if name == "" || n.exact[name] {
			continue
		}
		n.exact[name] = true
		n.longest = max(n.longest, len(name))
		key := names.Key(name)
		if _, twice := n.keyed[key]; twice {
			name = ""
		}
		n.keyed[key] = name
	}
	return n
}

// punctuation may follow a name in prose (spec 1.2).
const punctuation = ",.:;!?"

// resolve returns the roster's spelling of the name in an @ token. Trailing punctuation
// is dropped mark by mark, so that of two possible names the longer one wins.
func (n roster) resolve(token string) (string, bool) {
	typed, ok := strings.CutPrefix(token, "@")
	for ok && typed != "" {
		if name, found := n.lookup(typed); found {
			return name, true
		}
		if !strings.Contains(punctuation, typed[len(typed)-1:]) {
			break
		}
		typed = typed[:len(typed)-1]
	}
	return "", false
}

// keyGrowth is more than the factor by which a key can be shorter than its text, but for
// characters that show nothing. It keeps a very long token from being looked at at all.
const keyGrowth = 16

func (n roster) lookup(typed string) (string, bool) {
	if n.exact[typed] {
		return typed, true
	}
	if len(typed) > keyGrowth*n.longest {
		return "", false
	}
	name := n.keyed[names.Key(typed)]
	return name, name != ""
}

// maxDistance is the edit distance up to which a name is close to a token (spec 1.4).
const maxDistance = 2

// near returns the roster name closest to token, the first of equals, or "".
func (n roster) near(token string) string {
	typed := strings.TrimRight(strings.TrimPrefix(token, "@"), punctuation)
	if typed == "" || len(typed) > keyGrowth*(n.longest+maxDistance) {
		return ""
	}
	best, found := maxDistance+1, ""
	for _, name := range n.names {
		if d := names.Distance(names.Key(typed), names.Key(name), maxDistance); d < best && n.exact[name] {
			best, found = d, name
		}
	}
	return found
}

// mentions joins names for the operator: "@proto, @reviewer".
func mentions(members []string) string {
	shown := make([]string, len(members))
	for i, name := range members {
		shown[i] = "@" + inline(name)
	}
	return strings.Join(shown, ", ")
}

// maxShownName bounds a name where it is shown, in code points.
const maxShownName = 128

// inline makes a name from anywhere safe to show within a line: bounded, valid UTF-8, and
// with U+FFFD for whatever could break the line or turn it around.
func inline(name string) string {
	var b strings.Builder
	n := 0
	for _, r := range name {
		if n++; n > maxShownName {
			b.WriteRune('…')
			break
		}
		if !isShown(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}
