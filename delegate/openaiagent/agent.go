package openaiagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/internal/httpx"
	"github.com/langrooms/langrooms/internal/completion"
	"github.com/langrooms/langrooms/internal/lifetime"
)

// Agent is a [delegate.Delegate] that asks an OpenAI-compatible endpoint.
type Agent struct {
	cfg    Config
	client *http.Client
	// own is the transport that Close ends; nil when the caller gave a client.
	own *http.Transport
	// dialect is the form of request that this endpoint was last seen to accept.
	dialect atomic.Pointer[completion.Dialect]
	life    *lifetime.Life // of Asks and Probes
}

var _ delegate.Delegate = (*Agent)(nil)

var (
	errClosed    = errors.New("the delegate was closed")
	errTimeLimit = errors.New("time limit")
)

// New returns an agent for cfg. It does no I/O. The error names the field that is wrong.
func New(cfg Config) (*Agent, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, fmt.Errorf("delegate %q: %w", cfg.Name, err)
	}
	a := &Agent{cfg: cfg, client: &http.Client{}, life: lifetime.New(errClosed)}
	if cfg.HTTPClient != nil {
		*a.client = *cfg.HTTPClient
	} else {
		a.own, err = httpx.Transport(cfg.HTTP)
		if err != nil {
			return nil, fmt.Errorf("delegate %q: %w", cfg.Name, err)
		}
		a.own.DialContext = a.dialer(a.own.DialContext)
		a.client.Transport = httpx.Retry(a.own, cfg.HTTP.Retries)
	}
	a.client.CheckRedirect = checkRedirect
	a.dialect.Store(&completion.Dialect{})
	return a, nil
}

// Info describes the delegate. It has no conversations and no tasks to resume.
func (a *Agent) Info() delegate.Info {
	return delegate.Info{Name: a.cfg.Name, Type: "openai", Description: a.cfg.Description, OwnReplies: a.cfg.OwnReplies}
}

// Ask sends the prompt as one completion. A conversation key or a task to resume is
// refused: nothing is kept at the endpoint that they could name. Text is reported as
// progress where the endpoint streams. See [delegate.Delegate] for the rest.
func (a *Agent) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	if req.Conversation != "" {
		return delegate.Reply{}, a.refuse("a chat completions endpoint is stateless: every ask is a fresh completion, so a conversation key would name nothing")
	}
	if req.ResumeTask != "" {
		return delegate.Reply{}, a.refuse("a chat completions endpoint is stateless: it has no task to resume")
	}
	ctx, done, err := a.begin(ctx, cmp.Or(req.Timeout, a.cfg.TotalTimeout), keyOf(req.Timeout == 0, "total_timeout_s"))
	if err != nil {
		return delegate.Reply{}, err
	}
	defer done()
	c, err := a.newCall(ctx, req.Progress)
	if err != nil {
		return delegate.Reply{}, err
	}
	if req.Timeout > 0 {
		c.silence = req.Timeout // the caller's bound is the only one
	}
	files, stead := req.Part(a.takes)
	c.files = files
	return c.ask(ctx, req.Prompt+stead)
}

// probeTimeout bounds a probe, unless the configured timeout is shorter.
const probeTimeout = 10 * time.Second

// Probe lists the endpoint's models (OpenAI API reference, "List models"), which runs
// none of them.
func (a *Agent) Probe(ctx context.Context) (delegate.Health, error) {
	ctx, done, err := a.begin(ctx, min(a.cfg.Timeout, probeTimeout), keyOf(a.cfg.Timeout <= probeTimeout, "timeout_s"))
	if err != nil {
		return delegate.Health{}, err
	}
	defer done()
	c, err := a.newCall(ctx, nil)
	if err != nil {
		return delegate.Health{}, err
	}
	started := time.Now()
	if err := c.probe(ctx); err != nil {
		return delegate.Health{}, err
	}
	return delegate.Health{Latency: time.Since(started), Protocol: "openai"}, nil
}

// Close ends running calls and connections and waits for them.
func (a *Agent) Close() error {
	a.life.Close()
	if a.own != nil {
		a.own.CloseIdleConnections()
	}
	return nil
}

// keyOf names the configuration's key of a limit in its words, where that is what set it.
func keyOf(configured bool, key string) string {
	if !configured {
		return ""
	}
	return " (" + key + ")"
}

// begin registers a call that ends with ctx, with Close or after limit. The caller calls
// done when it is over.
func (a *Agent) begin(ctx context.Context, limit time.Duration, key string) (_ context.Context, done func(), _ error) {
	ctx, leave, ok := a.life.Enter(ctx)
	if !ok {
		return nil, nil, &delegate.Error{Delegate: a.cfg.Name, Kind: delegate.KindUnreachable, Err: errClosed}
	}
	ctx, stopClock := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w of %v%s", errTimeLimit, limit, key))
	return ctx, func() { stopClock(); leave() }, nil
}

// dialer ends a connection attempt with Close: the transport lets one go on after its
// request was given up.
func (a *Agent) dialer(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(a.life.Context(), cancel)()
		return dial(ctx, network, address)
	}
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

func (a *Agent) refuse(why string) *delegate.Error {
	return &delegate.Error{Delegate: a.cfg.Name, Kind: delegate.KindRefused, Err: errors.New(why)}
}

// maxRedirects bounds the redirects within a host that one request follows.
const maxRedirects = 5

// checkRedirect follows a redirect within the same scheme and host that keeps the
// method. Every other one becomes the answer: the key and the conversation stay here.
func checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	if next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host ||
		next.Method != first.Method || len(via) > maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}
