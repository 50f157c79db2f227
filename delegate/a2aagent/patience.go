package a2aagent

import (
	"context"
	"time"
)

// patience says when waiting ends: so long after the last material change, or, for a call
// with a time limit of its own, at one moment that nothing moves.
type patience struct {
	limit time.Duration
	hard  bool
	until time.Time
}

func newPatience(idle, timeout time.Duration) patience {
	p := patience{limit: idle}
	if timeout > 0 {
		p = patience{limit: timeout, hard: true}
	}
	p.until = time.Now().Add(p.limit)
	return p
}

// renew starts the time again after a material change.
func (p *patience) renew() {
	if !p.hard {
		p.until = time.Now().Add(p.limit)
	}
}

func (p *patience) left() time.Duration { return time.Until(p.until) }

// bound returns the context of the call's requests: it ends at a hard limit.
func (p *patience) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.hard {
		return context.WithDeadline(ctx, p.until)
	}
	return context.WithCancel(ctx)
}

// interval returns the time before the poll that follows one after previous: 1, 1.5,
// 2.25, 3.375 units, then 5. The unit is a second.
func interval(previous, unit time.Duration) time.Duration {
	if previous == 0 {
		return unit
	}
	return min(previous*3/2, 5*unit)
}
