package room

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
)

// fold maps texts that are equal under Unicode full case folding to one text.
func fold(s string) string { return cases.Fold().String(s) }

// names resolves tokens against a roster.
type names struct {
	roster []string
	exact  map[string]bool
	// folded maps a folded name to the roster's spelling, or to "" when two names fold alike.
	folded map[string]string
	// longest is the length of the longest name, in bytes.
	longest int
}

func newNames(roster []string) names {
	n := names{roster: roster, exact: make(map[string]bool), folded: make(map[string]string)}
	for _, name := range roster {
		if name == "" || n.exact[name] {
			continue
		}
		n.exact[name] = true
		n.longest = max(n.longest, len(name))
		f := fold(name)
		if _, twice := n.folded[f]; twice {
			name = ""
		}
		n.folded[f] = name
	}
	return n
}

// punctuation may follow a name in prose (spec 1.2).
const punctuation = ",.:;!?"

// resolve returns the roster's spelling of the name in an @ token. Trailing punctuation
// is dropped mark by mark, so that of two possible names the longer one wins.
func (n names) resolve(token string) (string, bool) {
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

// foldGrowth is more than the factor by which folding can change a text's length. It
// keeps a very long token from being folded at all.
const foldGrowth = 16

func (n names) lookup(typed string) (string, bool) {
	if n.exact[typed] {
		return typed, true
	}
	if len(typed) > foldGrowth*n.longest {
		return "", false
	}
	name := n.folded[fold(typed)]
	return name, name != ""
}

// maxDistance is the edit distance up to which a name is close to a token (spec 1.4).
const maxDistance = 2

// near returns the roster name closest to token, the first of equals, or "".
func (n names) near(token string) string {
	typed := strings.TrimRight(strings.TrimPrefix(token, "@"), punctuation)
	if typed == "" || len(typed) > foldGrowth*(n.longest+maxDistance) {
		return ""
	}
	best, found := maxDistance+1, ""
	for _, name := range n.roster {
		if d := distance([]rune(fold(typed)), []rune(fold(name))); d < best && n.exact[name] {
			best, found = d, name
		}
	}
	return found
}

// distance is the number of insertions, deletions and substitutions that make b of a, or
// more than maxDistance when the lengths alone say so.
func distance(a, b []rune) int {
	if d := len(a) - len(b); d > maxDistance || -d > maxDistance {
		return maxDistance + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ra := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, rb := range b {
			cost := diagonal
			if ra != rb {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
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
