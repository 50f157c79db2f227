package acpserver

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

// find reports why a session is none of the client's, or nil.
func (s *Server) find(ctx context.Context, id acp.SessionId) error {
	gone := &acp.RequestError{Code: codeNotFound, Message: "there is no such session"}
	if runs.Internal(string(id)) || s.cfg.Hidden != nil && s.cfg.Hidden(string(id)) {
		return gone
	}
	_, err := thread.Find(ctx, s.cfg.Saver, string(id), s.cfg.Caller)
	if errors.Is(err, thread.ErrNone) {
		return gone
	}
	return err
}

// codeNotFound is ACP's code for a resource that is not there.
const codeNotFound = -32002

// NewSession implements acp.Agent: it begins a thread. The client's folder and its MCP servers
// are not looked at: members have their own.
func (s *Server) NewSession(ctx context.Context, _ acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	id := langrooms.NewID()
	if _, err := thread.Make(ctx, s.cfg.Saver, id, s.cfg.Caller, nil); err != nil {
		return acp.NewSessionResponse{}, err
	}
	s.mu.Lock()
	s.unsaid[id] = true
	s.mu.Unlock()
	return acp.NewSessionResponse{SessionId: acp.SessionId(id), Modes: s.modeState(id)}, nil
}

// maxReplayed is how many messages a client is shown of a session that it loads: the newest.
// Some clients break off a replay that is longer than a thousand.
const maxReplayed = 500

// LoadSession implements acp.AgentLoader: it shows what was said.
func (s *Server) LoadSession(ctx context.Context, q acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	if err := s.find(ctx, q.SessionId); err != nil {
		return acp.LoadSessionResponse{}, err
	}
	id := string(q.SessionId)
	var newest []langrooms.Message
	for m, err := range s.cfg.Saver.Messages(ctx, checkpointer.Ref{Thread: id}, checkpointer.Range{Backward: true, Limit: checkpointer.N(maxReplayed)}) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			break
		}
		if err != nil {
			return acp.LoadSessionResponse{}, err
		}
		newest = append(newest, m)
	}
	slices.Reverse(newest)
	for _, m := range newest {
		if text, operator := s.said(m); text != "" && operator {
			s.update(ctx, id, acp.UpdateUserMessageText(text))
		} else if text != "" {
			s.update(ctx, id, acp.UpdateAgentMessageText(text+"\n\n"))
		}
	}
	s.tellCommands(id)
	return acp.LoadSessionResponse{Modes: s.modeState(id)}, nil
}

// ResumeSession implements acp.Agent: the session goes on, and nothing is shown.
func (s *Server) ResumeSession(ctx context.Context, q acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	if err := s.find(ctx, q.SessionId); err != nil {
		return acp.ResumeSessionResponse{}, err
	}
	s.tellCommands(string(q.SessionId))
	return acp.ResumeSessionResponse{Modes: s.modeState(string(q.SessionId))}, nil
}

// listed is how many sessions one page lists.
const listed = 50

// ListSessions implements acp.Agent: the client's threads, the newest first.
func (s *Server) ListSessions(ctx context.Context, q acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	r := acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	offset := 0
	if q.Cursor != nil {
		var err error
		if offset, err = strconv.Atoi(*q.Cursor); err != nil || offset < 0 {
			return r, acp.NewInvalidParams(map[string]any{"cursor": "it is none of this agent's"})
		}
	}
	lister, ok := s.cfg.Saver.(checkpointer.Lister)
	if !ok {
		return r, nil
	}
	for info, err := range lister.Threads(ctx) {
		if err != nil {
			return r, err
		}
		var refused *acp.RequestError
		if err := s.find(ctx, acp.SessionId(info.Thread)); errors.As(err, &refused) {
			continue
		} else if err != nil {
			return r, err
		}
		if offset--; offset >= 0 {
			continue
		}
		if len(r.Sessions) == listed {
			next := strconv.Itoa(listed)
			if q.Cursor != nil {
				before, _ := strconv.Atoi(*q.Cursor) // as read above
				next = strconv.Itoa(before + listed)
			}
			r.NextCursor = &next
			break
		}
		updated := info.Updated.UTC().Format(time.RFC3339)
		r.Sessions = append(r.Sessions, acp.SessionInfo{SessionId: acp.SessionId(info.Thread), Cwd: s.cfg.Dir, UpdatedAt: &updated})
	}
	return r, nil
}

// CloseSession implements acp.Agent: what is under way is stopped, and the thread stays.
func (s *Server) CloseSession(ctx context.Context, q acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, s.Cancel(ctx, acp.CancelNotification{SessionId: q.SessionId})
}

// Cancel implements acp.Agent.
func (s *Server) Cancel(ctx context.Context, q acp.CancelNotification) error {
	if err := s.find(ctx, q.SessionId); err != nil {
		return err
	}
	live, err := s.cfg.Runs.Live(ctx, string(q.SessionId))
	for _, r := range live {
		err = errors.Join(err, s.cfg.Runs.Cancel(ctx, r.Thread, r.ID, false))
	}
	return err
}

// SetSessionMode implements acp.Agent.
func (s *Server) SetSessionMode(ctx context.Context, q acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	if err := s.find(ctx, q.SessionId); err != nil {
		return acp.SetSessionModeResponse{}, err
	}
	if q.ModeId != modeRoom && q.ModeId != modeLead {
		return acp.SetSessionModeResponse{}, acp.NewInvalidParams(map[string]any{"modeId": "it must be room or lead"})
	}
	s.mu.Lock()
	s.modes[string(q.SessionId)] = q.ModeId
	s.mu.Unlock()
	return acp.SetSessionModeResponse{}, nil
}

// Authenticate implements acp.Agent: nobody has to.
func (s *Server) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, nil
}

// Logout implements acp.Agent.
func (s *Server) Logout(context.Context, acp.LogoutRequest) (acp.LogoutResponse, error) {
	return acp.LogoutResponse{}, nil
}

// SetSessionConfigOption implements acp.Agent: there are no such options.
func (s *Server) SetSessionConfigOption(context.Context, acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, acp.NewMethodNotFound(acp.AgentMethodSessionSetConfigOption)
}
