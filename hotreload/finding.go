package hotreload

import (
	"errors"
	"fmt"
	"strings"
)

// Severity says how bad a [Finding] is.
type Severity int

const (
	// Warning: the file was understood and something in it is odd.
	Warning Severity = iota
	// Error: a value or an entry was not taken.
	Error
)

// String returns "warning" or "error".
func (s Severity) String() string {
	if s == Error {
		return "error"
	}
	return "warning"
}

// MarshalText returns the same as String.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one remark about a configuration file. It never quotes a secret.
type Finding struct {
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	// Line and Column are 1-based; the column counts code points.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Key is the dotted key, with an entry's name in place of its index.
	Key     string `json:"key"`
	Message string `json:"message"`
}

// String returns "file:line:col: error: message".
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", f.File, f.Line, f.Column, f.Severity, f.Message)
}

// HasErrors reports whether any finding is an [Error].
func HasErrors(findings []Finding) bool {
	for _, f := range findings {
		if f.Severity == Error {
			return true
		}
	}
	return false
}

// ErrUnusable is wrapped by every error that says why no configuration can be taken from
// a file's bytes.
var ErrUnusable = errors.New("no usable configuration")

// SyntaxError is the error of [Parse]: where the file stops being a configuration. It
// wraps [ErrUnusable].
type SyntaxError struct {
	File string
	// Line and Column are 1-based; Column is 0 where only the line is known.
	Line, Column int
	Message      string
}

// Error returns "file:line:col: message".
func (e *SyntaxError) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Unwrap returns [ErrUnusable].
func (e *SyntaxError) Unwrap() error { return ErrUnusable }

// shown returns a short, single-line form of text from a file for a message.
func shown(text string) string {
	const limit = 60
	if r := []rune(text); len(r) > limit {
		text = string(r[:limit]) + "…"
	}
	return strings.Trim(fmt.Sprintf("%q", text), `"`)
}
