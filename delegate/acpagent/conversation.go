package acpagent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms/delegate"
)

// conversation is one conversation key with the process that serves it.
type conversation struct {
	// slot holds a token while somebody uses session: one turn at a time.
	slot    chan struct{}
	session *session // nil when no process runs

	// The rest is guarded by Agent.mu.
	users     int // turns that use the slot or wait for it
	idle      *time.Timer
	idleSince time.Time
}

func newConversation() *conversation { return &conversation{slot: make(chan struct{}, 1)} }

// checkout returns the conversation of key for one turn; checkin gives it back.
func (a *Agent) checkout(key string) *conversation {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.conversations[key]
	if c == nil {
		c = newConversation()
		a.conversations[key] = c
	}
	c.users++
	if c.idle != nil {
		c.idle.Stop()
	}
	return c
}

// checkin forgets a conversation that has no process and starts the idle clock of the others. The
// caller has freed the slot.
func (a *Agent) checkin(key string, c *conversation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.users--
	switch {
	case c.users > 0 || a.life.Context().Err() != nil: // retireAll has what is left
	case c.session == nil:
		delete(a.conversations, key)
	default:
		c.idleSince = time.Now()
		c.idle = time.AfterFunc(a.config.IdleLimit, func() { a.expire(key, c) })
	}
}

// expire ends the process of a conversation that has been idle for long enough.
func (a *Agent) expire(key string, c *conversation) {
	_, leave, ok := a.life.Enter(context.Background())
	if !ok {
		return
	}
	defer leave()
	a.mu.Lock()
	if a.life.Context().Err() != nil || c.users > 0 || time.Since(c.idleSince) < a.config.IdleLimit {
		a.mu.Unlock() // the clock had run out when a turn stopped it
		return
	}
	c.users++
	c.slot <- struct{}{} // free: there was no user
	a.mu.Unlock()
	c.hangUp()
	<-c.slot
	a.checkin(key, c)
}

// retire ends the process of a conversation once its turn is over.
func (a *Agent) retire(c *conversation) {
	c.slot <- struct{}{}
	c.hangUp()
	<-c.slot
}

// hangUp ends the process, if there is one. The caller holds the slot.
func (c *conversation) hangUp() {
	if c.session != nil {
		c.session.end()
		c.session = nil
	}
}

// converse takes one turn, on the conversation's process or on one of its own.
func (a *Agent) converse(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	c := newConversation()
	if req.Conversation == "" {
		defer a.retire(c)
	} else {
		c = a.checkout(req.Conversation)
		defer a.checkin(req.Conversation, c)
	}
	select {
	case c.slot <- struct{}{}:
		defer func() { <-c.slot }()
		return a.take(ctx, c, req)
	case <-ctx.Done():
		return delegate.Reply{}, a.failed(failure{err: context.Cause(ctx), step: "the earlier turn of this conversation"})
	}
}

// take takes one turn on c, whose slot the caller holds.
func (a *Agent) take(ctx context.Context, c *conversation, req delegate.Request) (delegate.Reply, error) {
	if ctx.Err() != nil {
		return delegate.Reply{}, a.failed(failure{err: context.Cause(ctx), step: "the earlier turn of this conversation"})
	}
	m := a.memory(req)
	config, report, err := a.place(ctx, req.Conversation)
	if err != nil {
		return delegate.Reply{}, err
	}
	if err := a.attach(ctx, c, m, config); err != nil {
		return delegate.Reply{}, err
	}
	anew := c.session.forgotten
	if c.session.fresh && req.Opening != nil {
		prompt, err := req.Opening(ctx)
		if err != nil {
			return delegate.Reply{}, a.failed(failure{err: err, step: "the prompt of a new conversation"})
		}
		req.Prompt = prompt
	}
	if c.session.fresh {
		req.Prompt = delegate.Opened(a.config.Preamble, req.Prompt)
	}
	reply, err := c.session.prompt(ctx, req)
	if err == nil {
		reply.NewConversation = anew
		c.session.fresh, c.session.forgotten = false, false
		if words := report(ctx); words != "" {
			reply.Text = strings.TrimSpace(reply.Text + "\n\n" + words)
		}
		return reply, nil
	}
	failed := a.failed(failure{err: err, step: acp.AgentMethodSessionPrompt, accepted: true, process: c.session.process, offers: c.session.hello.offers()})
	var stopped *stoppedError
	if errors.As(err, &stopped) && !stopped.answered {
		m.forget(ctx, c.session) // nobody here knows what the agent has made of the message
	}
	if !survives(err) {
		c.hangUp()
	}
	return delegate.Reply{}, failed
}

// survives reports whether a session can go on after a prompt failed with err: the agent
// has answered, and not with a wish for authentication, which many read at their start only.
func survives(err error) bool {
	var refused *acp.RequestError
	var stopped *stoppedError
	return errors.Is(err, errCancelled) || errors.As(err, &refused) && refused.Code != codeAuthRequired ||
		errors.As(err, &stopped) && stopped.answered
}

// place returns the configuration with the folder of a conversation.
func (a *Agent) place(ctx context.Context, conversation string) (Config, func(context.Context) string, error) {
	config := a.config
	if config.Workplace == nil {
		return config, func(context.Context) string { return "" }, nil
	}
	dir, report, err := config.Workplace(ctx, conversation)
	if err != nil {
		return config, nil, &delegate.Error{Delegate: config.Name, Kind: delegate.KindRefused, Err: fmt.Errorf("worktree: %w", err)}
	}
	config.WorkDir = dir
	return config, report, nil
}

// attach makes c.session usable: the live one when it is of this epoch and still the one on
// record, else a new process.
func (a *Agent) attach(ctx context.Context, c *conversation, m memory, config Config) error {
	known, ok := m.recall(ctx)
	if c.session != nil && c.session.alive() && c.session.epoch == m.key.Epoch && (!ok || !c.session.stored || c.session.id == known) {
		return nil
	}
	c.hangUp()
	opening, cancel := context.WithTimeoutCause(ctx, startLimit, &timeout{after: startLimit})
	defer cancel()
	s, step, err := openSession(opening, config, known)
	if err != nil {
		failed := a.unopened(s, step, err)
		if s != nil && step == s.reattach() && fatal(err) {
			m.drop(ctx) // or this conversation would fail for ever
		}
		return failed
	}
	c.session, s.epoch = s, m.key.Epoch
	m.learn(ctx, s, known)
	return nil
}

// unopened is the error of a session that could not be opened. It ends the process, if one
// was started.
func (a *Agent) unopened(s *session, step string, err error) error {
	if s == nil {
		return a.failed(failure{err: err, step: step})
	}
	defer s.end()
	return a.failed(failure{err: err, step: step, process: s.process, offers: s.hello.offers()})
}
