package openaiagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/internal/httpx"
	"github.com/langrooms/langrooms/internal/completion"
)

// status returns the failure that an answer outside 2xx is: 5xx means that nothing was
// accepted, everything else that the endpoint would not.
func (c *call) status(resp *http.Response) *delegate.Error {
	kind := delegate.KindRefused
	if resp.StatusCode >= 500 {
		kind = delegate.KindUnreachable
	}
	after, _ := httpx.RetryAfter(resp)
	return &delegate.Error{Delegate: c.agent.cfg.Name, Kind: kind, Err: completion.ReadRefusal(resp, c.secrets), Status: resp.StatusCode, RetryAfter: after}
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
	var said *completion.Failure
	if errors.As(err, &said) {
		return &delegate.Error{Delegate: c.agent.cfg.Name, Kind: delegate.KindFailed, Accepted: true,
			Err: errors.New(delegate.OneLine(c.secrets.Text(said.Message), completion.MaxMessage))}
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
