package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Clean returns text without what a terminal would obey: line breaks and tabs stay, every
// other control character (C0, DEL, C1), the controls of bidirectional text and the line
// separators become their visible form, as in <1B> and <202E>. Invalid UTF-8 becomes U+FFFD,
// because its bytes can be C1 controls.
func Clean(text string) string {
	if !dirty(text) {
		return text
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if isControl(r) {
			fmt.Fprintf(&b, "<%02X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func dirty(text string) bool {
	return !utf8.ValidString(text) || strings.IndexFunc(text, isControl) >= 0
}

func isControl(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r >= 0x61c && reorders(r)
}

// reorders reports whether r changes the order of what stands around it (Unicode's property
// Bidi_Control), or begins a new line where no line break is.
func reorders(r rune) bool {
	switch {
	case r == 0x61c, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// JSONLine returns v as one line of JSON, with its line break. What a terminal would obey
// is escaped, which does not change the value.
func JSONLine(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return []byte(cleanJSON(buf.String())), nil
}

// CleanWriter returns a writer that cleans text on its way to w, as [Clean] does; for JSON
// it escapes instead, which does not change the values. Text must end with a whole
// character.
func CleanWriter(w io.Writer, json bool) io.Writer {
	if json {
		return &cleaner{w: w, clean: cleanJSON}
	}
	return &cleaner{w: w, clean: Clean}
}

type cleaner struct {
	w     io.Writer
	clean func(string) string
	rest  []byte // the beginning of a character
}

func (c *cleaner) Write(data []byte) (int, error) {
	text := append(c.rest, data...)
	whole := len(text) - partial(text)
	c.rest = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(c.w, c.clean(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(data), nil
}

// partial returns how many bytes at the end of text only begin a character.
func partial(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// cleanJSON escapes the controls that JSON itself lets through raw: DEL, C1 and those of
// bidirectional text. They can stand only inside strings.
func cleanJSON(line string) string {
	if !strings.ContainsFunc(line, isControl) {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		if isControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
