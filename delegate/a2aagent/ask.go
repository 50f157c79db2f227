package a2aagent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/redact"
)

const (
	pollBound     = 30 * time.Second // one GetTask
	stopGrace     = time.Second      // for the answer to a message, after the operator has stopped the turn
	cancelTimeout = 3 * time.Second  // CancelTask, after the operator has stopped the turn
	settleTimeout = 3 * time.Second  // the continuity store, likewise
)

// ask is one Ask under way.
type ask struct {
	*session
	req      delegate.Request
	peer     *peer
	patience patience
	task     task
	fresh    bool           // the peer had forgotten the conversation
	reported string         // the state as it was reported last
	thought  string         // the reasoning that has been reported
	told     string         // what has been polled of the answer and reported
	shown    *redact.Stream // the reported text
}

func newAsk(s *session, req delegate.Request) *ask {
	return &ask{session: s, req: req, shown: s.secrets.Stream(), patience: newPatience(s.cfg.PollTimeout, req.Timeout)}
}

// run asks and waits. When ctx ends, the task is canceled and the error says so.
func (x *ask) run(ctx context.Context) (delegate.Reply, error) {
	bounded, cancel := x.patience.bound(ctx)
	defer cancel()
	err := x.start(ctx, bounded)
	if err == nil {
		err = x.wait(ctx, bounded)
	}
	switch {
	case x.task.phase() == answered: // also when ctx ended meanwhile
	case ctx.Err() != nil:
		return delegate.Reply{}, x.stopped(ctx)
	case err != nil:
		return delegate.Reply{}, err
	}
	x.task = x.peer.complete(bounded, x.task)
	x.think()
	reply, err := x.judge(x.task)
	reply.NewConversation = x.fresh && err == nil
	return reply, err
}

// start sends the message, or finds the task that is to be resumed in a state in which it
// needs none.
func (x *ask) start(outer, ctx context.Context) error {
	var err error
	if x.peer, err = x.meet(ctx); err != nil {
		return err
	}
	m := x.message(ctx, x.req.Prompt)
	if id := x.req.ResumeTask; id != "" {
		return x.resume(outer, ctx, id, m)
	}
	if m.ContextID = x.remembered(ctx); m.ContextID == "" {
		m = x.opening(ctx)
	}
	err = x.send(outer, m)
	if m.ContextID == "" || !forgotten(err) || outer.Err() != nil {
		return err
	}
	return x.anew(outer)
}

// anew sends the message once more, without the context that the peer has refused and as the
// first of a conversation. When that is refused too, the cause was another one, and what is
// remembered stays.
func (x *ask) anew(ctx context.Context) error {
	if x.req.Opening != nil {
		prompt, err := x.req.Opening(ctx)
		if err != nil {
			return x.fail(delegate.KindFailed, fmt.Errorf("the prompt of a new conversation: %w", err))
		}
		x.req.Prompt = prompt
	}
	m := x.opening(ctx)
	if err := x.send(ctx, m); err != nil {
		return err
	}
	x.fresh = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := x.cfg.Continuity.Drop(ctx, x.conversation(x.req.Conversation, x.req.Epoch)); err != nil {
		x.cfg.Logger.Warn("a forgotten conversation cannot be dropped", "delegate", x.cfg.Name, "error", err)
	}
	return nil
}

// opening is the first message of a conversation.
func (x *ask) opening(ctx context.Context) *a2a.Message {
	return x.message(ctx, delegate.Opened(x.cfg.Preamble, x.req.Prompt))
}

// resume answers a paused task. One that is at work, or has ended, needs no message.
func (x *ask) resume(outer, ctx context.Context, id string, m *a2a.Message) error {
	polling, cancel := context.WithTimeout(ctx, pollBound)
	defer cancel()
	parked, err := x.peer.get(polling, id)
	if err != nil {
		e := delegate.AsError(x.cfg.Name, err)
		e.Err = fmt.Errorf("the task %s cannot be resumed: %w", delegate.OneLine(id, 200), e.Err)
		return e
	}
	x.task = parked
	if parked.phase() != paused {
		return nil
	}
	m.TaskID, m.ContextID = a2a.TaskID(id), parked.contextID
	if err := x.send(outer, m); err != nil || x.task.moved(parked) {
		return err
	}
	// Some peers hand the task back as it stood before the answer; a poll a moment later
	// tells whether the same question stands again.
	x.pause(ctx, &watcher{}, x.pace)
	if err := x.poll(ctx); err != nil && outer.Err() == nil {
		x.cfg.Logger.Info("a resumed task could not be read again", "delegate", x.cfg.Name, "error", x.cleanError(err))
	}
	return outer.Err()
}

// send sends the message. When ctx ends meanwhile it gives the peer a moment to hand the
// task back: without its id it could not be told to stop.
func (x *ask) send(ctx context.Context, m *a2a.Message) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if t := delegate.TraceOf(ctx); len(t) > 0 && x.card(ctx).traces {
		m.SetMeta(delegate.TraceExtension, t.String())
	}
	x.patience.renew()                    // what the card took is not the answer's time
	x.task.state = a2a.TaskStateSubmitted // a resumed one is not parked any more, whatever comes back
	sending, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	limit := time.AfterFunc(x.patience.left(), func() { cancel(context.DeadlineExceeded) })
	defer limit.Stop()
	defer context.AfterFunc(ctx, func() { limit.Reset(stopGrace) })()
	t, err := x.peer.send(sending, m)
	if err != nil {
		return x.late(err)
	}
	x.task = t.follow(x.task)
	x.patience.renew()
	return nil
}

// late says in words how long the peer was given, and by which key.
func (x *ask) late(err error) error {
	e := delegate.AsError(x.cfg.Name, err)
	switch {
	case e.Kind == delegate.KindTimeout && x.patience.hard:
		e.Err = fmt.Errorf("it took the message and gave no answer within %gs, the time limit of this call", x.patience.limit.Seconds())
	case e.Kind == delegate.KindTimeout:
		e.Err = fmt.Errorf("it took the message and gave no answer within %gs; raise poll_timeout_s when it needs longer", x.patience.limit.Seconds())
	}
	return e
}

// remembered returns the context id to echo. A store that fails costs the conversation,
// not the answer.
func (x *ask) remembered(ctx context.Context) string {
	if x.cfg.Continuity == nil || x.req.Conversation == "" {
		return ""
	}
	id, err := x.cfg.Continuity.Get(ctx, x.conversation(x.req.Conversation, x.req.Epoch))
	if err != nil {
		x.cfg.Logger.Warn("the conversation cannot be continued", "delegate", x.cfg.Name, "error", err)
	}
	return id
}

// settle tells the continuity store how the exchange ended. A resumed task is no part of
// the conversation.
func (x *ask) settle(ctx context.Context, reply delegate.Reply, err error) {
	if x.cfg.Continuity == nil || x.req.Conversation == "" || x.req.ResumeTask != "" {
		return
	}
	if blank(reply.Text) {
		reply.Text = ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	key := x.conversation(x.req.Conversation, x.req.Epoch)
	if err := delegate.Settle(ctx, x.cfg.Continuity, key, x.task.contextID, reply, err); err != nil {
		x.cfg.Logger.Warn("how the conversation ended cannot be stored", "delegate", x.cfg.Name, "error", err)
	}
}

// stopped cancels the task, if there is one, and returns the error of a wait that was
// ended from outside.
func (x *ask) stopped(ctx context.Context) error {
	e := x.fail(delegate.KindCanceled, fmt.Errorf("stopped: %w", context.Cause(ctx)))
	if errors.Is(context.Cause(ctx), errClosed) {
		e.Err = errClosed
	}
	if x.task.id == "" || x.task.phase() != pending {
		return e
	}
	e.Task, e.Accepted = x.task.id, true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	if err := x.peer.cancel(ctx, x.task.id); err != nil {
		x.cfg.Logger.Info("the peer did not confirm that it stopped", "delegate", x.cfg.Name, "error", x.cleanError(err))
	}
	return e
}

// maxThought bounds what is remembered of a peer's reasoning in bytes.
const maxThought = 1 << 20

// think reports what is new of the task's reasoning.
func (x *ask) think() {
	news := x.task.thought
	if strings.Contains(x.thought, news) {
		return
	}
	if rest, grown := strings.CutPrefix(news, x.thought); grown {
		news = rest
	}
	x.progress(langrooms.Progress{Kind: langrooms.ProgressThought, Text: clip(news, maxReport)})
}

// progress passes a report on, with nothing secret in it.
func (x *ask) progress(p langrooms.Progress) {
	if p.Kind == langrooms.ProgressThought {
		x.thought += p.Text
		x.thought = x.thought[max(0, len(x.thought)-maxThought):]
	}
	if x.req.Progress == nil {
		return
	}
	if p.Kind != langrooms.ProgressText {
		p.Text = x.clean(p.Text)
	} else if p.Text = x.shown.Next(strings.ToValidUTF8(p.Text, "\uFFFD")); p.Text == "" {
		return
	}
	x.req.Progress(p)
}
