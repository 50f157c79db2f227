package openaiagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/internal/httpx"
)

// statusError is an answer that is not a success.
type statusError struct {
	status int
	// message is the peer's own short message, param the request's field it objects to
	// (OpenAI API reference, "Error object"); either may be empty.
	message string
	param   string
}

func (e *statusError) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("HTTP %d %s", e.status, http.StatusText(e.status)))
	if e.message == "" {
		return text
	}
	return text + ": " + e.message
}

const (
	// maxErrorBody bounds what is read of a failure's body, maxPeerMessage what is
	// told of it, in code points.
	maxErrorBody   = 64 << 10
	maxPeerMessage = 500
)

// status returns the failure that an answer outside 2xx is: 5xx means that nothing was
// accepted, everything else that the endpoint would not.
func (c *call) status(resp *http.Response) *delegate.Error {
	e := &statusError{status: resp.StatusCode}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what came before a break is enough
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		e.message = string(body)
	}
	var object struct {
		Error, Message, Detail json.RawMessage
	}
	if json.Unmarshal(unlisted(body), &object) == nil {
		for _, raw := range []json.RawMessage{object.Error, object.Message, object.Detail} {
			if message, param, ok := peerError(raw); ok {
				e.message, e.param = message, param
				break
			}
		}
	}
	if e.message == "" && resp.StatusCode/100 == 3 {
		e.message = "it redirects to " + origin(resp) + ", which is not followed"
	}
	e.message = c.show(e.message)
	kind := delegate.KindRefused
	if resp.StatusCode >= 500 {
		kind = delegate.KindUnreachable
	}
	after, _ := httpx.RetryAfter(resp)
	return &delegate.Error{Delegate: c.agent.cfg.Name, Kind: kind, Err: e, Status: resp.StatusCode, RetryAfter: after}
}

// unlisted is the first element of a body that is a list, as some endpoints send an error.
func unlisted(body []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return body
}

// origin is where a redirect leads, without the parts that may hold a secret.
func origin(resp *http.Response) string {
	to, err := resp.Location()
	if err != nil {
		return "nowhere"
	}
	return (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String()
}

// peerError reads an error object, or an error that is just a string. It reports false
// for null, empty and other shapes.
func peerError(raw json.RawMessage) (message, param string, ok bool) {
	if json.Unmarshal(raw, &message) == nil {
		return message, "", message != ""
	}
	var object struct {
		Message string
		Param   any
	}
	if json.Unmarshal(raw, &object) != nil {
		return "", "", false
	}
	param, _ = object.Param.(string)
	return object.Message, param, true
}

// show makes a peer's words fit for an error: one line, bounded, without the key.
func (c *call) show(message string) string {
	return delegate.OneLine(c.secrets.Text(message), maxPeerMessage)
}

// broken is a request that got no answer.
func (c *call) broken(ctx context.Context, err error) *delegate.Error {
	if ctx.Err() != nil {
		return c.ended(ctx)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the URL
	}
	e := &delegate.Error{Delegate: c.agent.cfg.Name, Kind: delegate.KindUnreachable, Err: err}
	var n net.Error
	switch {
	case c.sent.Load() && errors.As(err, &n) && n.Timeout():
		e.Kind, e.Accepted = delegate.KindTimeout, true
	case errors.Is(err, io.EOF):
		e.Err = errors.New("the connection was closed without an answer")
	}
	return c.scrubbed(e)
}

// unread is an answer that began and could not be read.
func (c *call) unread(ctx context.Context, err error) *delegate.Error {
	if ctx.Err() != nil {
		return c.ended(ctx)
	}
	var said *peerFailure
	if errors.As(err, &said) {
		return &delegate.Error{Delegate: c.agent.cfg.Name, Kind: delegate.KindFailed, Accepted: true,
			Err: errors.New(c.show(said.message))}
	}
	return c.protocol(err)
}

// ended is a call whose context is over: by the caller, by Close, or by the clock.
func (c *call) ended(ctx context.Context) *delegate.Error {
	e := &delegate.Error{Delegate: c.agent.cfg.Name, Accepted: c.sent.Load()}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errClosed):
		e.Kind, e.Err = delegate.KindUnreachable, errClosed
	case !errors.Is(cause, errTimeLimit):
		e.Kind, e.Err = delegate.KindCanceled, fmt.Errorf("stopped before the answer was complete: %w", ctx.Err())
	case e.Accepted:
		e.Kind, e.Err = delegate.KindTimeout, fmt.Errorf("no complete answer within its %w", cause)
	default:
		e.Kind, e.Err = delegate.KindUnreachable, fmt.Errorf("no connection within its %w", cause)
	}
	return e
}

// protocol is an answer that cannot be read.
func (c *call) protocol(err error) *delegate.Error {
	return c.scrubbed(&delegate.Error{Delegate: c.agent.cfg.Name, Kind: delegate.KindProtocol, Accepted: c.sent.Load(), Err: err})
}

// scrubbed makes sure that e does not say the key.
func (c *call) scrubbed(e *delegate.Error) *delegate.Error {
	e.Err = c.secrets.Error(e.Err)
	return e
}
