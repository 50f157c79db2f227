package runs_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/runs"
)

// A request with a key that was sent before comes to its run, while it is live and afterwards; one
// with the key of another request is refused, and on another thread a key is another one.
func TestAKeyIsOneRun(t *testing.T) {
	s := newStage(t)
	m := s.manager()
	ask := runs.Request{Thread: thread, Input: runs.Input{Text: "wait put"}, Key: "k", Digest: "d"}
	first, err := m.Accept(t.Context(), ask)
	if err != nil || first.Again {
		t.Fatalf("the first: %+v, %v", first, err)
	}
	<-s.waiting
	for _, strategy := range []runs.Strategy{runs.Enqueue, runs.Reject, runs.Interrupt, runs.Rollback} {
		ask.Strategy = strategy
		again, err := m.Accept(t.Context(), ask)
		if err != nil || again.ID != first.ID || !again.Again {
			t.Errorf("%s while it runs: %+v, %v", strategy, again, err)
		}
	}
	close(s.letGo)
	if err := m.Wait(t.Context(), thread, first.ID); err != nil {
		t.Fatal(err)
	}
	again, err := s.manager().Accept(t.Context(), ask) // in another process
	if err != nil || again.ID != first.ID || !again.Again || again.Status != runs.Success {
		t.Errorf("after the end: %+v, %v", again, err)
	}
	want(t, "the thread", s.texts(), []string{first.ID})
	ask.Digest = "another"
	if _, err := m.Accept(t.Context(), ask); !errors.Is(err, runs.ErrKeyReused) {
		t.Errorf("the key for something else: %v", err)
	}
	ask.Thread, ask.Input.Text = "elsewhere", "say"
	if other, err := m.Accept(t.Context(), ask); err != nil || other.Again {
		t.Errorf("on another thread: %+v, %v", other, err)
	}
}

// meeting lets the first puts of a run's record begin together, so that each of them has found no
// run of its key.
type meeting struct {
	*memorysaver.Saver
	came sync.Map // by the step's id: who tries again does not wait
	all  sync.WaitGroup
}

func (m *meeting) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	if len(step.Log) == 1 && step.Log[0].Op == checkpointer.OpAppend && strings.Contains(step.Log[0].Message.Text(), `"key":"k"`) {
		if _, again := m.came.LoadOrStore(step.ID, true); !again {
			m.all.Done()
			m.all.Wait()
		}
	}
	return m.Saver.Put(ctx, parent, step)
}

// Parallel duplicates, at two processes, are one run, whichever strategy they ask for.
func TestParallelDuplicatesAreOneRun(t *testing.T) {
	for _, strategy := range []runs.Strategy{runs.Enqueue, runs.Interrupt} {
		s := newStage(t)
		together := &meeting{Saver: s.saver.(*memorysaver.Saver)}
		together.all.Add(8)
		s.saver = together
		managers := []*runs.Manager{s.manager(), s.manager()}
		found := make([]runs.Run, 8)
		var all sync.WaitGroup
		for i := range found {
			all.Go(func() {
				var err error
				found[i], err = managers[i%2].Accept(t.Context(), runs.Request{Thread: thread, Strategy: strategy, Input: runs.Input{Text: "put"}, Key: "k", Digest: "d"})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		fresh := 0
		for _, r := range found {
			if r.ID != found[0].ID {
				t.Errorf("%s: two runs, %s and %s", strategy, r.ID, found[0].ID)
			}
			if !r.Again {
				fresh++
			}
		}
		if err := managers[0].Wait(t.Context(), thread, found[0].ID); err != nil {
			t.Fatal(err)
		}
		if got := status(t, managers[1], found[0].ID); fresh != 1 || got != runs.Success {
			t.Errorf("%s: %d of them are the first; the run ended as %s", strategy, fresh, got)
		}
		want(t, "the thread", s.texts(), []string{found[0].ID})
	}
}
