package late

import (
	"context"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/delegatetool"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/thread"
)

// Background runs a delegation of the lead's whose answer is not waited for: keyless, a
// conversation of its own. It is what delegatetool.Config.Background wants. The answer
// lands once the turn that asks has recorded the address. ErrClosed after Close, and
// exchange.ErrNoMember when the target has left the roster.
func (i *Inbox) Background(job delegatetool.Job) error {
	roster, release := i.cfg.Roster.Acquire()
	d, ok := roster.Get(job.Target)
	if !ok {
		release()
		return fmt.Errorf("%w: @%s", exchange.ErrNoMember, job.Target)
	}
	if !i.life.Go(func(ctx context.Context) {
		defer release()
		i.run(ctx, d, job)
	}) {
		release()
		return ErrClosed
	}
	return nil
}

// run asks the delegate and lands its answer, whole.
func (i *Inbox) run(ctx context.Context, d delegate.Delegate, job delegatetool.Job) {
	reply, err := d.Ask(delegate.WithTrace(ctx, job.Trace), delegate.Request{Prompt: job.Query, Timeout: job.Timeout})
	if ctx.Err() != nil {
		return // the program ends; like every collection in memory, this one ends with it
	}
	if i.cfg.Health != nil {
		i.cfg.Health.Note(d, err)
	}
	reply.Usage = i.priced(job.Target, reply.Usage)
	m := lateReply(stampOf(job), reply)
	if err != nil {
		e := delegate.AsError(job.Target, err)
		if e.Working() && i.collect(ctx, job, e.Task) {
			return
		}
		m = lateFailure(stampOf(job), e.Kind, e.Cause())
	}
	landed, err := i.land(ctx, job.Thread, anchorOf(job), m, func(*thread.Hold) (bool, error) { return true, nil })
	if err != nil {
		i.failed(fmt.Errorf("the answer of @%s from the background: %w", job.Target, err))
	}
	if landed {
		i.arrive(job.Thread, m, reply.Paused)
	}
}

func stampOf(job delegatetool.Job) langrooms.Stamp {
	return langrooms.Stamp{From: job.Target, Exchange: job.Exchange, Round: 1}
}

func anchorOf(job delegatetool.Job) thread.Anchor {
	return thread.Anchor{Exchange: job.Exchange, Seq: job.Anchor, Epoch: job.Epoch}
}

// collect goes on waiting for a job whose delegate still works on it. It does so while it
// holds the thread, and not for one that was erased: keeping a handle there would bring
// the thread back.
func (i *Inbox) collect(ctx context.Context, job delegatetool.Job, task string) (collecting bool) {
	err := exchange.Standing(ctx, i.cfg.Saver, job.Thread, anchorOf(job), func(h *thread.Hold) error {
		waiting := i.Collect(h.Context(), delegate.Handle{Thread: job.Thread, Delegate: job.Target, Task: task,
			Stamp: stampOf(job), Anchor: job.Anchor, Epoch: job.Epoch})
		collecting = waiting != delegate.NotWaited
		return nil
	})
	if err != nil {
		i.failed(fmt.Errorf("waiting for @%s in the background: %w", job.Target, err))
	}
	return collecting
}
