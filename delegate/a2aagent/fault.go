package a2aagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/langrooms/langrooms/delegate"
)

// The JSON-RPC error codes that mean something here (A2A 1.0, section 5.4).
const (
	codeMethodNotFound      = -32601
	codeTaskNotFound        = -32001
	codeVersionNotSupported = -32009
)

// errMethodNotFound matches a JSON-RPC error of that code.
var errMethodNotFound = errors.New("method not found")

// rpcError is an error that the peer's agent itself reports: JSON-RPC's error object, or
// google.rpc.Status in the HTTP+JSON binding.
type rpcError struct {
	Code    int
	Status  string // HTTP+JSON only
	Message string
	Data    json.RawMessage
	Details json.RawMessage // HTTP+JSON only
}

// Error returns message, code and data.
func (e *rpcError) Error() string {
	text := e.Message
	if text == "" {
		text = "(no message)"
	}
	switch {
	case e.Status != "":
		text += " (" + e.Status + ")"
	case e.Code != 0:
		text += fmt.Sprintf(" (JSON-RPC %d)", e.Code)
	}
	switch detail := strings.TrimSpace(string(e.Data)); detail {
	case "", "null", `""`, "{}", "[]":
	default:
		var plain string
		if json.Unmarshal(e.Data, &plain) == nil {
			detail = plain
		}
		text += ": " + detail
	}
	return delegate.OneLine(text, delegate.MaxCause)
}

// Is tells the two errors that change what is done.
func (e *rpcError) Is(target error) bool {
	switch target {
	case delegate.ErrUnknownTask:
		return e.Code == codeTaskNotFound || strings.Contains(string(e.Details), `"TASK_NOT_FOUND"`)
	case errMethodNotFound:
		return e.Code == codeMethodNotFound
	}
	return false
}

// rpcFault returns the error of a call that the agent itself refused or failed.
func (s *session) rpcFault(e *rpcError) *delegate.Error {
	if e.Code == codeVersionNotSupported {
		return s.fail(delegate.KindRefused, fmt.Errorf("it does not speak this version of A2A: %w", e))
	}
	return s.fail(delegate.KindFailed, e)
}

// statusError returns the error of an HTTP status that is no success. In words it has what
// the peer says about it.
func (s *session) statusError(status int, rpc *rpcError, words string) *delegate.Error {
	text := fmt.Sprintf("HTTP %d %s", status, http.StatusText(status))
	var cause error
	switch {
	case rpc != nil:
		cause = fmt.Errorf("%s: %w", strings.TrimSpace(text), rpc)
	case words != "":
		cause = fmt.Errorf("%s: %s", strings.TrimSpace(text), words)
	default:
		cause = errors.New(strings.TrimSpace(text))
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		hint := "no credential is configured for it; set auth.scheme and auth.token"
		if s.token != "" {
			hint = "it does not accept the configured credential"
		}
		return s.fail(delegate.KindRefused, fmt.Errorf("%w (%s)", cause, hint))
	case status >= 500 && rpc != nil:
		return s.fail(delegate.KindFailed, cause)
	case status >= 500:
		return s.fail(delegate.KindUnreachable, cause)
	default:
		return s.fail(delegate.KindRefused, cause)
	}
}

// transportError returns the error of a request that brought no answer. rec may be nil.
func (s *session) transportError(ctx context.Context, rec *recording, err error) *delegate.Error {
	var elsewhere *elsewhereError
	if errors.As(err, &elsewhere) {
		return s.fail(delegate.KindRefused, elsewhere)
	}
	wrote := rec != nil && rec.wrote.Load()
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the URL, whose query may be secret
	}
	kind := delegate.KindUnreachable
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer came: %w", context.Cause(ctx))
		if wrote {
			kind = delegate.KindTimeout
		}
	}
	e := s.fail(kind, err)
	e.Accepted = wrote
	return e
}
