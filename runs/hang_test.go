package runs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/runs"
)

// hungLeases gives a lease only when its context has ended: none, or, late, one all the same.
type hungLeases struct {
	*memorysaver.Saver
	late bool
	held *int
}

type countedLease struct {
	checkpointer.Lease
	held *int
}

func (l countedLease) Release() error {
	*l.held--
	return l.Lease.Release()
}

func (h hungLeases) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	<-ctx.Done()
	if !h.late {
		return nil, context.Cause(ctx)
	}
	lease, err := h.Saver.Lock(context.WithoutCancel(ctx), thread)
	*h.held++
	return countedLease{lease, h.held}, err
}

// A store that hangs holds nobody who asks for a run: neither beyond a bound, nor beyond the
// caller's own end; and a lease that comes after that is given back.
func TestAStoreThatGivesNoLease(t *testing.T) {
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t)
			held := 0
			saver := s.saver.(*memorysaver.Saver)
			s.saver = hungLeases{saver, late, &held}
			m := s.manager()
			_, err := m.Accept(t.Context(), runs.Request{Thread: thread, Input: runs.Input{Text: "put"}})
			if err == nil || !strings.Contains(err.Error(), "the store gave no lease within") {
				t.Errorf("late %v: %v", late, err)
			}
			gone, leave := context.WithCancel(t.Context())
			leave()
			if _, err := m.Accept(gone, runs.Request{Thread: thread, Input: runs.Input{Text: "put"}}); !errors.Is(err, context.Canceled) {
				t.Errorf("late %v: a caller that has gone: %v", late, err)
			}
			if held != 0 {
				t.Errorf("late %v: %d leases were kept", late, held)
			}
		})
	}
}
