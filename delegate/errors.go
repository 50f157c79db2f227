package delegate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
)

// Kind says what kind of failure an [Error] is.
type Kind = langrooms.ErrorKind

// The kinds that a delegate reports.
const (
	KindUnreachable  = langrooms.ErrorUnreachable
	KindTimeout      = langrooms.ErrorTimeout
	KindStillRunning = langrooms.ErrorStillRunning
	KindRefused      = langrooms.ErrorRefused
	KindFailed       = langrooms.ErrorFailed
	KindProtocol     = langrooms.ErrorProtocol
	KindCanceled     = langrooms.ErrorCanceled
)

// Error is a failed dispatch: who failed, in which way, and why, in words for people. It is
// read with [errors.As].
type Error struct {
	// Delegate is the roster's name of it.
	Delegate string
	Kind     Kind
	// Err is the cause, in words that may be shown: no secret, no control characters.
	Err error
	// Task is the peer's id of work that may still be going on; empty when there is
	// none.
	Task string
	// Accepted says that the peer had accepted the message before it failed.
	Accepted bool
	// Status is the HTTP status of a peer's refusal; 0 where there was none. Go code asks
	// for the two that it can do something about with errors.Is ([ErrCredential],
	// [ErrBusy]).
	Status int
	// RetryAfter is how long the peer asks to be left alone; 0 where it does not say.
	RetryAfter time.Duration
}

// What an [*Error] of kind [KindRefused] or [KindUnreachable] can be beside its kind, by its
// Status (RFC 9110, 15.5.2, 15.5.4 and 15.6.4; RFC 6585, 4).
var (
	// ErrCredential: the peer wants a credential, or another one (401, 403).
	ErrCredential = errors.New("the peer does not accept the credential")
	// ErrBusy: the peer would take the message later (429, or 503 that says when).
	ErrBusy = errors.New("the peer takes no more for now")
)

// Is reports whether the status of e is that of [ErrCredential] or [ErrBusy].
func (e *Error) Is(target error) bool {
	switch target {
	case ErrCredential:
		return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
	case ErrBusy:
		return e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable && e.RetryAfter > 0
	}
	return false
}

// Error returns the delegate's name and the cause, as the operator is told it.
func (e *Error) Error() string {
	return fmt.Sprintf("Delegate @%s failed: %s", e.Delegate, e.Cause())
}

// Cause returns the failure without the delegate's name.
func (e *Error) Cause() string { return Cause(e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Working reports whether the peer may still be working on Task: its answer can be waited
// for. That is so when patience with it ended, and when touch with it was lost.
func (e *Error) Working() bool { return e.Task != "" && e.Kind != KindCanceled }

// AsError returns err as an *Error of the named delegate. An error that is none
// becomes one of kind KindCanceled or KindTimeout when it is a context's end, else KindFailed.
func AsError(name string, err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	kind := KindFailed
	switch {
	case errors.Is(err, context.Canceled):
		kind = KindCanceled
	case errors.Is(err, context.DeadlineExceeded):
		kind = KindTimeout
	}
	return &Error{Delegate: name, Kind: kind, Err: err}
}

// DecodeCause returns err, of decoding a peer's JSON, without the names of our own types.
func DecodeCause(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return err
	case wrong.Field == "":
		return fmt.Errorf("a JSON %s is out of place", wrong.Value)
	default:
		return fmt.Errorf("a JSON %s is out of place in its field %q", wrong.Value, wrong.Field)
	}
}

// MaxCause is the longest cause in code points.
const MaxCause = 2000

// Cause puts err into one line of at most [MaxCause] code points for people. Failures of
// the network and of starting a process are said by their innermost words ("connection
// refused", "no such host", "executable file not found in $PATH"): the dial address would only hide them.
func Cause(err error) string {
	if err == nil {
		return ""
	}
	var dns *net.DNSError
	var errno syscall.Errno
	var execErr *exec.Error
	var pathErr *os.PathError
	text := err.Error()
	switch {
	case errors.As(err, &dns):
		text = fmt.Sprintf("%s: %s", dns.Name, dns.Err)
	case errors.As(err, &execErr):
		text = fmt.Sprintf("%s: %v", execErr.Name, execErr.Err)
	case errors.As(err, &pathErr):
		text = fmt.Sprintf("%s: %v", pathErr.Path, pathErr.Err)
	case errors.As(err, &errno):
		text = errno.Error()
	}
	return OneLine(text, MaxCause)
}

// OneLine makes text valid UTF-8, turns every run of white space and control characters into one
// space and clips it to limit code points.
func OneLine(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r >= 0x80 && r <= 0xa0 || r == 0x2028 || r == 0x2029
	}), " ")
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit]) + "…"
}
