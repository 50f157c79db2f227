package openaiagent

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// text collects the insides of JSON strings as they were sent and decodes them joined:
// an endpoint may cut its pieces inside a character, in the bytes of UTF-8 or between the
// two \u escapes of a surrogate pair, and each half alone would decode to nothing.
type text struct {
	raw []byte
	// told is how much of raw has been handed out by fresh.
	told int
}

// add takes the next piece: a JSON string, null, nothing, or an array of text parts.
func (t *text) add(piece json.RawMessage) error {
	switch {
	case len(piece) == 0 || string(piece) == "null":
		return nil
	case piece[0] == '"':
		t.raw = append(t.raw, piece[1:len(piece)-1]...)
		if len(t.raw) > maxBody {
			return errTooLong
		}
		return nil
	case piece[0] != '[':
		return fmt.Errorf("%w: its content is neither text nor parts", errUnreadable)
	}
	var parts []struct {
		Text json.RawMessage `json:"text"`
	}
	if err := json.Unmarshal(piece, &parts); err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	for _, part := range parts {
		if len(part.Text) == 0 || part.Text[0] != '"' {
			continue
		}
		if err := t.add(part.Text); err != nil {
			return err
		}
	}
	return nil
}

// whole decodes everything. Bytes that are no UTF-8 become U+FFFD.
func (t *text) whole() (string, error) {
	whole, err := decode(t.raw)
	if len(whole) > MaxReply {
		return "", errTooLong
	}
	return whole, err
}

// fresh returns what came since the last call, up to the last whole character.
func (t *text) fresh() string {
	end := len(t.raw) - openEnd(t.raw[t.told:])
	piece, err := decode(t.raw[t.told:end])
	if err != nil {
		return "" // whole reports it
	}
	t.told = end
	return piece
}

// remainder returns what fresh held back.
func (t *text) remainder() string {
	piece, err := decode(t.raw[t.told:])
	if err != nil {
		return ""
	}
	t.told = len(t.raw)
	return piece
}

func decode(raw []byte) (string, error) {
	var decoded string
	quoted := append(append([]byte{'"'}, raw...), '"')
	if err := json.Unmarshal(quoted, &decoded); err != nil {
		return "", fmt.Errorf("%w: %w", errUnreadable, err)
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
