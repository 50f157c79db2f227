package delegate

import (
	"context"
	"slices"
	"sync"

	"github.com/langrooms/langrooms"
)

// Steering reaches into turns while they run: it stops single members that are being asked, and the
// turn goes on without them. Whoever runs a turn gives it to the turn's context by [WithSteering];
// [Steered] is for whoever asks. The zero value is ready, serves one turn after another or several
// at once, and is safe for concurrent use.
type Steering struct {
	mu    sync.Mutex
	asked []*steered
}

type steered struct {
	member string
	stop   context.CancelCauseFunc
}

// Stop stops what a member is being asked, or with "" all that is being asked, for why. It returns
// the members that it has stopped, in the order in which they were asked.
func (s *Steering) Stop(member string, why langrooms.Stop) (stopped []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.asked {
		if member == "" || a.member == member {
			a.stop(why)
			stopped = append(stopped, a.member)
		}
	}
	return stopped
}

// Asked lists the members that are being asked, in the order in which they were.
func (s *Steering) Asked() (members []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.asked {
		members = append(members, a.member)
	}
	return members
}

type steeringKey struct{}

// WithSteering returns a context under which s reaches the members that are asked.
func WithSteering(ctx context.Context, s *Steering) context.Context {
	return context.WithValue(ctx, steeringKey{}, s)
}

// Steered returns the context for asking a member, which ends when the steering of ctx, if there is
// one, stops the member. done must be called when the member has been heard.
func Steered(ctx context.Context, member string) (asking context.Context, done func()) {
	s, ok := ctx.Value(steeringKey{}).(*Steering)
	if !ok {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	a := &steered{member, cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, a)
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = slices.DeleteFunc(s.asked, func(other *steered) bool { return other == a })
		cancel(nil)
	}
}
