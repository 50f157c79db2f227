package room

import (
	"strings"
	"unicode"

	"github.com/langrooms/langrooms/internal/names"
)

// passWord is the reply that the offer to pass asks for.
const passWord = "pass"

// Silent reports whether a reply in a multi-round run says nothing (spec 4.5): it is
// empty, or the word pass in any case with nothing around it but decoration. Any other
// word makes it an answer, and so does decoration alone. In a run of one round nothing
// is silent; see [Run.MultiRound].
func Silent(reply string) bool {
	return strings.TrimFunc(reply, isInvisible) == "" || saysPass(reply)
}

// saysPass reports whether a reply is the word and decoration.
func saysPass(reply string) bool {
	words := strings.TrimFunc(reply, isDecoration)
	words = strings.TrimLeftFunc(cutListNumber(words), isDecoration)
	return strings.EqualFold(words, passWord)
}

// holdsPass reports whether the word stands in a message, in any case.
func holdsPass(message string) bool {
	for word := range strings.FieldsFuncSeq(message, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '_'
	}) {
		if strings.EqualFold(word, passWord) {
			return true
		}
	}
	return false
}

// cutListNumber drops the marker of a numbered list, such as "1." or "2)".
func cutListNumber(words string) string {
	rest := strings.TrimLeft(words, "0123456789")
	if digits := len(words) - len(rest); digits == 0 || digits > 3 {
		return words
	}
	if after, ok := strings.CutPrefix(rest, "."); ok {
		return after
	}
	if after, ok := strings.CutPrefix(rest, ")"); ok {
		return after
	}
	return words
}

// isInvisible accepts white space and the characters that show nothing.
func isInvisible(r rune) bool { return unicode.IsSpace(r) || names.Ignorable(r) }

// decoration lists the marks around a word that Unicode files under symbols: emphasis,
// back-quotes, accents and modifiers used as quotes, angle brackets and quote markers,
// bullets, minus.
const decoration = "`´ʼʻ~～<>＜＞|│+−˗◦▪▫●○■□►▸➢➤"

// notDecoration lists the punctuation that carries a meaning of its own.
const notDecoration = "@#%&/\\＠＃％＆／＼"

// isDecoration accepts what may stand around a pass without making it an answer.
func isDecoration(r rune) bool {
	if isInvisible(r) || strings.ContainsRune(decoration, r) {
		return true
	}
	return unicode.IsPunct(r) && !strings.ContainsRune(notDecoration, r)
}
