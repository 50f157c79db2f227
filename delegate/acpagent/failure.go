package acpagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms/delegate"
)

// codeAuthRequired is ACP's JSON-RPC error code for a missing authentication.
const codeAuthRequired = -32000

// Why a turn ends that is not a failure of the agent's.
var (
	errClosed    = errors.New("the delegate is closed")
	errCancelled = errors.New("the agent cancelled the turn")
)

// timeout says that a bound of this package ran out; key is that of the configuration which
// sets it, if there is one.
type timeout struct {
	after time.Duration
	key   string
}

func (t *timeout) Error() string {
	text := fmt.Sprintf("no answer within %v", t.after)
	if t.key != "" {
		text += " (" + t.key + ")"
	}
	return text
}

// unstarted says that the process could not be started, and by which key of the
// configuration. It hides what it wraps from [delegate.Cause], which would leave the key out.
type unstarted struct {
	key string
	err error
}

func (u *unstarted) Error() string        { return u.key + ": " + delegate.Cause(u.err) }
func (u *unstarted) Is(target error) bool { return errors.Is(u.err, target) }

// failure describes what went wrong, for the error that an Ask or a Probe returns.
type failure struct {
	err      error
	step     string   // what was not answered: a method, or in words
	accepted bool     // the prompt had been sent
	process  *process // nil when none was started
	offers   string   // the agent's authentication methods
}

// failed makes the error of f (spec: rooms, section 6). It waits for the end of a process
// whose connection was lost.
func (a *Agent) failed(f failure) *delegate.Error {
	kind, err := f.sort()
	if f.process != nil {
		err = f.process.redact.Error(err)
	}
	return &delegate.Error{Delegate: a.config.Name, Kind: kind, Err: err, Accepted: f.accepted && kind != delegate.KindRefused}
}

// sort finds the kind of a failure and its words.
func (f failure) sort() (delegate.Kind, error) {
	var refused *acp.RequestError
	var late *timeout
	switch {
	case errors.As(f.err, &late) && f.accepted:
		return delegate.KindTimeout, fmt.Errorf("%w; the turn was cancelled", late)
	case errors.As(f.err, &late):
		return delegate.KindUnreachable, f.withTail(fmt.Errorf("%s: %w", f.step, late))
	case errors.Is(f.err, errClosed) && f.accepted:
		return delegate.KindCanceled, errClosed
	case errors.Is(f.err, errClosed):
		return delegate.KindUnreachable, errClosed
	case errors.Is(f.err, context.DeadlineExceeded) && f.accepted:
		return delegate.KindTimeout, errors.New("no answer in time; the turn was cancelled")
	case errors.Is(f.err, context.DeadlineExceeded):
		return delegate.KindUnreachable, f.withTail(fmt.Errorf("%s: no answer in time", f.step))
	case errors.Is(f.err, context.Canceled):
		return delegate.KindCanceled, fmt.Errorf("stopped: %w", f.err)
	case errors.Is(f.err, errCancelled):
		return delegate.KindCanceled, errCancelled
	case errors.Is(f.err, errConfig):
		return delegate.KindRefused, f.err
	case errors.As(f.err, &refused):
		return f.refusal(refused)
	case errors.Is(f.err, errVersion):
		return delegate.KindRefused, f.err
	case errors.Is(f.err, errUnreadable):
		return delegate.KindProtocol, f.err
	case errors.Is(f.err, errLost):
		return f.lost()
	default: // the process could not be started
		return delegate.KindUnreachable, f.err
	}
}

// refusal is an error that the agent has answered with.
func (f failure) refusal(e *acp.RequestError) (delegate.Kind, error) {
	text := fmt.Sprintf("%s: %s (code %d)", f.step, e.Message, e.Code)
	switch data := e.Data.(type) {
	case nil:
	case string:
		text += ": " + data
	default:
		text += ": " + compact(data)
	}
	if e.Code == codeAuthRequired {
		text += "; auth_method can be one that the agent offers: " + f.offers
		return delegate.KindRefused, errors.New(text)
	}
	return delegate.KindFailed, errors.New(text)
}

// compact writes decoded JSON back without the escapes that would hide a secret.
func compact(data any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil { // it came as JSON: cannot happen
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// lost is a connection that has ended without an answer.
func (f failure) lost() (delegate.Kind, error) {
	err := f.process.epitaph()
	switch {
	case errors.Is(err, errLineTooLong):
		return delegate.KindProtocol, err
	case f.accepted:
		return delegate.KindFailed, err
	default:
		return delegate.KindUnreachable, fmt.Errorf("%s: %w", f.step, err)
	}
}

func (f failure) withTail(err error) error {
	if f.process == nil {
		return err
	}
	return f.process.withTail(err)
}
