package a2aagent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/internal/httpx"
	"github.com/langrooms/langrooms/internal/lifetime"
)

// Agent is one A2A peer. It implements [delegate.Delegate] and [delegate.TaskReader].
type Agent struct {
	cfg    Config
	target *url.URL
	base   http.Client
	own    *http.Transport // nil when the caller gave a client
	cards  cardCache
	tokens tokenCache
	pace   time.Duration  // the unit of the schedule: a second, but in tests
	life   *lifetime.Life // of Asks and Probes
}

var (
	_ delegate.Delegate   = (*Agent)(nil)
	_ delegate.TaskReader = (*Agent)(nil)
)

var errClosed = errors.New("the delegate has been closed")

// New returns the peer that cfg describes. It reads the files of cfg.HTTP and does no other
// I/O. An error names the bad field.
func New(cfg Config) (*Agent, error) {
	target, err := cfg.check()
	if err != nil {
		return nil, err
	}
	a := &Agent{cfg: cfg, target: target, pace: time.Second, life: lifetime.New(errClosed)}
	if cfg.HTTPClient != nil {
		a.base = http.Client{Transport: cfg.HTTPClient.Transport, Jar: cfg.HTTPClient.Jar}
	} else {
		if a.own, err = httpx.Transport(cfg.HTTP); err != nil {
			return nil, fmt.Errorf("a2a delegate %q: HTTP: %w", cfg.Name, err)
		}
		a.base = http.Client{Transport: a.own}
	}
	if a.base.Transport == nil {
		a.base.Transport = http.DefaultTransport
	}
	a.base.Transport = httpx.Traced(httpx.Retry(a.base.Transport, cfg.HTTP.Retries))
	return a, nil
}

// Info describes the peer: a conversation key is accepted, and so is a task to resume.
func (a *Agent) Info() delegate.Info {
	return delegate.Info{Name: a.cfg.Name, Type: "a2a", Description: a.cfg.Description,
		Conversational: true, Resumable: true}
}

// Ask sends one message and waits for its answer, as [delegate.Delegate] says. When ctx
// ends the peer's task is canceled (CancelTask, bounded); when waiting ends by itself it
// is not, and the error names the task.
func (a *Agent) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	ctx, done, ok := a.life.Enter(ctx)
	if !ok {
		return delegate.Reply{}, a.fail(delegate.KindUnreachable, errClosed)
	}
	defer done()
	s, err := a.open()
	if err != nil {
		return delegate.Reply{}, err
	}
	x := newAsk(s, req)
	reply, err := x.run(ctx)
	x.settle(ctx, reply, err)
	return s.cleanReply(reply), s.cleanError(err)
}

// Probe fetches the agent card, compares what it asks for with what is configured, and polls
// a task that does not exist, which a peer answers, or refuses the credential, without
// any work. A peer without a card is spoken of by that poll alone.
func (a *Agent) Probe(ctx context.Context) (delegate.Health, error) {
	ctx, done, ok := a.life.Enter(ctx)
	if !ok {
		return delegate.Health{}, a.fail(delegate.KindUnreachable, errClosed)
	}
	defer done()
	s, err := a.open()
	if err != nil {
		return delegate.Health{}, err
	}
	health, err := s.probe(ctx)
	return health, s.cleanError(err)
}

func (s *session) probe(ctx context.Context) (delegate.Health, error) {
	ctx, cancel := context.WithTimeout(ctx, pollBound)
	defer cancel()
	started := time.Now()
	c, noCard := s.fetchCard(ctx)
	switch {
	case noCard == nil:
		s.cards.put(c)
		if err := s.met(c.security); err != nil {
			return delegate.Health{}, s.fail(delegate.KindRefused, err)
		}
	case noAnswer(noCard), errors.Is(noCard, errBadCard):
		return delegate.Health{}, noCard
	}
	p, err := s.meet(ctx)
	if err != nil {
		return delegate.Health{}, err
	}
	if err := p.reach(ctx); err != nil {
		return delegate.Health{}, err
	}
	return delegate.Health{Latency: time.Since(started),
		Version:  s.clean(delegate.OneLine(c.agentVersion, 100)),
		Protocol: "A2A " + string(p.endpoint.version)}, nil
}

// Close ends running Asks, waits for them and closes the agent's own connections, not
// those of a client it was given. Idempotent.
func (a *Agent) Close() error {
	a.life.Close()
	if a.own != nil {
		a.own.CloseIdleConnections()
	}
	return nil
}

// fail returns an error of the given kind.
func (a *Agent) fail(kind delegate.Kind, err error) *delegate.Error {
	return &delegate.Error{Delegate: a.cfg.Name, Kind: kind, Err: err}
}

// conversation returns the key under which the peer's context id is remembered.
func (s *session) conversation(thread, epoch string) delegate.ContextKey {
	key := delegate.ContextKey{Thread: thread, Delegate: s.cfg.Name, URL: s.cfg.URL,
		Credential: delegate.CredentialDigest(s.cfg.digestScheme(), s.secret), Epoch: epoch}
	return key.Preambled(s.cfg.Preamble)
}

// blank reports whether text has no words.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// digestScheme is the scheme in a credential's digest: a token without one is a bearer.
func (c *Config) digestScheme() string {
	if c.Scheme == "" && c.Token != nil {
		return SchemeBearer
	}
	return c.Scheme
}
