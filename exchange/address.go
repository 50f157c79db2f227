package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/room"
)

// run is one address on its way through the room.
type run struct {
	*Turn
	room     Room
	address  Address
	exchange string
	plan     room.Run
	outcomes []langrooms.Outcome
	ctx      context.Context
}

// Address stores the address, asks its members round by round, stores each reply as it
// arrives, and returns what the operator gets. The error is one of ours (the address could
// not be stored, the lease was lost); a delegate's failure is an outcome. The result comes
// with the error as far as it got.
//
// When ctx ends the member being asked is told to stop and the run ends there, recorded as
// stopped (langrooms.StopOf); that is a result and no error.
func (t *Turn) Address(ctx context.Context, r Room, a Address) (langrooms.Result, error) {
	x := &run{Turn: t, room: r, address: a, exchange: langrooms.NewID(), plan: room.NewRun(a.To, r.MaxRounds).About(a.Message)}
	x.address.To = x.plan.Members()
	if err := errors.Join(x.checkMembers(), langrooms.CheckFiles(a.Said.Parts)); err != nil {
		return langrooms.Result{Thread: t.hold.Thread()}, err
	}
	var stop context.CancelFunc
	x.ctx, stop = t.dispatchContext(ctx)
	defer stop()
	to := x.address.To
	address := room.NewAddress(a.From.Name, to, x.exchange, a.Message, a.Incognito).As(a.Said)
	address.Stamp.Task = a.Resume
	first := x.opening(to[:1], to[1:])
	if x.parallel() {
		first = x.opening(to, nil)
	}
	t.Tell()
	if err := t.record(address, first); err != nil {
		return langrooms.Result{Thread: t.hold.Thread()}, err
	}
	reason, err := x.rounds()
	if cerr := x.settle(); err == nil {
		err = cerr
	}
	return x.result(reason), err
}

func (x *run) checkMembers() error {
	if len(x.address.To) == 0 {
		return fmt.Errorf("%w: the address names nobody", ErrNoMember)
	}
	for _, name := range x.address.To {
		if _, ok := x.room.Roster.Get(name); !ok {
			return fmt.Errorf("%w: @%s", ErrNoMember, name)
		}
	}
	return nil
}

// dispatchContext ends with the operator's ctx and when another writer is known to have
// the thread. A store that cannot be reached, which a lease may say by a cause that is
// ErrUnavailable too, does not end it: the answer that a delegate is working on can still
// be shown. It carries the lease, for what is kept with the thread.
func (t *Turn) dispatchContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if token, ok := checkpointer.Fence(t.hold.Context(), t.hold.Thread()); ok {
		ctx = checkpointer.WithFence(ctx, t.hold.Thread(), token)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(t.hold.Context(), func() {
		cause := context.Cause(t.hold.Context())
		if errors.Is(cause, checkpointer.ErrFenced) && !errors.Is(cause, checkpointer.ErrUnavailable) {
			cancel(langrooms.ErrHoldLost)
		}
	})
	return ctx, func() { stop(); cancel(nil) }
}

// rounds asks the members, round by round, to the end of the run.
func (x *run) rounds() (langrooms.Reason, error) {
	for {
		ask := x.oneByOne
		if x.parallel() {
			ask = x.sideBySide
		}
		if reason, err := ask(); reason != "" || err != nil {
			return reason, err
		}
		next, reason, done := x.plan.NextRound()
		if done {
			return reason, nil
		}
		x.plan = next
	}
}

// oneByOne asks the members of a round in written order. A reason ends the run.
func (x *run) oneByOne() (langrooms.Reason, error) {
	asked := x.plan.Members()
	for i, member := range asked {
		if err := x.Afford(x.room); err != nil {
			x.unasked(asked[i:], err.Error())
			return langrooms.ReasonMaxCost, nil
		}
		o, err := x.dispatch(member, asked[i+1:])
		switch {
		case err != nil:
			return "", err
		case x.stopped(o):
			x.unasked(asked[i+1:], unaskedCause)
			return langrooms.ReasonStopped, nil
		case o.Unrecorded:
			return x.cutShort(asked[i+1:]), nil
		}
	}
	return "", nil
}

// dispatch asks one member and records what came of it; rest are the members still to be
// asked in this round. The error is one of ours.
func (x *run) dispatch(member string, rest []string) (langrooms.Outcome, error) {
	if err := x.announce(member, rest); err != nil {
		return langrooms.Outcome{}, err
	}
	if err := x.lost(); err != nil {
		return langrooms.Outcome{}, fmt.Errorf("asking @%s on the thread %q: %w", member, x.Thread(), err)
	}
	a, err := Ask(x.ctx, x.room, x.view(), x.question(member))
	if err != nil {
		return langrooms.Outcome{}, err
	}
	return x.heard(&a, func() *openExchange {
		if x.stopped(a.Outcome) {
			return nil
		}
		return x.upcoming(rest)
	})
}

// stopped reports whether o ends the run; a member that was stopped by itself does not.
func (x *run) stopped(o langrooms.Outcome) bool { return o.ErrorKind.Ours() && x.ctx.Err() != nil }

// lost is why the thread has been lost although nobody has stopped the run.
func (x *run) lost() error {
	if x.ctx.Err() != nil {
		return nil
	}
	return context.Cause(x.Context())
}

func (x *run) question(member string) Question {
	return Question{
		Files: x.files(member), Exchange: x.exchange, Round: x.plan.Round(), From: x.address.From, Member: member, Message: x.address.Message,
		MayPass: x.plan.MultiRound(), Literal: x.plan.MultiRound() && !x.plan.OffersPass(),
		Incognito: x.address.Incognito, Timeout: x.address.Timeout, Resume: x.address.Resume,
	}
}

// heard records an answer; upcoming is asked, once the plan knows its outcome, for what is open
// on the thread after it. The error is one of ours.
func (x *run) heard(a *Answer, upcoming func() *openExchange) (langrooms.Outcome, error) {
	err := a.settle(x.hold.Outliving(), x.room, x.Next(), func() error {
		x.plan = x.plan.Record(a.Outcome)
		x.chargeOutcome(a.Outcome)
		if a.Record == nil {
			return nil
		}
		open := upcoming()
		if open == nil {
			return x.recordLast(*a.Record) // nobody is asked after it
		}
		return x.record(*a.Record, open)
	})
	x.outcomes = append(x.outcomes, a.Outcome)
	return a.Outcome, err
}

// announce sees to it that the thread says who is being asked. The put of the address, or
// of the reply before, has usually said so already.
func (x *run) announce(member string, rest []string) error {
	if x.staging || x.open != nil && slices.Contains(x.open.Running, member) && x.open.Round == x.plan.Round() {
		return nil
	}
	return x.put(sourceRoom, nil, x.opening([]string{member}, rest))
}

// cutShortCause is why a member was not asked after a reply before could not be stored.
const cutShortCause = "stopped: the answer before it could not be stored"

// unaskedCause is why a member was not asked after the run was stopped at one before.
const unaskedCause = "stopped before it was asked"

// cutShort ends a run that cannot go on because the last reply is not on the thread, where
// the next member would have to read it. Of rest, the members still to be asked in this
// round, those of the first round get a word instead.
func (x *run) cutShort(rest []string) langrooms.Reason {
	x.unasked(rest, cutShortCause)
	if x.plan.Round() > 1 {
		return langrooms.ReasonExhausted
	}
	if len(rest) > 0 || x.plan.MultiRound() {
		return langrooms.ReasonExhausted
	}
	return langrooms.ReasonAnswered
}

// unasked gives each of rest, the members still to be asked in a round that ends for cause, an
// outcome: in the first round they are owed an answer, later nobody who waits is.
func (x *run) unasked(rest []string, cause string) {
	if x.plan.Round() > 1 {
		return
	}
	for _, member := range rest {
		o := langrooms.Outcome{Author: member, Round: 1, Error: cause,
			ErrorKind: langrooms.ErrorUnasked, Started: time.Now().UTC()}
		x.outcomes = append(x.outcomes, o)
		x.room.emit(x.Thread(), x.exchange, langrooms.Event{Type: langrooms.EventDispatchEnded, Member: member, Round: 1, Outcome: &o})
	}
}

// opening is the open exchange while members are being asked and rest wait in this round.
// In later rounds nobody who waits is owed an answer.
func (x *run) opening(asked, rest []string) *openExchange {
	if x.staging {
		return nil
	}
	o := &openExchange{Exchange: x.exchange, Round: x.plan.Round(), Running: slices.Clone(asked), Incognito: x.address.Incognito}
	if o.Round == 1 {
		o.Waiting = slices.Clone(rest)
	}
	return o
}

// upcoming is the open exchange after the member before rest has been heard; the plan
// already knows its outcome.
func (x *run) upcoming(rest []string) *openExchange {
	if len(rest) > 0 {
		return x.opening(rest[:1], rest[1:])
	}
	next, _, done := x.plan.NextRound()
	if done {
		return nil
	}
	o := x.opening(next.Members()[:1], nil)
	if o != nil {
		o.Round = next.Round()
	}
	return o
}

// settle closes the exchange on the thread when its last member left no message to do so.
// One whose record is missing stays open: the next turn says so.
func (x *run) settle() error {
	if x.staging || slices.ContainsFunc(x.outcomes, func(o langrooms.Outcome) bool { return o.Unrecorded }) || x.open == nil || x.open.Exchange != x.exchange {
		return nil
	}
	return x.put(sourceRoom, nil, nil)
}

func (x *run) result(reason langrooms.Reason) langrooms.Result {
	notes := room.NotesOf(x.outcomes, reason, room.ClampRounds(x.room.MaxRounds))
	notes.Interrupted = x.Interrupted()
	if x.address.Group != "" {
		notes.Group, notes.Meant, notes.Left = x.address.Group, x.address.To, x.address.Left
	}
	if reason == langrooms.ReasonMaxCost {
		notes.Cost, notes.MaxCost = x.spent.CostUSD, x.room.MaxCostUSD
	}
	var spent langrooms.Spending
	text, aside := room.Compose(x.address.To, x.outcomes, notes)
	result := langrooms.Result{
		Thread: x.Thread(), Handled: true, Exchange: x.exchange, Reason: reason,
		Text: text, Aside: aside, Notes: notes, Outcomes: x.outcomes,
	}
	for _, o := range x.outcomes {
		if s, ok := spentOn(o); ok {
			spent = spent.Plus(s)
		}
	}
	if spent.Known() {
		result.Spent = &spent
	}
	if reason == langrooms.ReasonStopped {
		stop := langrooms.StopOf(x.ctx)
		result.Stopped = &stop
	}
	return result
}
