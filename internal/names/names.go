// Package names is the one place that knows when two texts are the same to a reader: names
// that Unicode writes in several ways, letters that look like others, characters that show
// nothing. Its functions are pure.
package names

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/langrooms/langrooms"
)

// Ignorable reports whether r shows nothing wherever it stands: what Unicode calls default
// ignorable (formats, joiners, variation selectors, fillers), controls that are no white
// space, and the blank of Braille.
func Ignorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		unicode.IsControl(r) && !unicode.IsSpace(r) || r == '\u2800'
}

// fold maps texts that are equal under Unicode full case folding to one text.
func fold(s string) string { return cases.Fold().String(s) }

// Key maps all spellings of one name to one text: composed or not, in full or half width, in
// any case, with or without characters that show nothing.
func Key(name string) string {
	return norm.NFKC.String(fold(cased(name)))
}

// Twins reports whether a and b are one name in two spellings. Names that differ in case
// alone are none: an address may spell them exactly (spec: rooms, 1.2).
func Twins(a, b string) bool {
	return a != b && Key(a) == Key(b) && (fold(a) != fold(b) || cased(a) == cased(b))
}

// cased is Key without the folding.
func cased(name string) string { return norm.NFKC.String(drop(name, Ignorable)) }

// CheckName is [langrooms.CheckName] and refuses, too, what only looks like the name of one
// of the room's own voices.
func CheckName(name string) error {
	if err := langrooms.CheckName(name); err != nil {
		return err
	}
	seen := Skeleton(name)
	for _, reserved := range langrooms.ReservedNames() {
		if seen == Skeleton(reserved) {
			return fmt.Errorf("%q looks like %q, which is reserved for the room's own voices", name, reserved)
		}
	}
	return nil
}

// Skeleton maps texts that look alike to one text, which is not for showing: letters of
// other scripts to the Latin ones that they resemble, without accents. It knows the
// resemblances to plain Latin letters and digits only.
func Skeleton(s string) string {
	s = drop(norm.NFD.String(Key(s)), func(r rune) bool { return unicode.Is(unicode.M, r) })
	return strings.ReplaceAll(strings.Map(Plain, s), "rn", "m")
}

// Plain returns the lower-case Latin letter that r, a folded character, looks like, or r.
func Plain(r rune) rune {
	if latin, ok := plain[r]; ok {
		return latin
	}
	return r
}

// plain holds, folded, what looks like a Latin letter. The letters i and l and the digit 1
// are one.
var plain = table(map[rune]string{
	'a': "аαɑᴀꭺ", 'b': "ьᏼᖯ", 'c': "сϲᴄⅽᏟꮯ", 'd': "ԁꓒᏧⅾ", 'e': "еҽєεᴇꭼ℮", 'f': "ғϝꞙꓝ", 'g': "ɡցԍɢ",
	'h': "һհнʜ", 'j': "јϳյ", 'k': "кκᴋ", 'l': "1iіıιɩӏᎥꭵאוןլ|ǀlɪ", 'm': "мᴍⅿ", 'n': "ոռпηɴ",
	'o': "0оοօσᴏသօഠ০०๐໐", 'p': "рρᴘ", 'q': "ԛգ", 'r': "гᴦʀꮁ", 's': "ѕꜱꮪ", 't': "тτᴛ",
	'u': "υսцᴜʋ", 'v': "ѵνᴠⅴ", 'w': "ѡԝաᴡ", 'x': "хχⅹ", 'y': "уγүʏყ", 'z': "ᴢ",
})

func table(alike map[rune]string) map[rune]rune {
	t := make(map[rune]rune)
	for latin, others := range alike {
		for _, r := range others {
			t[r] = latin
		}
	}
	return t
}

func drop(s string, what func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if what(r) {
			return -1
		}
		return r
	}, s)
}
