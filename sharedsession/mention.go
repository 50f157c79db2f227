package sharedsession

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/langrooms/langrooms/internal/names"
)

// Mentions finds the names that text mentions, each once and in order (spec 4.1): @ and a
// name, with no letter, digit or _ in front, outside of code and links. The longest name that
// ends at a boundary wins, in exact case first, else in any spelling (internal/names) when that is
// unique. Unresolved are the mentions that match none, without their @. @all is never a name.
func Mentions(text string, roster []string) (found, unresolved []string) {
	r := newResolver(roster)
	hidden := codeAndLinks(text)
	for i := 0; i < len(text); {
		c, width := utf8.DecodeRuneInString(text[i:])
		if end, ok := hidden[i]; ok {
			i = max(end, i+1)
			continue
		}
		if c != '@' || wordBefore(text, i) {
			i += width
			continue
		}
		name, token := r.at(text[i+1:])
		switch {
		case name != "":
			found = appendNew(found, name)
		case token != "":
			unresolved = appendNew(unresolved, token)
		}
		i += 1 + len(token)
	}
	return found, unresolved
}

// Resolve finds the names that structured mentions mean, as [Mentions] does.
func Resolve(mentions, roster []string) (found, unresolved []string) {
	r := newResolver(roster)
	for _, m := range mentions {
		m = strings.TrimPrefix(strings.TrimSpace(m), "@")
		if name := r.lookup(m); name != "" {
			found = appendNew(found, name)
		} else if m != "" {
			unresolved = appendNew(unresolved, m)
		}
	}
	return found, unresolved
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// isWord accepts what a name may not be glued to.
func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// goesOn accepts what a name goes on behind: a character of a word, or one that shows nothing.
func goesOn(r rune) bool { return isWord(r) || names.Ignorable(r) }

func wordBefore(text string, i int) bool {
	before := strings.TrimRightFunc(text[:i], names.Ignorable)
	r, _ := utf8.DecodeLastRuneInString(before)
	return before != "" && isWord(r)
}

// allName is what many would expect to mean everybody.
const allName = "all"

type resolver struct {
	exact  map[string]bool
	folded map[string]string // "" when two names fold alike
	// longest is the greatest length of a name in runes.
	longest int
}

func newResolver(roster []string) resolver {
	r := resolver{exact: map[string]bool{}, folded: map[string]string{}}
	for _, name := range roster {
		f := fold(name)
		if f == allName || r.exact[name] {
			continue
		}
		r.exact[name] = true
		r.longest = max(r.longest, utf8.RuneCountInString(name))
		if _, twice := r.folded[f]; twice {
			r.folded[f] = ""
		} else {
			r.folded[f] = name
		}
	}
	return r
}

// fold maps all spellings of one name to one text.
func fold(s string) string { return names.Key(s) }

func (r resolver) lookup(typed string) string {
	if r.exact[typed] {
		return typed
	}
	return r.folded[fold(typed)]
}

// foldGrowth is how many runes one may fold to.
const foldGrowth = 3

// at resolves what follows an @. token is what was taken: the name as typed, or without one
// the run of a name's usual characters.
func (r resolver) at(rest string) (name, token string) {
	var ends []int // where a name could end, shortest first
	n, usual, open := 0, 0, true
	for i, c := range rest {
		if i > 0 && !goesOn(c) {
			ends = append(ends, i)
		}
		if open = open && (goesOn(c) || c == '.' || c == '-'); open {
			usual = i + utf8.RuneLen(c)
		}
		if n++; n > foldGrowth*r.longest+1 && !open || n > maxToken {
			break
		}
	}
	if n <= maxToken {
		ends = append(ends, len(rest))
	}
	for _, end := range slices.Backward(ends) {
		next, _ := utf8.DecodeRuneInString(rest[end:])
		if end < len(rest) && goesOn(next) || utf8.RuneCountInString(rest[:end]) > foldGrowth*max(r.longest, 1) {
			continue
		}
		if name = r.lookup(rest[:end]); name != "" {
			return name, rest[:end]
		}
	}
	return "", strings.TrimRight(rest[:usual], ".-")
}

// maxToken bounds what is looked at behind an @, in runes.
const maxToken = 512

// codeAndLinks returns the parts of text in which nothing is a mention, by their beginnings.
func codeAndLinks(text string) map[int]int {
	hidden := fences(text)
	for i := 0; i < len(text); {
		if end, ok := hidden[i]; ok {
			i = end
			continue
		}
		end := i
		switch {
		case text[i] == '`':
			end = codeSpan(text, i, hidden)
		case strings.HasPrefix(text[i:], "]("):
			end = linkTarget(text, i)
		case isURL(text, i):
			end = i + strings.IndexFunc(text[i:]+" ", func(r rune) bool { return unicode.IsSpace(r) || r == '<' || r == '>' })
		}
		if end > i {
			hidden[i] = end
			i = end
			continue
		}
		if text[i] == '`' { // an opening without a close: skip the whole run
			i += run(text[i:], '`')
			continue
		}
		i++
	}
	return hidden
}

func run(text string, c byte) int {
	n := 0
	for n < len(text) && text[n] == c {
		n++
	}
	return n
}

// codeSpan returns the end of the code span that opens at i, or i.
func codeSpan(text string, i int, hidden map[int]int) int {
	width := run(text[i:], '`')
	for j := i + width; j < len(text); {
		if _, fence := hidden[j]; fence {
			return i
		}
		if text[j] != '`' {
			j++
			continue
		}
		n := run(text[j:], '`')
		if n == width {
			return j + n
		}
		j += n
	}
	return i
}

// linkTarget returns the end of the target of a Markdown link whose "](" stands at i, or i.
func linkTarget(text string, i int) int {
	depth := 0
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return j + 1
			}
		case '\n':
			return i
		}
	}
	return i
}

// isURL reports whether a bare URL begins at i.
func isURL(text string, i int) bool {
	rest := text[i:]
	for _, scheme := range []string{"https://", "http://", "ftp://", "ws://", "wss://", "mailto:", "www."} {
		if len(rest) > len(scheme) && strings.EqualFold(rest[:len(scheme)], scheme) {
			return !wordBefore(text, i)
		}
	}
	return false
}

// fences returns the code blocks between rows of ``` or ~~~.
func fences(text string) map[int]int {
	blocks := map[int]int{}
	start, mark, width := -1, byte(0), 0
	for at := 0; at < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		row := strings.TrimRight(text[at:end], "\r\n")
		body := strings.TrimLeft(row, " ")
		n := 0
		if len(row)-len(body) <= 3 && body != "" && (body[0] == '`' || body[0] == '~') {
			n = run(body, body[0])
		}
		switch {
		case start < 0 && n >= 3 && (body[0] == '~' || !strings.Contains(body[n:], "`")):
			start, mark, width = at, body[0], n
		case start >= 0 && n >= width && body[0] == mark && strings.TrimSpace(body[n:]) == "":
			blocks[start] = end
			start = -1
		}
		at = end
	}
	if start >= 0 {
		blocks[start] = len(text)
	}
	return blocks
}
