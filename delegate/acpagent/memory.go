package acpagent

import (
	"context"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// memory is what the store of sessions has for one conversation. A turn without a
// conversation has none. When the store fails, the conversation goes on without it: that is
// reported, and no more.
type memory struct {
	store  delegate.Continuity // nil without a conversation
	key    delegate.ContextKey
	report func(langrooms.Progress)
}

// memory returns the memory of a request's conversation. A session id is good for one
// launch: a delegate with another command has another key. It is also good for one
// conversation and epoch only, whose process is a peer of its own: agents may count their
// sessions from one in each process, and equal ids of two processes mean nothing.
func (a *Agent) memory(req delegate.Request) memory {
	m := memory{report: req.Progress}
	if m.report == nil {
		m.report = func(langrooms.Progress) {}
	}
	if req.Conversation != "" {
		m.store = a.sessions
		m.key = delegate.ContextKey{Thread: req.Conversation, Delegate: a.config.Name, URL: "acp:" + a.launch,
			Credential: delegate.CredentialDigest("conversation", req.Conversation+"\x00"+req.Epoch), Epoch: req.Epoch}
		m.key = m.key.Preambled(a.config.Preamble)
	}
	return m
}

// recall returns the session id on record. It is not ok when the store cannot say.
func (m memory) recall(ctx context.Context) (id string, ok bool) {
	if m.store == nil {
		return "", true
	}
	id, err := m.store.Get(ctx, m.key)
	return id, m.told("read", err)
}

// learn puts the session's id on record, unless it is there.
func (m memory) learn(ctx context.Context, s *session, known string) {
	switch {
	case m.store == nil || len(s.id) > delegate.MaxContextID:
	case s.id == known:
		s.stored = true
	default:
		s.stored = m.told("stored", m.store.Learn(ctx, m.key, s.id))
	}
}

// forget takes the session's id off the record. It outlives a turn that was stopped, by a
// second at most.
func (m memory) forget(ctx context.Context, s *session) {
	if s.stored {
		m.drop(ctx)
	}
}

func (m memory) drop(ctx context.Context) {
	if m.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	m.told("dropped", m.store.Drop(ctx, m.key))
}

func (m memory) told(what string, err error) bool {
	if err != nil {
		m.report(langrooms.Progress{Kind: langrooms.ProgressStatus,
			Text: delegate.OneLine("the session id could not be "+what+": "+err.Error(), maxTitle)})
	}
	return err == nil
}
