package setup

import (
	"context"
	"errors"

	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/exchange"
)

// TakeUp carries on with what an earlier process has left on thread. Late answers kept there
// that are ready land before it returns (see [late.Inbox.Resume]), the others are waited for;
// and beside that it closes exchanges that were interrupted, which the next turn would do
// otherwise. A program of one turn leaves the second to that turn, and is told of what has
// landed by Options.Notify. The error is about the late answers; they stay with the thread.
func (a *App) TakeUp(ctx context.Context, thread string) error {
	if !a.options.OneTurn {
		a.life.Go(func(ctx context.Context) {
			if _, err := exchange.Sweep(ctx, a.Saver, thread); err != nil && !errors.Is(err, context.Canceled) {
				a.notices.tell(err.Error())
			}
		})
	}
	if !a.options.OneTurn {
		return a.Inbox.Resume(ctx, thread)
	}
	landed, leave := a.Inbox.Arrivals(thread)
	err := a.Inbox.Resume(ctx, thread)
	leave()
	for arrival := range landed {
		a.notices.tell("The answer of @" + arrival.Message.Stamp.From + ", which had been waited for, now stands on the thread.")
	}
	return err
}

// QuietLibraries turns off what libraries write to the process's standard error by
// themselves; see redissaver.SilenceClientLog. It is for a program's main, because it is a
// setting of the whole process.
func QuietLibraries() { redissaver.SilenceClientLog() }
