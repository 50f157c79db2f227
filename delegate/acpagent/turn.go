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

// updatesAhead is how many updates may wait for a turn; one can be as long as maxLine.
const updatesAhead = 4

// turn is one prompt being worked on. What the agent sends for it arrives on its updates,
// which the turn's own goroutine reads until it closes over.
type turn struct {
	session string
	updates chan event
	over    chan struct{}

	mu       sync.Mutex
	calls    toolCalls
	stopping bool
}

// event is one update that is of use, or the reason why it cannot be read.
type event struct {
	update
	err error
}

func newTurn(session string) *turn {
	return &turn{session: session, updates: make(chan event, updatesAhead), over: make(chan struct{}), calls: toolCalls{known: make(map[string]callInfo)}}
}

// updated takes a session/update. Without a turn, as while a history is replayed, it is
// dropped. It waits for a turn that is behind, and with it waits the agent.
func (p *process) updated(params json.RawMessage) {
	t := p.turn.Load()
	if t == nil {
		return
	}
	var n notification
	err := json.Unmarshal(params, &n)
	if err == nil && n.SessionID != t.session {
		return
	}
	if n.Update.Kind == toolCall || n.Update.Kind == toolCallUpdate {
		n.Update.callInfo, _ = p.note(t, n.Update.callInfo)
	}
	t.tell(event{n.Update, err})
}

// note completes what the agent says of a tool call by what the turn knows of it, without
// secrets, and reports whether the turn is being stopped.
func (p *process) note(t *turn, c callInfo) (_ callInfo, stopping bool) {
	c.Title, c.Status = p.redact.Text(c.Title), p.redact.Text(c.Status) // before they are cut
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls.merge(c), t.stopping
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

// permit decides about one tool call. While a turn is being stopped, and without one, the
// answer is "cancelled", as the protocol asks for.
func (p *process) permit(r permissionRequest) acp.RequestPermissionOutcome {
	t := p.turn.Load()
	if t == nil || r.SessionID != t.session {
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	call, stopping := p.note(t, r.ToolCall)
	if stopping {
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	allowed := p.config.allows(call.ToolKind)
	if !allowed {
		call.Status = "refused"
		t.tell(event{update: update{Kind: toolCallUpdate, callInfo: call}})
	}
	return answer(r.Options, allowed)
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
// returns a *stoppedError with context.Cause(ctx); the process must be ended then.
func (s *session) prompt(ctx context.Context, text string, report func(langrooms.Progress)) (delegate.Reply, error) {
	t := newTurn(s.id)
	s.turn.Store(t)
	defer close(t.over)
	defer s.turn.Store(nil)
	answer := s.call(acp.AgentMethodSessionPrompt, acp.PromptRequest{
		SessionId: acp.SessionId(s.id), Prompt: []acp.ContentBlock{acp.TextBlock(text)},
	})
	c := newCollector(s.redact, report)
	for {
		select {
		case e := <-t.updates:
			c.take(e)
		case a := <-answer:
			for len(t.updates) > 0 { // all that came before the answer is here by now
				c.take(<-t.updates)
			}
			return c.finish(a)
		case <-ctx.Done():
			return delegate.Reply{}, &stoppedError{context.Cause(ctx), s.abandon(t, answer)}
		}
	}
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
