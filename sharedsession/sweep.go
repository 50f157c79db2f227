package sharedsession

import (
	"errors"
	"time"

	"github.com/langrooms/langrooms"
)

// How often the service looks for what others have left, and how old a turn is before another
// process waits for it.
const (
	sweepEvery = 3 * time.Second
	leftAfter  = 2 * time.Second
	// sweepSlack is how far the clocks of processes may be apart.
	sweepSlack = 30 * time.Second
)

// sweep takes up turns that wait or that a dead process has left, and closes rooms whose time
// is over. The store's listing says which rooms have changed since the last look; those in
// which something is due are looked at again when it is.
func (s *Service) sweep() {
	due := map[string]time.Time{}
	var last time.Time
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		now := time.Now()
		if err := s.look(due, last, now); err == nil {
			last = now.Add(-sweepSlack)
		} else if s.ctx.Err() == nil && !errors.Is(err, errNoListing) {
			s.cfg.Failed(err)
		}
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Service) look(due map[string]time.Time, last, now time.Time) error {
	states, err := s.book.since(s.ctx, last)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, st := range states {
		seen[st.id] = true
		s.mind(due, st, now)
	}
	for id, at := range due {
		if seen[id] || now.Before(at) {
			continue
		}
		st, _, err := s.get(s.ctx, id)
		if err != nil {
			return err
		}
		if delete(due, id); st != nil {
			s.mind(due, st, now)
		}
	}
	return nil
}

// mind does what is due in a room and notes when to look again.
func (s *Service) mind(due map[string]time.Time, st *state, now time.Time) {
	delete(due, st.id)
	if st.length > st.work.Length {
		s.lapse(st.id)
	}
	if st.room.Close == nil {
		if at := st.expires(); at != nil {
			due[st.id] = *at
			if !now.Before(*at) {
				s.lapse(st.id)
				due[st.id] = now.Add(sweepEvery)
			}
		}
	}
	for _, w := range st.work.Wakes {
		due[st.id] = now
		if now.Sub(w.Since) > leftAfter {
			s.start(seatKey{st.id, w.Agent})
		}
	}
}

// lapse counts what another road has put on a room's thread, and writes the closing line of
// one whose time is over.
func (s *Service) lapse(id string) {
	_, err := s.change(s.ctx, id, func(st *state, now time.Time) ([]langrooms.Message, error) {
		return st.expire(now), nil
	})
	if err != nil && s.ctx.Err() == nil && !errors.Is(err, ErrNotFound) {
		s.cfg.Failed(err)
	}
}
