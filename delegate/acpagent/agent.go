package acpagent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// startLimit bounds each of the steps before the prompt. It leaves room for a wrapper that
// has to fetch its agent first.
const startLimit = time.Minute

// Agent is an ACP agent as a [delegate.Delegate].
type Agent struct {
	config   Config
	sessions delegate.Continuity
	launch   string

	life    context.Context // ends with Close
	die     context.CancelCauseFunc
	running sync.WaitGroup // Asks, Probes, ends of idle processes

	mu            sync.Mutex
	closed        bool
	conversations map[string]*conversation
}

var _ delegate.Delegate = (*Agent)(nil)

// New returns the agent that c describes. It starts no process. The error names the field
// that cannot be used.
func New(c Config) (*Agent, error) {
	c, err := c.checked()
	if err != nil {
		return nil, err
	}
	a := &Agent{config: c, sessions: c.Sessions, launch: c.launch(), conversations: make(map[string]*conversation)}
	if a.sessions == nil {
		a.sessions = delegate.NewMemoryContinuity()
	}
	a.life, a.die = context.WithCancelCause(context.Background())
	return a, nil
}

// Info describes the delegate.
func (a *Agent) Info() delegate.Info {
	return delegate.Info{Name: a.config.Name, Type: "acp", Description: a.config.Description, Conversational: true}
}

// Ask sends one prompt and waits for the end of the agent's turn. When ctx or the timeout
// ends first, the agent is told session/cancel. When it answers within a second, its process
// and its session stay for the next address; else the process is ended, and Ask returns when
// it is gone: 4 s later at most. A task cannot be resumed: ACP has none.
func (a *Agent) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	if err := a.enter(); err != nil {
		return delegate.Reply{}, a.failed(failure{err: err})
	}
	defer a.running.Done()
	if req.ResumeTask != "" {
		return delegate.Reply{}, &delegate.Error{Delegate: a.config.Name, Kind: delegate.KindRefused,
			Err: errors.New("an ACP agent has no tasks that could be resumed")}
	}
	limit := &timeout{a.config.Timeout, "timeout_s"}
	if req.Timeout > 0 {
		limit = &timeout{after: req.Timeout}
	}
	ctx, cancel := a.bounded(ctx, limit)
	defer cancel()
	return a.converse(ctx, req)
}

// bounded returns a context that also ends after limit and on Close, with a cause for each.
func (a *Agent) bounded(ctx context.Context, limit *timeout) (context.Context, context.CancelFunc) {
	ctx, cancelTimeout := context.WithTimeoutCause(ctx, limit.after, limit)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(a.life, func() { cancel(errClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
		cancelTimeout()
	}
}

// Probe starts the agent, opens a session as a prompt would, and ends the process again. No
// prompt is sent. An agent that wants to be authenticated and cannot be is an error.
func (a *Agent) Probe(ctx context.Context) (delegate.Health, error) {
	if err := a.enter(); err != nil {
		return delegate.Health{}, a.failed(failure{err: err})
	}
	defer a.running.Done()
	ctx, cancel := a.bounded(ctx, &timeout{after: startLimit})
	defer cancel()
	if ctx.Err() != nil {
		return delegate.Health{}, a.failed(failure{err: context.Cause(ctx), step: "the probe"})
	}
	began := time.Now()
	s, step, err := openSession(ctx, a.config, "")
	if err != nil {
		return delegate.Health{}, a.unopened(s, step, err)
	}
	defer s.end()
	health := delegate.Health{Latency: time.Since(began), Protocol: fmt.Sprintf("ACP %d", s.hello.ProtocolVersion)}
	if info := s.hello.AgentInfo; info != nil {
		health.Version = delegate.OneLine(s.redact.Text(info.Name+" "+info.Version), maxTitle)
	}
	return health, nil
}

// Close ends every process and waits for it, for all Asks and for all goroutines. It can
// be called often, and from many goroutines.
func (a *Agent) Close() error {
	a.mu.Lock()
	if !a.closed {
		a.closed = true
		a.die(errClosed)
		for _, c := range a.conversations {
			if c.idle != nil {
				c.idle.Stop()
			}
			a.running.Go(func() { a.retire(c) })
		}
	}
	a.mu.Unlock()
	a.running.Wait()
	return nil
}

// enter counts one more user of the agent, who calls a.running.Done.
func (a *Agent) enter() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return errClosed
	}
	a.running.Add(1)
	return nil
}
