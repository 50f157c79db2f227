package acpagent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/lifetime"
)

// startLimit bounds each of the steps before the prompt. It leaves room for a wrapper that
// has to fetch its agent first.
const startLimit = time.Minute

// Agent is an ACP agent as a [delegate.Delegate].
type Agent struct {
	config   Config
	sessions delegate.Continuity
	launch   string

	life *lifetime.Life // of Asks, Probes and ends of idle processes

	mu            sync.Mutex
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
	a := &Agent{config: c, sessions: c.Sessions, launch: c.launch(), life: lifetime.New(errClosed), conversations: make(map[string]*conversation)}
	if a.sessions == nil {
		a.sessions = delegate.NewMemoryContinuity()
	}
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
	ctx, leave, ok := a.life.Enter(ctx)
	if !ok {
		return delegate.Reply{}, a.failed(failure{err: errClosed})
	}
	defer leave()
	if req.ResumeTask != "" {
		return delegate.Reply{}, &delegate.Error{Delegate: a.config.Name, Kind: delegate.KindRefused,
			Err: errors.New("an ACP agent has no tasks that could be resumed")}
	}
	limit := &timeout{a.config.Timeout, "timeout_s"}
	if req.Timeout > 0 {
		limit = &timeout{after: req.Timeout}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit.after, limit)
	defer cancel()
	return a.converse(ctx, req)
}

// Probe starts the agent, opens a session as a prompt would, and ends the process again. No
// prompt is sent. An agent that wants to be authenticated and cannot be is an error.
func (a *Agent) Probe(ctx context.Context) (delegate.Health, error) {
	ctx, leave, ok := a.life.Enter(ctx)
	if !ok {
		return delegate.Health{}, a.failed(failure{err: errClosed})
	}
	defer leave()
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, &timeout{after: startLimit})
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
	a.life.Close(a.retireAll)
	return nil
}

// retireAll ends the processes of all conversations, each once its turn is over.
func (a *Agent) retireAll() {
	var all sync.WaitGroup
	defer all.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.conversations {
		if c.idle != nil {
			c.idle.Stop()
		}
		all.Go(func() { a.retire(c) })
	}
}
