package acpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/runs"
)

// commands are what a client may offer behind a stroke.
var commands = []acp.AvailableCommand{
	{Name: "who", Description: "list the delegates"},
	{Name: "thread", Description: "say which thread this session is"},
}

func (s *Server) tellCommands(id string) {
	s.update(context.Background(), id, acp.SessionUpdate{AvailableCommandsUpdate: &acp.SessionAvailableCommandsUpdate{AvailableCommands: commands}})
}

// command answers a command; ok is false for what is none.
func (s *Server) command(id, text string) (answer string, ok bool) {
	switch strings.TrimSpace(text) {
	case "/who":
		return s.cfg.Who(), true
	case "/thread":
		return "This session is the thread " + id + ".", true
	}
	return "", false
}

// words is a prompt as text, with its files. What is attached as text stands behind what was typed.
func words(blocks []acp.ContentBlock) (_ string, files []langrooms.Part, _ error) {
	var typed, attached strings.Builder
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			typed.WriteString(b.Text.Text)
		case b.ResourceLink != nil:
			fmt.Fprintf(&typed, "[%s](%s)", b.ResourceLink.Name, b.ResourceLink.Uri)
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			fmt.Fprintf(&attached, "\n\n%s:\n%s", r.Uri, r.Text)
		default:
			file, err := fileOf(b)
			if err != nil {
				return "", nil, acp.NewInvalidParams(map[string]any{"prompt": err.Error()})
			}
			files = append(files, file)
		}
	}
	if err := langrooms.CheckFiles(files); err != nil {
		return "", nil, acp.NewInvalidParams(map[string]any{"prompt": err.Error()})
	}
	text := typed.String() + attached.String()
	if strings.TrimSpace(text) == "" {
		return "", nil, acp.NewInvalidParams(map[string]any{"prompt": "it is empty"})
	}
	if err := langrooms.CheckText(text); err != nil {
		return "", nil, acp.NewInvalidParams(map[string]any{"prompt": err.Error()})
	}
	return text, files, nil
}

// errGone is what a prompt comes to that nobody can be told the end of.
var errGone = &acp.RequestError{Code: acp.NewInternalError(nil).Code, Message: "the client has gone"}

// Prompt implements acp.Agent: a turn.
func (s *Server) Prompt(ctx context.Context, q acp.PromptRequest) (acp.PromptResponse, error) {
	if !s.enter() {
		return acp.PromptResponse{}, errGone
	}
	defer s.turns.Done()
	if err := s.find(ctx, q.SessionId); err != nil {
		return acp.PromptResponse{}, err
	}
	id := string(q.SessionId)
	text, files, err := words(q.Prompt)
	if err != nil {
		return acp.PromptResponse{}, err
	}
	if answer, ok := s.command(id, text); ok {
		s.update(ctx, id, acp.UpdateAgentMessageText(answer))
		return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}
	in := runs.Input{Text: text, Message: langrooms.Message{Parts: files}, ToLead: s.mode(id) == modeLead}
	if trace, ok := q.Meta[delegate.TraceMeta].(string); ok {
		in.Trace = delegate.ParseTrace(trace)
	}
	if err := delegate.Trace(in.Trace).Admit(s.cfg.Self); err != nil {
		return acp.PromptResponse{}, &acp.RequestError{Code: acp.NewInvalidRequest(nil).Code, Message: err.Error()}
	}
	r, err := s.cfg.Runs.Accept(ctx, runs.Request{Thread: id, Input: in})
	if err != nil {
		return acp.PromptResponse{}, err
	}
	return s.follow(ctx, r)
}

// endBound is how long the end of a run that was stopped may take to be told: longer than its records
// may take to be written.
const endBound = time.Minute

// outlasting returns a context that ends a bound after ctx does, or when it is given up.
func outlasting(ctx context.Context, bound time.Duration) (context.Context, context.CancelFunc) {
	whole, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		end := time.AfterFunc(bound, cancel)
		context.AfterFunc(whole, func() { end.Stop() })
	})
	return whole, func() { stop(); cancel() }
}

// follow shows a run as it goes on. When ctx ends, by session/cancel or because the client has
// gone, the run is stopped, and what it comes to is still shown.
func (s *Server) follow(ctx context.Context, r runs.Run) (acp.PromptResponse, error) {
	end := acp.PromptResponse{StopReason: acp.StopReasonEndTurn}
	whole, over := outlasting(ctx, endBound)
	defer over()
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-s.conn.Done():
			_ = s.cfg.Runs.Abandon(whole, r.Thread, r.ID) // of this process: it cannot fail
		default:
			_ = s.cfg.Runs.Cancel(whole, r.Thread, r.ID, false)
		}
	})
	defer stop()
	update := func(u acp.SessionUpdate) { s.update(whole, r.Thread, u) }
	w := &writer{s: s, update: update, shown: map[string]string{}, held: map[string]string{}, calls: map[string]bool{}}
	for e, err := range s.cfg.Runs.Events(whole, r.Thread, r.ID, 0) {
		if err != nil {
			return acp.PromptResponse{}, err
		}
		w.take(e)
		if e.Type == runs.EventResult {
			end.Usage = usageOf(e.Result.Spent)
		}
		if e.Type != runs.EventStatus || e.Status.Live() {
			continue
		}
		switch e.Status {
		case runs.Interrupted:
			return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
		case runs.Failed:
			return acp.PromptResponse{}, &acp.RequestError{Code: acp.NewInternalError(nil).Code, Message: e.Error}
		}
	}
	return end, nil
}

type sessionKey struct{}

// InSession returns a context for the turn of a session, by which [Server.Permission] finds it.
func InSession(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, sessionKey{}, id)
}

// Permission asks the client what a member asks leave for, in the turn that ctx belongs to. It
// is a delegate.Request.Permission.
func (s *Server) Permission(ctx context.Context, r delegate.PermissionRequest) delegate.PermissionAnswer {
	id, ok := ctx.Value(sessionKey{}).(string)
	if !ok || s.conn == nil {
		return delegate.PermissionNo
	}
	title, kind := "@"+r.Delegate+": "+r.Title, acp.ToolKind(r.Kind)
	q := acp.RequestPermissionRequest{SessionId: acp.SessionId(id), ToolCall: acp.ToolCallUpdate{ToolCallId: acp.ToolCallId(langrooms.NewID()), Title: &title}}
	if r.Kind != "" {
		q.ToolCall.Kind = &kind
	}
	for _, o := range r.Options {
		q.Options = append(q.Options, acp.PermissionOption{OptionId: acp.PermissionOptionId(o.ID), Name: o.Name, Kind: acp.PermissionOptionKind(o.Kind)})
	}
	answer, err := s.conn.RequestPermission(ctx, q)
	if err != nil || answer.Outcome.Selected == nil {
		return delegate.PermissionNo
	}
	for _, o := range q.Options {
		if o.OptionId != answer.Outcome.Selected.OptionId {
			continue
		}
		switch o.Kind {
		case acp.PermissionOptionKindAllowOnce:
			return delegate.PermissionOnce
		case acp.PermissionOptionKindAllowAlways:
			return delegate.PermissionConversation
		}
	}
	return delegate.PermissionNo
}

var _ interface {
	acp.Agent
	acp.AgentLoader
} = (*Server)(nil)
