package completion

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/langrooms/langrooms/delegate"
)

// text puts together JSON strings that are the pieces of one text. An endpoint may cut its
// pieces inside a character, in the bytes of UTF-8 or between the two \u escapes of a
// surrogate pair, and each half alone would decode to nothing; so an open end waits for
// the next piece.
type text struct {
	// open is the inside of a JSON string that has not been decoded yet.
	open []byte
	// whole is what has been decoded.
	whole strings.Builder
}

// add takes the next piece, a JSON string, null, nothing, or an array of text parts, and
// returns what it adds to the text. Bytes that are no UTF-8 become U+FFFD.
func (t *text) add(piece json.RawMessage) (fresh string, err error) {
	switch {
	case len(piece) == 0 || string(piece) == "null":
		return "", nil
	case piece[0] == '"':
		t.open = append(t.open, piece[1:len(piece)-1]...)
		return t.decode(len(t.open) - openEnd(t.open))
	case piece[0] != '[':
		return "", fmt.Errorf("%w: its content is neither text nor parts", errUnreadable)
	}
	var parts []struct {
		Text json.RawMessage `json:"text"`
	}
	if err := json.Unmarshal(piece, &parts); err != nil {
		return "", fmt.Errorf("%w: %w", errUnreadable, delegate.DecodeCause(err))
	}
	for _, part := range parts {
		if len(part.Text) == 0 || part.Text[0] != '"' {
			continue
		}
		more, err := t.add(part.Text)
		if err != nil {
			return "", err
		}
		fresh += more
	}
	return fresh, nil
}

// rest ends the text: no more pieces come, so what is open is decoded as it is.
func (t *text) rest() (fresh string, err error) { return t.decode(len(t.open)) }

// decode moves the first n bytes of what is open into the whole.
func (t *text) decode(n int) (string, error) {
	var decoded string
	quoted := append(append([]byte{'"'}, t.open[:n]...), '"')
	if err := json.Unmarshal(quoted, &decoded); err != nil {
		return "", fmt.Errorf("%w: %w", errUnreadable, delegate.DecodeCause(err))
	}
	t.open = append(t.open[:0], t.open[n:]...)
	t.whole.WriteString(decoded)
	if t.whole.Len() > MaxReply {
		return "", ErrTooLong
	}
	return decoded, nil
}

// openEnd returns how many bytes at the end of raw may be the first half of a character.
func openEnd(raw []byte) int {
	if n := len(raw); n >= 6 && raw[n-6] == '\\' && raw[n-5] == 'u' && !escaped(raw[:n-6]) {
		unit, err := strconv.ParseUint(string(raw[n-4:]), 16, 16)
		if err == nil && unit >= 0xd800 && unit < 0xdc00 {
			return 6
		}
		return 0
	}
	for n := 1; n < utf8.UTFMax && n <= len(raw); n++ {
		tail := raw[len(raw)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// escaped reports whether the character after raw is escaped by a backslash in it.
func escaped(raw []byte) bool {
	n := 0
	for n < len(raw) && raw[len(raw)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
