package acpagent

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// cancelGrace is how long an agent has for answering a prompt after session/cancel.
const cancelGrace = time.Second

// defaultLateGrace is how long nothing more may come after an agent's answer before its turn is over:
// agents send their last words up to 300 ms after the answer that follows them. lateLimit
// bounds the wait as a whole.
const (
	defaultLateGrace = 350 * time.Millisecond
	lateLimit        = 5 * time.Second
)

// updatesAhead is how many updates may wait for a turn; one can be as long as maxLine.
const updatesAhead = 4

// turn is one prompt being worked on. What the agent sends for it arrives on its updates,
// which the turn's own goroutine reads until it closes over.
type turn struct {
	session string
	updates chan event
	over    chan struct{}

	// What a permission request needs: ctx ends when the turn is stopped or over, and the
	// turn waits for those that are being asked.
	ctx        context.Context
	permission func(context.Context, delegate.PermissionRequest) delegate.PermissionAnswer
	asking     sync.WaitGroup

	mu       sync.Mutex
	calls    toolCalls
	stopping bool
	allowed  map[grant]bool // the session's
	refused  []string       // what was refused, and by which key
}

// event is one update that is of use, or the reason why it cannot be read.
type event struct {
	update
	first bool // of its tool call
	err   error
}

func (s *session) newTurn(ctx context.Context, req delegate.Request) *turn {
	return &turn{session: s.id, updates: make(chan event, updatesAhead), over: make(chan struct{}),
		ctx: ctx, permission: req.Permission, allowed: s.allowed, calls: toolCalls{known: make(map[string]callInfo)}}
}

// updated takes a session/update. Without a turn, as while a history is replayed, it is
// dropped. It waits for a turn that is behind, and with it waits the agent.
func (p *process) updated(params json.RawMessage) {
	p.heard.Store(time.Now().UnixNano())
	t := p.turn.Load()
	if t == nil {
		return
	}
	var n notification
	err := json.Unmarshal(params, &n)
	e := event{update: n.Update, err: err}
	called := e.Kind == toolCall || e.Kind == toolCallUpdate
	if err == nil && n.SessionID != t.session {
		if called { // so that its kind is known when leave is asked for it
			e.ID = elsewhere(n.SessionID, e.ID)
			p.note(t, e.callInfo)
		}
		return
	}
	if called {
		e.callInfo, e.first, _ = p.note(t, e.callInfo)
	}
	t.tell(e)
}

// note completes what the agent says of a tool call by what the turn knows of it, without
// secrets, and reports whether that is the first word of it, and whether the turn is being
// stopped.
func (p *process) note(t *turn, c callInfo) (_ callInfo, first, stopping bool) {
	c.Title, c.Status = p.redact.Text(c.Title), p.redact.Text(c.Status) // before they are cut
	t.mu.Lock()
	defer t.mu.Unlock()
	c, first = t.calls.merge(c)
	return c, first, t.stopping
}

func (t *turn) tell(e event) {
	select {
	case t.updates <- e:
	case <-t.over:
	}
}

// handle answers the agent's requests: those for a permission by the policy, all others
// with "method not found".
func (p *process) handle(_ context.Context, method string, params json.RawMessage) (any, *acp.RequestError) {
	if method != acp.ClientMethodSessionRequestPermission {
		return nil, acp.NewMethodNotFound(method)
	}
	var r permissionRequest
	if err := json.Unmarshal(params, &r); err != nil {
		return nil, acp.NewInvalidParams(map[string]any{"error": delegate.DecodeCause(err).Error()})
	}
	return acp.RequestPermissionResponse{Outcome: p.permit(r)}, nil
}

// promptAnswer is the result of session/prompt. The usage is not in every agent's and not
// worth an answer when it cannot be read.
type promptAnswer struct {
	StopReason acp.StopReason  `json:"stopReason"`
	Usage      json.RawMessage `json:"usage"`
}

// stoppedError says that a turn was stopped from here, and why.
type stoppedError struct {
	cause    error
	answered bool // the agent has ended the turn after session/cancel
}

func (e *stoppedError) Error() string { return e.cause.Error() }
func (e *stoppedError) Unwrap() error { return e.cause }

// prompt takes one turn. When ctx ends first it stops the turn, in a bounded time, and
// returns a *stoppedError with context.Cause(ctx); the process must be ended then unless the
// agent has answered.
func (s *session) prompt(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	if err := s.settle(ctx); err != nil {
		return delegate.Reply{}, &stoppedError{cause: err, answered: true}
	}
	asking, endAsking := context.WithCancel(ctx)
	t := s.newTurn(asking, req)
	s.turn.Store(t)
	defer t.asking.Wait()
	defer s.turn.Store(nil)
	defer close(t.over)
	defer endAsking()
	prompt := acp.PromptRequest{SessionId: acp.SessionId(s.id), Prompt: s.prompted(req)}
	if trace := delegate.TraceOf(ctx); len(trace) > 0 && s.hello.Capabilities.Meta[delegate.TraceMeta] != nil {
		prompt.Meta = map[string]any{delegate.TraceMeta: trace.String()}
	}
	prompt.Meta = withTraceContext(ctx, prompt.Meta)
	answer := s.call(acp.AgentMethodSessionPrompt, prompt)
	c := newCollector(s.redact, req.Progress)
	for {
		select {
		case e := <-t.updates:
			c.take(e)
		case a := <-answer:
			s.drain(ctx, t, c, a)
			return s.finish(t, c, a)
		case <-ctx.Done():
			endAsking()
			s.stale = true
			return delegate.Reply{}, &stoppedError{context.Cause(ctx), s.abandon(t, answer)}
		}
	}
}

// settle waits until what the agent had to say before this turn has come, and was dropped.
// Its error is context.Cause(ctx).
func (s *session) settle(ctx context.Context) error {
	if !s.stale {
		return nil
	}
	limit := time.NewTimer(lateLimit)
	defer limit.Stop()
	s.heard.CompareAndSwap(0, time.Now().UnixNano())
	for {
		rest := s.config.lateGrace - time.Since(time.Unix(0, s.heard.Load()))
		if rest <= 0 {
			break
		}
		quiet := time.NewTimer(rest)
		select {
		case <-quiet.C:
			continue
		case <-limit.C:
		case <-s.conn.Done():
		case <-ctx.Done():
			quiet.Stop()
			return context.Cause(ctx)
		}
		quiet.Stop()
		break
	}
	s.stale = false
	return nil
}

// drain takes what has come before the answer, and what comes after it until nothing has
// come for a while.
func (s *session) drain(ctx context.Context, t *turn, c *collector, a callResult) {
	for len(t.updates) > 0 { // all that came before the answer is here by now
		c.take(<-t.updates)
	}
	if a.err != nil {
		s.stale = true
		return
	}
	quiet, limit := time.NewTimer(s.config.lateGrace), time.NewTimer(lateLimit)
	defer quiet.Stop()
	defer limit.Stop()
	for {
		select {
		case e := <-t.updates:
			c.take(e)
			quiet.Reset(s.config.lateGrace)
			continue
		case <-quiet.C:
			return
		case <-limit.C:
		case <-ctx.Done():
		case <-s.conn.Done(): // the agent has answered and exited
			for len(t.updates) > 0 {
				c.take(<-t.updates)
			}
		}
		s.stale = true
		return
	}
}

// finish makes the reply of a turn that the agent has ended.
func (s *session) finish(t *turn, c *collector, a callResult) (delegate.Reply, error) {
	t.mu.Lock()
	refused := t.refusals()
	t.mu.Unlock()
	reply, err := c.finish(a, refused)
	reply.Usage = s.count(reply.Usage, c.cost)
	return reply, err
}

// count adds to a turn's usage what it has cost: the agent tells the session's cost so far.
func (s *session) count(u *langrooms.Usage, sofar *float64) *langrooms.Usage {
	if sofar == nil {
		return u
	}
	before := s.spent
	s.spent = sofar
	if before == nil || *sofar < *before {
		return u
	}
	if u == nil {
		u = &langrooms.Usage{}
	}
	cost := *sofar - *before
	u.CostUSD = &cost
	return u
}

// abandon tells the agent to stop and waits a moment for it. It reports whether the agent
// has answered.
func (s *session) abandon(t *turn, answer <-chan callResult) bool {
	t.mu.Lock()
	t.stopping = true
	t.mu.Unlock()
	s.calls.Go(func() { // the write blocks while the agent does not read
		_ = s.conn.SendNotification(context.Background(), acp.AgentMethodSessionCancel,
			acp.CancelNotification{SessionId: acp.SessionId(s.id)}) // lost with the connection
	})
	timer := time.NewTimer(cancelGrace)
	defer timer.Stop()
	for {
		select {
		case <-t.updates:
		case a := <-answer:
			return !errors.Is(a.err, errLost)
		case <-timer.C:
			return false
		}
	}
}

// withTraceContext puts the trace context of ctx beside what meta holds, under the names that ACP
// reserves for it.
func withTraceContext(ctx context.Context, meta map[string]any) map[string]any {
	parent, state := delegate.TraceContextOf(ctx)
	if parent == "" {
		return meta
	}
	if meta == nil {
		meta = map[string]any{}
	}
	meta[delegate.TraceParentKey] = parent
	if state != "" {
		meta[delegate.TraceStateKey] = state
	}
	return meta
}
