package acpagent

import (
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// pieces puts together a text that an agent sends in chunks, each a JSON string. Agents
// cut where their own language lets them: between the two halves of a surrogate pair
// (JavaScript), or between the bytes of one character. Decoding each chunk for itself
// would turn both halves into replacement characters, so the end of a chunk that is half
// a character waits, undecoded, for the next one.
type pieces struct {
	held []byte // the inside of a JSON string
}

var errNoString = errors.New("the text is no string")

// next takes the JSON string of one chunk and returns the text that is complete by now,
// valid UTF-8.
func (p *pieces) next(literal json.RawMessage) (string, error) {
	if len(literal) < 2 || literal[0] != '"' {
		return "", errNoString
	}
	inside := append(p.held, literal[1:len(literal)-1]...)
	cut := len(inside) - halfCharacter(inside)
	p.held = append([]byte(nil), inside[cut:]...)
	return unquote(inside[:cut])
}

// rest returns what was held back, at the end of the text.
func (p *pieces) rest() string {
	text, _ := unquote(p.held) // next has cut it out of a valid string
	p.held = nil
	return text
}

func unquote(inside []byte) (string, error) {
	if len(inside) == 0 {
		return "", nil
	}
	literal := append(append([]byte{'"'}, inside...), '"')
	var text string
	err := json.Unmarshal(literal, &text)
	return text, err
}

// halfCharacter is the length of the half character at the end of the inside of a JSON
// string: a first surrogate as an escape, or the first bytes of a longer UTF-8 sequence.
func halfCharacter(inside []byte) int {
	const escape = len(`\ud800`)
	if n := len(inside); n >= escape && inside[n-escape] == '\\' && isFirstSurrogate(inside[n-escape+1:]) {
		slashes := 0
		for i := n - escape; i >= 0 && inside[i] == '\\'; i-- {
			slashes++
		}
		if slashes%2 == 1 {
			return escape
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(inside); n++ {
		end := inside[len(inside)-n:]
		if utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				return n
			}
			return 0
		}
	}
	return 0
}

// isFirstSurrogate reports whether code is "ud800" to "udbff".
func isFirstSurrogate(code []byte) bool {
	if code[0] != 'u' || code[1]|0x20 != 'd' {
		return false
	}
	switch code[2] | 0x20 {
	case '8', '9', 'a', 'b':
		return true
	}
	return false
}
