package acpagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms/delegate"
)

// grant is what a person has allowed for the rest of a conversation.
type grant struct{ kind, title string }

// permit decides about one tool call. While a turn is being stopped, and without one, the
// answer is "cancelled", as the protocol asks for. A request of another session belongs to the
// turn too: a process has one conversation, and some agents ask for their sub-agents in
// sessions that those have for themselves.
func (p *process) permit(r permissionRequest) acp.RequestPermissionOutcome {
	t := p.turn.Load()
	if t == nil || r.SessionID == "" {
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	if r.SessionID != t.session {
		r.ToolCall.ID = elsewhere(r.SessionID, r.ToolCall.ID)
	}
	call, first, stopping := p.note(t, r.ToolCall)
	if stopping {
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	v := p.config.judge(call.ToolKind)
	if v.ask {
		var err error
		if v, err = p.ask(t, call, r.Options); err != nil {
			return acp.NewRequestPermissionOutcomeCancelled()
		}
	}
	if !v.allowed {
		t.refuse(call, v.by)
		call.Status = "refused"
		t.tell(event{update: update{Kind: toolCallUpdate, callInfo: call}, first: first})
	}
	return answer(r.Options, v.allowed)
}

// elsewhere is the id of a tool call of another session, whose ids may be those of the turn's.
func elsewhere(session, call string) string { return session + " " + call }

// errTurnOver says that the turn ended before a person had decided.
var errTurnOver = errors.New("the turn is over")

// ask lets a person decide about a call, unless one has done so for the conversation.
func (p *process) ask(t *turn, call callInfo, options []acp.PermissionOption) (verdict, error) {
	v := verdict{by: "permissions: ask"}
	t.mu.Lock()
	switch {
	case t.ctx.Err() != nil:
		t.mu.Unlock()
		return v, errTurnOver
	case t.allowed[call.grant()]:
		t.mu.Unlock()
		return verdict{allowed: true, by: v.by}, nil
	case t.permission == nil:
		t.mu.Unlock()
		return nobody(v), nil
	}
	t.asking.Add(1) // under the lock and before the context's end: the turn still waits
	t.mu.Unlock()
	defer t.asking.Done()
	ctx, cancel := context.WithTimeout(t.ctx, p.config.PermissionTimeout)
	defer cancel()
	given := t.permission(ctx, p.question(call, options))
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ctx.Err() != nil:
		return v, errTurnOver
	case given == delegate.PermissionConversation && call.named():
		t.allowed[call.grant()] = true
		v.allowed = true
	case given == delegate.PermissionConversation, given == delegate.PermissionOnce:
		v.allowed = true
	case given == delegate.PermissionNobody:
		v = nobody(v)
	case ctx.Err() != nil:
		v.by += fmt.Sprintf(" (no answer within %v)", p.config.PermissionTimeout)
	}
	return v, nil
}

// nobody says beside a refusal that there is nobody to ask.
func nobody(v verdict) verdict {
	v.by += " (nobody can be asked here)"
	return v
}

func (c callInfo) grant() grant { return grant{c.ToolKind, c.Title} }

// named reports whether the title tells the call from others: it is there and was not cut.
func (c callInfo) named() bool { return c.Title != "" && !strings.HasSuffix(c.Title, "…") }

// maxOptions is how many of a request's options are shown.
const maxOptions = 20

// question is what a person is shown.
func (p *process) question(call callInfo, options []acp.PermissionOption) delegate.PermissionRequest {
	line := func(text string, limit int) string { return delegate.OneLine(p.redact.Text(text), limit) }
	r := delegate.PermissionRequest{Delegate: p.config.Name, Title: call.Title, Kind: call.ToolKind}
	for _, o := range options[:min(len(options), maxOptions)] {
		r.Options = append(r.Options, delegate.PermissionOption{
			ID: line(string(o.OptionId), maxWord), Name: line(o.Name, maxTitle), Kind: line(string(o.Kind), maxWord)})
	}
	return r
}

// maxRefused is how many refusals a reply names.
const maxRefused = 5

// refuse notes a refused call for the reply.
func (t *turn) refuse(call callInfo, by string) {
	what := "a tool call of kind " + cmp.Or(call.ToolKind, string(acp.ToolKindOther))
	if call.Title != "" {
		what = fmt.Sprintf("“%s” (%s)", call.Title, cmp.Or(call.ToolKind, string(acp.ToolKindOther)))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused = append(t.refused, fmt.Sprintf("%s was refused by %s", what, by))
}

// refusals says what was refused; empty when nothing was. The caller holds the lock.
func (t *turn) refusals() string {
	named := t.refused[:min(len(t.refused), maxRefused)]
	text := strings.Join(named, "; ")
	if over := len(t.refused) - len(named); over > 0 {
		text += fmt.Sprintf("; and %d more", over)
	}
	return text
}
