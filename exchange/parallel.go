package exchange

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// parallel reports whether the members of the present round are asked side by side.
func (x *run) parallel() bool {
	return x.room.Parallel && x.plan.Round() == 1 && len(x.plan.Members()) > 1
}

// sideBySide asks the members of a round at once. All are shown the thread as it stands now, and
// what comes of each is recorded in written order, however fast it was. What each costs is known too
// late to keep another from being asked. A reason ends the run.
func (x *run) sideBySide() (langrooms.Reason, error) {
	if err := x.lost(); err != nil {
		return "", fmt.Errorf("asking on the thread %q: %w", x.Thread(), err)
	}
	x.room.Events = oneAtATime(x.room.Events)
	asked := x.plan.Members()
	if err := x.Afford(x.room); err != nil {
		x.unasked(asked, err.Error())
		return langrooms.ReasonMaxCost, nil
	}
	var all []*asking
	for _, member := range asked {
		p, err := prepare(x.ctx, x.room, x.view(), x.question(member))
		if err != nil {
			return "", err
		}
		all = append(all, p)
	}
	ctx, cancel := context.WithCancelCause(x.ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel(nil)
	answers := make([]chan Answer, len(all))
	for i, p := range all {
		asked, done := p.start(ctx)
		answers[i] = make(chan Answer, 1)
		asking.Go(func() {
			defer done()
			answers[i] <- p.ask(asked)
		})
	}
	return x.inOrder(asked, answers, cancel)
}

// inOrder records the answers of asked as it is their turn. A thread that is lost stops those who
// still work; what comes of them is told all the same.
func (x *run) inOrder(asked []string, answers []chan Answer, stop context.CancelCauseFunc) (langrooms.Reason, error) {
	var stopped bool
	var missing []string // whose record could not be stored
	var failed error
	for i, member := range asked {
		a := <-answers[i]
		stopped = stopped || x.stopped(a.Outcome)
		owed := append(missing[:len(missing):len(missing)], asked[i+1:]...)
		still := func() *openExchange {
			switch {
			case len(owed) > 0:
				return x.opening(owed, nil)
			case stopped:
				return nil
			}
			return x.upcoming(nil)
		}
		o, err := x.heard(&a, still)
		if err == nil && a.Record == nil && i+1 < len(asked) {
			err = x.passed(still())
		}
		if o.Unrecorded {
			missing = append(missing, member)
		}
		if err != nil && failed == nil {
			failed = err
			stop(langrooms.ErrHoldLost)
		}
	}
	switch {
	case failed != nil:
		return "", failed
	case stopped:
		return langrooms.ReasonStopped, nil
	case len(missing) > 0:
		return x.cutShort(nil), nil
	}
	return "", nil
}

// passed takes a member that has left no message off what is open. When the store is away the
// next record says it too.
func (x *run) passed(open *openExchange) error {
	if x.staging {
		return nil
	}
	if err := x.put(sourceRoom, nil, open); errors.Is(err, checkpointer.ErrFenced) {
		return err
	}
	return nil
}

// oneAtATime returns a sink for events of several members: to is told one after the other.
func oneAtATime(to langrooms.Sink) langrooms.Sink {
	if to == nil {
		return nil
	}
	var mu sync.Mutex
	return func(e langrooms.Event) {
		mu.Lock()
		defer mu.Unlock()
		to(e)
	}
}
