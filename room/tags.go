package room

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/langrooms/langrooms/internal/names"
)

// envelopeTags are the tags that only we write to a model: what the words around the hyphen
// look like.
var envelopeTags = [][2]string{
	{names.Skeleton("room"), names.Skeleton("message")},
	{names.Skeleton("system"), names.Skeleton("notice")},
	instructionTag,
}

// instructionTag is the one of them that a member is sent too; see [Instructions].
var instructionTag = [2]string{names.Skeleton("room"), names.Skeleton("instructions")}

// NeutralizeTags makes every room-message, system-notice and room-instructions tag in text
// harmless, opening or closing, by writing its angle bracket as "&lt;" (spec 2.3): whatever its case, spacing,
// script or kind of hyphen, terminated or not, with or without characters that show nothing.
// Use it for any text that reaches a model beside envelopes without one of its own, such as
// a tool result.
func NeutralizeTags(text string) string { return neutralize(text, envelopeTags...) }

func neutralize(text string, tags ...[2]string) string {
	var b strings.Builder
	done := 0
	for i, r := range text {
		if !isAngle(r) {
			continue
		}
		inside := text[i+utf8.RuneLen(r):]
		for _, words := range tags {
			if startsTag(inside, words) {
				b.WriteString(text[done:i] + "&lt;")
				done = len(text) - len(inside)
				break
			}
		}
	}
	return b.String() + text[done:]
}

// startsTag reports whether the text behind an angle bracket is a tag of these words.
func startsTag(text string, words [2]string) bool {
	text, _ = skip(text, isGap)
	text, ok := cutLetters(text, words[0])
	if !ok {
		return false
	}
	text, between := skip(text, func(r rune) bool { return isGap(r) || isHyphen(r) })
	if strings.IndexFunc(between, isHyphen) < 0 {
		return false
	}
	_, ok = cutLetters(text, words[1])
	return ok
}

// cutLetters takes the letters of word off the front of text, as a generous reader sees
// them.
func cutLetters(text, word string) (rest string, ok bool) {
	for word != "" {
		r, width := utf8.DecodeRuneInString(text)
		switch {
		case width == 0:
			return "", false
		case isMark(r): // shows nothing, or on a letter only
			text = text[width:]
			continue
		}
		seen := letter(r)
		if seen == "" || !strings.HasPrefix(word, seen) {
			return "", false
		}
		text, word = text[width:], word[len(seen):]
	}
	return text, true
}

// letter is what r looks like.
func letter(r rune) string {
	if r < utf8.RuneSelf { // nearly all of them
		return string(names.Plain(unicode.ToLower(r)))
	}
	return names.Skeleton(string(r))
}

func skip(text string, what func(rune) bool) (rest, skipped string) {
	rest = strings.TrimLeftFunc(text, what)
	return rest, text[:len(text)-len(rest)]
}

// isAngle accepts what can be read as the bracket that opens a tag.
func isAngle(r rune) bool {
	if r < utf8.RuneSelf { // nearly all of them
		return r == '<'
	}
	return strings.ContainsRune("<＜﹤‹˂ᐸ❮❰〈〈⟨❬⧼𝈶≮", r)
}

// isGap accepts what can stand between the pieces of a tag.
func isGap(r rune) bool {
	return r == '/' || r == '⁄' || r == '∕' || r == '／' || unicode.IsSpace(r) || unicode.In(r, unicode.Z, unicode.Cc) || isMark(r)
}

func isMark(r rune) bool { return names.Ignorable(r) || unicode.Is(unicode.M, r) }

// isHyphen accepts every kind of hyphen, dash and minus, the underscore, and the hyphen that
// shows only where a line breaks.
func isHyphen(r rune) bool {
	if unicode.Is(unicode.Pd, r) || strings.ContainsRune("_\u00ad−⁃˗➖─━ー＿‿", r) {
		return true
	}
	c, _ := utf8.DecodeRuneInString(names.Key(string(r)))
	return c == '-' || c == '−' || c == '_'
}
