package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/langrooms/langrooms/checkpointer"
)

// earlier is the run of an earlier request with q's key; none has not Again set.
func (m *Manager) earlier(ctx context.Context, q Request) (Run, error) {
	if q.Key == "" {
		return Run{}, nil
	}
	r, err := m.book.again(ctx, checkpointer.Ref{Thread: q.Thread, Namespace: Namespace}, q.Key, q.Digest)
	if err != nil || r.ID == "" {
		return Run{}, err
	}
	r, err = m.closeIfDead(ctx, r)
	r.Again = err == nil
	return r, err
}

// check refuses what the strategy refuses, and makes way where it says so, but not by ending the
// run that q has asked for before.
func (m *Manager) check(ctx context.Context, q Request) (Run, error) {
	switch q.Strategy {
	case "", Enqueue:
		return Run{}, nil
	case Rollback:
		if m.cfg.Undo == nil {
			return Run{}, fmt.Errorf("the strategy %s: %w", Rollback, errors.ErrUnsupported)
		}
	case Reject, Interrupt:
	default:
		return Run{}, fmt.Errorf("there is no strategy %q", q.Strategy)
	}
	live, err := m.Live(ctx, q.Thread)
	if err != nil {
		return Run{}, err
	}
	for _, r := range live {
		if same, err := r.same(q.Key, q.Digest); same {
			r.Again = err == nil
			return r, err
		}
	}
	return Run{}, m.makeWay(ctx, q, live)
}

// makeWay ends the live runs of a thread, or refuses.
func (m *Manager) makeWay(ctx context.Context, q Request, live []Run) error {
	if q.Strategy == Reject && len(live) > 0 {
		return fmt.Errorf("%w: run %s on the thread %q", ErrBusy, live[0].ID, q.Thread)
	}
	for _, r := range live { // newest first: what waits must not begin
		if err := m.halt(ctx, r.Thread, r.ID, q.Strategy == Rollback, newer); err != nil && !errors.Is(err, ErrUnknown) {
			return err
		}
	}
	for _, r := range live {
		if err := m.Wait(ctx, r.Thread, r.ID); err != nil {
			return err
		}
	}
	return nil
}

// liveWithin bounds how far back live runs are looked for: they are the newest.
const liveWithin = 50

// Live returns the live runs of a thread, newest first.
func (m *Manager) Live(ctx context.Context, thread string) ([]Run, error) {
	newest, err := m.List(ctx, thread, liveWithin)
	var live []Run
	for _, r := range newest {
		if r.Status.Live() {
			live = append(live, r)
		}
	}
	return live, err
}
