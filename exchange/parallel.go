package exchange

import (
	"cmp"
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
	answers := arrivals{came: make(chan arrival, len(all)), waiting: make(map[int]Answer)}
	for i, p := range all {
		asked, done := p.start(ctx)
		asking.Go(func() {
			a := p.ask(asked)
			done()
			answers.came <- arrival{i, a}
		})
	}
	return x.inOrder(asked, &answers, cancel)
}

// arrival is the answer of the nth member of a round.
type arrival struct {
	n int
	Answer
}

// arrivals are the answers of a round side by side.
type arrivals struct {
	came    chan arrival
	waiting map[int]Answer // came before their turn
}

// answer waits for the answer of the nth member. Of those behind it that come first it tells
// that they have ended, so that a person sees who is waited for.
func (x *run) answer(n int, in *arrivals) Answer {
	for {
		if a, ok := in.waiting[n]; ok {
			return a
		}
		a := <-in.came
		in.waiting[a.n] = a.Answer
		if a.n != n {
			a.ended(x.room)
		}
	}
}

// ended tells that a member is not at work any more, before its record is stored.
func (a *Answer) ended(r Room) {
	o := a.Outcome
	word := "answered"
	if !o.OK {
		word = cmp.Or(string(o.ErrorKind), "failed")
	}
	r.emit(a.thread, a.exchange, langrooms.Event{Type: langrooms.EventProgress, Member: o.Author, Round: o.Round, MessageID: a.id,
		Progress: &langrooms.Progress{Kind: langrooms.ProgressStatus, State: word}})
}

// inOrder records the answers of asked as it is their turn. A thread that is lost stops those who
// still work; what comes of them is told all the same.
func (x *run) inOrder(asked []string, answers *arrivals, stop context.CancelCauseFunc) (langrooms.Reason, error) {
	var stopped bool
	var missing []string // whose record could not be stored
	var failed error
	for i, member := range asked {
		a := x.answer(i, answers)
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
