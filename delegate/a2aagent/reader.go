package a2aagent

import (
	"context"
	"errors"

	"github.com/langrooms/langrooms/delegate"
)

// PeerKey implements [delegate.TaskReader].
func (a *Agent) PeerKey() (string, error) {
	s, err := a.open()
	if err != nil {
		return "", err
	}
	return delegate.CredentialDigest(a.cfg.URL+"\x00"+a.cfg.digestScheme(), s.secret), nil
}

// ReadTask implements [delegate.TaskReader] with one GetTask, without history, and
// one more with it when the task has settled and shows no words.
func (a *Agent) ReadTask(ctx context.Context, id string) (delegate.TaskView, error) {
	ctx, done, ok := a.life.Enter(ctx)
	if !ok {
		return delegate.TaskView{}, a.fail(delegate.KindUnreachable, errClosed)
	}
	defer done()
	s, err := a.open()
	if err != nil {
		return delegate.TaskView{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, pollBound)
	defer cancel()
	p, err := s.meet(ctx)
	if err != nil {
		return delegate.TaskView{}, s.cleanError(err)
	}
	t, err := p.get(ctx, id)
	switch {
	case errors.Is(err, delegate.ErrUnknownTask):
		return delegate.TaskView{}, delegate.ErrUnknownTask
	case err != nil:
		return delegate.TaskView{}, s.cleanError(err)
	}
	return s.view(p.complete(ctx, t)), nil
}

func (s *session) view(t task) delegate.TaskView {
	v := delegate.TaskView{State: delegate.TaskWorking, ContextID: t.contextID}
	if t.phase() == pending {
		return v
	}
	reply, err := s.judge(t)
	switch {
	case err != nil:
		v.State, v.Err = delegate.TaskFailed, delegate.AsError(s.cfg.Name, s.cleanError(err))
	case reply.Paused:
		v.State, v.Reply = delegate.TaskPaused, s.cleanReply(reply)
	default:
		v.State, v.Reply = delegate.TaskAnswered, s.cleanReply(reply)
	}
	return v
}

// Rejoin implements [delegate.TaskReader].
func (a *Agent) Rejoin(ctx context.Context, thread, epoch, contextID string) error {
	if a.cfg.Continuity == nil || contextID == "" {
		return nil
	}
	s, err := a.open()
	if err != nil {
		return err
	}
	key := s.conversation(thread, epoch)
	if newer, err := a.cfg.Continuity.Get(ctx, key); err != nil || newer != "" {
		return err
	}
	return a.cfg.Continuity.Learn(ctx, key, contextID)
}
