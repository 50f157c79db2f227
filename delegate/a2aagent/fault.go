package a2aagent

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/internal/httpx"
)

// The JSON-RPC error codes that mean something here (A2A 1.0, section 5.4).
const (
	codeMethodNotFound      = -32601
	codeInvalidRequest      = -32600 // python's SDK 0.2 says so of a method that it does not know
	codeInvalidParams       = -32602
	codeInternal            = -32603
	codeTaskNotFound        = -32001
	codeVersionNotSupported = -32009
)

// errMethodNotFound matches what a peer says of a method that it does not know.
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
		return e.Code == codeMethodNotFound || e.Code == codeInvalidRequest
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
	cause := &statusCause{status: status, words: words}
	if rpc != nil {
		cause.rpc = rpc
	}
	kind := delegate.KindRefused
	switch {
	case status >= 500 && rpc != nil:
		kind = delegate.KindFailed
	case status >= 500:
		kind = delegate.KindUnreachable
	}
	e := s.fail(kind, cause)
	e.Status = status
	switch {
	case rpc == nil && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed):
		e.Err = fmt.Errorf("%w (no agent is there; see url, card_url and binding)", cause)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		s.tokens.forget(s.token)
		hint := "no credential is configured for it; set auth.scheme and auth.credentialsEnv"
		if s.token != "" {
			hint = "it does not accept the configured credential; see auth.scheme, auth.token and auth.credentialsEnv"
		}
		e.Err = fmt.Errorf("%w (%s)", cause, hint)
	}
	return e
}

// statusCause is an HTTP status that is no success, and what the peer says beside it.
type statusCause struct {
	status int
	rpc    *rpcError
	words  string
}

// Error returns status and words.
func (c *statusCause) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("HTTP %d %s", c.status, http.StatusText(c.status)))
	switch {
	case c.rpc != nil:
		return text + ": " + c.rpc.Error()
	case c.words != "":
		return text + ": " + c.words
	}
	return text
}

// Unwrap returns the agent's own error, if it came with one.
func (c *statusCause) Unwrap() error {
	if c.rpc == nil {
		return nil
	}
	return c.rpc
}

// forgotten reports whether err may be the refusal of a context that the peer does not know
// any more, in one of the forms that peers give it.
func forgotten(err error) bool {
	var rpc *rpcError
	if errors.As(err, &rpc) {
		switch rpc.Code {
		case codeInvalidParams, codeTaskNotFound, codeInternal:
			return true
		}
	}
	var status *statusCause
	if errors.As(err, &status) {
		switch status.status {
		case http.StatusBadRequest, http.StatusNotFound, http.StatusGone:
			return true
		}
	}
	return false
}

// noAnswer reports whether nothing answered at all.
func noAnswer(err error) bool {
	var e *delegate.Error
	var answered *statusCause
	return errors.As(err, &e) && e.Kind == delegate.KindUnreachable && !errors.As(err, &answered)
}

// transportError returns the error of a request that brought no answer. rec may be nil.
func (s *session) transportError(ctx context.Context, rec *recording, err error) *delegate.Error {
	var elsewhere *elsewhereError
	if errors.As(err, &elsewhere) {
		return s.fail(delegate.KindRefused, elsewhere)
	}
	var option *httpx.OptionError
	if errors.As(err, &option) {
		return s.fail(delegate.KindRefused, option)
	}
	wrote := rec != nil && rec.wrote.Load()
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the URL, whose query may be secret
	}
	kind := delegate.KindUnreachable
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ended the connection without an answer")
	}
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &unknown) {
		err = fmt.Errorf("%w; name its authority in ca_file", err)
	}
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
