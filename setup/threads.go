package setup

import (
	"context"
	"errors"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/internal/lifetime"
	"github.com/langrooms/langrooms/late"
)

// threads are the store, and what works on its threads outside of turns. All of it may be nil.
type threads struct {
	saver   checkpointer.Saver
	lent    bool // the saver is the program's, which closes it
	inbox   *late.Inbox
	oneTurn bool
	notices *notices
	sweeps  *lifetime.Life
}

// openThreads opens the store at url, unless the program has one of its own.
func openThreads(ctx context.Context, o Options, url string, n *notices) (*threads, error) {
	t := &threads{saver: o.Saver, lent: o.Saver != nil, oneTurn: o.OneTurn, notices: n, sweeps: lifetime.New(nil)}
	if t.lent {
		return t, nil
	}
	var err error
	t.saver, err = OpenSaver(ctx, url)
	return t, err
}

// wait begins to take late answers.
func (t *threads) wait(c late.Config) (err error) {
	c.OneTurn, c.Failed = t.oneTurn, func(err error) { t.notices.tell(err.Error()) }
	t.inbox, err = late.New(c)
	return err
}

// TakeUp carries on with what an earlier process has left on thread. Late answers kept there
// that are ready land before it returns (see [late.Inbox.Resume]), the others are waited for;
// and beside that it closes exchanges that were interrupted, which the next turn would do
// otherwise. A program of one turn leaves the second to that turn, and is told of what has
// landed by Options.Notify. The error is about the late answers; they stay with the thread.
func (a *App) TakeUp(ctx context.Context, thread string) error { return a.threads.takeUp(ctx, thread) }

func (t *threads) takeUp(ctx context.Context, thread string) error {
	if !t.oneTurn {
		t.sweeps.Go(func(ctx context.Context) {
			if _, err := exchange.Sweep(ctx, t.saver, thread); err != nil && !errors.Is(err, context.Canceled) {
				t.notices.tell(err.Error())
			}
		})
		return t.inbox.Resume(ctx, thread)
	}
	landed, leave := t.inbox.Arrivals(thread)
	err := t.inbox.Resume(ctx, thread)
	leave()
	for arrival := range landed {
		t.notices.tell("The answer of @" + arrival.Message.Stamp.From + ", which had been waited for, now stands on the thread.")
	}
	return err
}

// Waiting lists the late answers that are waited for on thread; see [late.Inbox.Waiting].
func (a *App) Waiting(ctx context.Context, thread string) ([]delegate.Handle, error) {
	return a.threads.inbox.Waiting(ctx, thread)
}

// Withdraw ends the waiting for a member's late answer; see [late.Inbox.Withdraw].
func (a *App) Withdraw(ctx context.Context, thread, member string) (bool, error) {
	return a.threads.inbox.Withdraw(ctx, thread, member)
}

// end ends what works on the threads.
func (t *threads) end() {
	if t == nil {
		return
	}
	t.sweeps.Close()
	if t.inbox != nil {
		t.inbox.Close()
	}
}

// Close closes the store, at last.
func (t *threads) Close() error {
	if t == nil || t.saver == nil || t.lent {
		return nil
	}
	return t.saver.Close()
}

// QuietLibraries turns off what libraries write to the process's standard error by
// themselves; see redissaver.SilenceClientLog. It is for a program's main, because it is a
// setting of the whole process.
func QuietLibraries() { redissaver.SilenceClientLog() }
