package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minLength is the shortest secret that is looked for, in characters.
	minLength = 12
	// minBits is the least that one who knows words would have to guess.
	minBits = 36
	// maxWord is the longest run of letters that may be a word, and wordBits the most that
	// a word counts.
	maxWord, wordBits = 20, 16
)

// isSecret reports whether a value that is configured as a secret is looked for in text: it
// has at least 12 characters and is no ordinary word, nor a few of them ("authentication",
// "sk-no-key-required").
func isSecret(value string) bool {
	return utf8.RuneCountInString(value) >= minLength && bits(value) >= minBits
}

const separators = " -_.:/@"

// bits estimates how hard value is to guess: a separator counts 1, and what stands between
// them as [part] says.
func bits(value string) int {
	total := 0
	for piece := range strings.FieldsFuncSeq(value, isSeparator) {
		total += part([]rune(piece))
		total++
	}
	return max(0, total-1)
}

func isSeparator(r rune) bool { return strings.ContainsRune(separators, r) }

// part counts what a guesser has to guess of a piece without separators: a letter of a word
// 2 bits, another letter 4, a digit 3, any other character 4, and a repeated one nothing. A
// run of one or two letters is a word only where it is the whole piece.
func part(piece []rune) int {
	total := 0
	for i := 0; i < len(piece); {
		n := letters(piece[i:])
		switch {
		case n == 0:
			if i == 0 || piece[i] != piece[i-1] {
				total += 3
				if !unicode.IsDigit(piece[i]) {
					total++
				}
			}
			n = 1
		case n > maxWord, n <= 2 && n < len(piece), n == 1:
			total += 4 * distinct(piece[i:i+n])
		default:
			total += min(2*distinct(piece[i:i+n]), wordBits)
		}
		i += n
	}
	return total
}

// letters is the length of the run of letters at the start of piece that may be one word:
// it ends where the case changes as it does not within a word.
func letters(piece []rune) int {
	for i, r := range piece {
		switch {
		case !unicode.IsLetter(r):
			return i
		case i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(piece[i-1]):
			return i
		case i > 1 && !unicode.IsUpper(r) && unicode.IsUpper(piece[i-1]):
			return i
		}
	}
	return len(piece)
}

// distinct counts the characters of a run that do not repeat the one before.
func distinct(run []rune) int { return len(slices.Compact(slices.Clone(run))) }

// NamesSecret reports whether a variable of this name holds a secret: one of the words of
// its name, which underscores part, is or ends in one for a secret, as in OPENAI_API_KEY
// or GITHUB_TOKEN, and unlike KEYCLOAK_REALM.
func NamesSecret(name string) bool {
	for _, word := range strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if word == "PASS" || word == "PAT" {
			return true
		}
		for _, end := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "COOKIE"} {
			if strings.HasSuffix(strings.TrimSuffix(word, "S"), end) {
				return true
			}
		}
	}
	return false
}
