package sharedsession

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/thread"
)

// runner runs the turns of one agent in one room, one after the other.
type runner struct {
	// again says that something has changed since it looked for a turn.
	again bool
}

// start sees to it that the turns of a seat are run here.
func (s *Service) start(k seatKey) {
	if s.cfg.Idle {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.runners[k]; r != nil {
		r.again = true
		return
	}
	r := &runner{}
	if s.life.Go(func(context.Context) { s.run(k, r) }) {
		s.runners[k] = r
	}
}

// run holds the seat's lease while there are turns. Who has the lease is the only one to run
// them: a turn that stands as running is then one that a dead process has left.
func (s *Service) run(k seatKey, r *runner) {
	err := s.leased(k, func(ctx context.Context) error {
		for {
			ran, err := s.next(ctx, k)
			if err != nil {
				return err
			}
			if !ran && s.rests(k, r) {
				return nil
			}
		}
	})
	s.mu.Lock()
	if s.runners[k] == r {
		delete(s.runners, k)
	}
	s.mu.Unlock()
	if err != nil && s.ctx.Err() == nil {
		s.cfg.Failed(fmt.Errorf("running @%s in the room %s: %w", k.agent, k.room, err))
	}
}

// rests ends a runner that has found nothing, unless something has changed meanwhile.
func (s *Service) rests(k seatKey, r *runner) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.again {
		r.again = false
		return false
	}
	delete(s.runners, k)
	return true
}

// leased calls do under the lease of a seat: a thread's lease, of a thread that is never put
// to.
func (s *Service) leased(k seatKey, do func(context.Context) error) error {
	locker, ok := s.cfg.Saver.(checkpointer.Locker)
	if !ok {
		return do(s.ctx)
	}
	lease, err := locker.Lock(s.ctx, k.room+"/"+k.agent)
	if err != nil {
		return err
	}
	return errors.Join(do(lease.Context()), lease.Release())
}

// next runs the seat's next turn; ran is false when there is none to be run now.
func (s *Service) next(ctx context.Context, k seatKey) (ran bool, err error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	r, release := s.cfg.Room()
	defer release()
	var w wake
	var before *state
	view, err := s.change(ctx, k.room, func(st *state, now time.Time) ([]langrooms.Message, error) {
		lines := st.expire(now)
		if w, ran = st.claim(k.agent, s.estimate(k.agent, st), now); ran && w.Scribe && now.Sub(st.room.Close.At) > scribeBound {
			st.finish(w.ID, Dropped)
			ran = false
		}
		before = st.clone()
		return lines, nil
	})
	if errors.Is(err, ErrNotFound) { // it was deleted
		return false, nil
	}
	if err != nil || !ran {
		return false, err
	}
	return true, s.turn(ctx, r, before, w, view)
}

// estimate is what a turn of an agent may cost: the most that one has cost here, or that of a
// reply of usual length.
func (s *Service) estimate(agent string, st *state) float64 {
	price, ok := s.cfg.Price(agent)
	if !ok {
		return st.work.TurnCost
	}
	return max(st.work.TurnCost, (usualInput*price.InputPerMTok+usualOutput*price.OutputPerMTok)/1e6)
}

// The usual length of a turn, in tokens.
const (
	usualInput  = 2000
	usualOutput = 500
)

// expire closes a room whose time is over.
func (s *state) expire(now time.Time) []langrooms.Message {
	if c := s.ended(now); c == nil || s.room.Close != nil {
		return nil
	}
	return []langrooms.Message{line(s.close(nil, ReasonExpired, now), note{})}
}

// scribeBound is how long after the close a summary may take (spec 7).
const scribeBound = 7 * time.Second

// errStopped is the cause of a turn that was stopped, by a person or because its agent was
// taken out.
var errStopped = langrooms.Stop{Kind: langrooms.ErrorStopped}

// began makes a context for a turn that ends when the turn is stopped, here or by another
// process.
func (s *Service) began(ctx context.Context, room string, w wake) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	s.turns[w.ID] = cancel
	s.mu.Unlock()
	s.life.Go(func(context.Context) { s.guard(ctx, cancel, room, w) })
	return ctx, func() {
		s.mu.Lock()
		delete(s.turns, w.ID)
		s.mu.Unlock()
		cancel(nil)
	}
}

// guard ends a turn that is not the room's any more.
func (s *Service) guard(ctx context.Context, cancel context.CancelCauseFunc, room string, w wake) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		st, _, err := s.get(ctx, room)
		if err == nil && (st == nil || !st.owns(w)) {
			cancel(errStopped)
			return
		}
	}
}

// owns reports whether w is still the newest attempt at a turn that is not over.
func (s *state) owns(w wake) bool {
	i := s.waking(w.ID)
	return i >= 0 && s.work.Wakes[i].Attempt == w.Attempt
}

// sinceView is the part of a view behind a place.
func (s *Service) sinceView(ctx context.Context, v thread.View, from int64) ([]langrooms.Message, error) {
	var messages []langrooms.Message
	for m, err := range s.cfg.Saver.Messages(ctx, v.At, checkpointer.Range{From: from}) {
		if err != nil {
			return nil, fmt.Errorf("reading the room %q: %w", v.Thread, err)
		}
		messages = append(messages, m)
	}
	return messages, nil
}
