package demo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// oracleSign is how oracle says what it is.
const oracleSign = "(I am a demo agent: I only know what I was shown here.)"

// oracleAnswer answers from the window: who spoke, the newest words, and the sentences
// that share the question's words.
func oracleAnswer(_ context.Context, s situation) (string, error) {
	if len(s.lines) == 0 {
		return "I have been shown nothing but your question, so I have no answer to it.\n" + oracleSign, nil
	}
	var b strings.Builder
	found := extract(s.prompt)
	if len(found) == 0 {
		b.WriteString("Nothing that I was shown has your question's words in it.")
	} else {
		b.WriteString("On your question I was shown:")
		for _, l := range found {
			fmt.Fprintf(&b, "\n- %s: %s", l.author, l.text)
		}
	}
	newest := s.lines[len(s.lines)-1]
	fmt.Fprintf(&b, "\nThe newest words are %s's: %s", newest.author, first(newest.text))
	fmt.Fprintf(&b, "\nHere spoke %s.", voices(s.lines))
	return b.String() + "\n" + oracleSign, nil
}

// voices lists the authors with the number of their messages, in first-spoken order.
func voices(lines []line) string {
	var order []string
	count := make(map[string]int)
	for _, l := range lines {
		if count[l.author]++; count[l.author] == 1 {
			order = append(order, l.author)
		}
	}
	for i, author := range order {
		order[i] = fmt.Sprintf("%s (%d)", author, count[author])
	}
	return strings.Join(order, ", ")
}

// maxExtracts is how many sentences are quoted.
const maxExtracts = 3

// extract returns the sentences that share most words with the question, best first; of
// equals the newer ones. The question itself is not among them.
func extract(p prompt) []line {
	asked := words(p.question)
	type hit struct {
		line
		score, at int
	}
	var hits []hit
	for i, l := range p.lines {
		if strings.TrimSpace(l.text) == p.question {
			continue
		}
		for _, row := range statements(l.text) {
			score := 0
			for w := range words(row) {
				if _, ok := asked[w]; ok {
					score++
				}
			}
			if score > 0 {
				hits = append(hits, hit{line{l.author, clip(row, 200)}, score, i})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.at, a.at))
	})
	var found []line
	for _, h := range hits {
		if len(found) < maxExtracts && !slices.Contains(found, h.line) {
			found = append(found, h.line)
		}
	}
	return found
}

// statements returns the rows of text that say something, without the row in which a demo
// agent says what it is. A row that ends with a colon is taken together with the next one.
func statements(text string) []string {
	var out []string
	for row := range strings.Lines(text) {
		row = strings.TrimSpace(row)
		switch last := len(out) - 1; {
		case row == "" || isSign(row):
		case last >= 0 && strings.HasSuffix(out[last], ":"):
			out[last] += " " + row
		default:
			out = append(out, row)
		}
	}
	return out
}

// words returns the words of text that carry meaning: four letters or more, in lower case,
// cut to their first five letters so that "build" meets "builds".
func words(text string) map[string]struct{} {
	all := make(map[string]struct{})
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if _, common := commonWords[w]; utf8.RuneCountInString(w) >= 4 && !common {
			runes := []rune(w)
			all[string(runes[:min(len(runes), 5)])] = struct{}{}
		}
	}
	return all
}

var commonWords = map[string]struct{}{
	"what": {}, "when": {}, "where": {}, "which": {}, "with": {}, "that": {}, "this": {}, "they": {}, "them": {},
	"have": {}, "does": {}, "from": {}, "here": {}, "there": {}, "about": {}, "will": {}, "your": {}, "should": {},
}

// first returns the first statement of text, clipped.
func first(text string) string {
	if all := statements(text); len(all) > 0 {
		return clip(all[0], 200)
	}
	return ""
}
