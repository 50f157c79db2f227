package runs_test

import (
	"context"
	"errors"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/runs"
)

// A run's events are the same for a reader from the start, one that joins later, one after
// the end, and one in another process.
func TestEvents(t *testing.T) {
	s := newStage(t)
	here, there := s.manager(), s.manager()
	r := accept(t, here, "say wait say", "")
	whole := []string{"0 running", "1 piece", "2 piece", "3 result done", "4 success"}
	<-s.waiting
	readers := make(chan []string, 2)
	for _, m := range []*runs.Manager{here, there} {
		go func() { readers <- shape(t, m, r.ID, 0) }()
	}
	if got := status(t, there, r.ID); got != runs.Running {
		t.Errorf("status %s", got)
	}
	close(s.letGo)
	want(t, "a live reader", <-readers, whole)
	want(t, "another", <-readers, whole)
	want(t, "after the end", shape(t, here, r.ID, 0), whole)
	want(t, "in another process", shape(t, there, r.ID, 0), whole)
	want(t, "resumed", shape(t, there, r.ID, 3), whole[3:])
	if got := status(t, here, r.ID); got != runs.Success {
		t.Errorf("status %s", got)
	}
}

func TestFailure(t *testing.T) {
	s := newStage(t)
	m := s.manager()
	r := accept(t, m, "fail", "")
	want(t, "events", shape(t, m, r.ID, 0), []string{"0 running", "1 error"})
	got, err := m.Get(t.Context(), thread, r.ID)
	if err != nil || got.Status != runs.Failed || got.Error != "the store is away" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestQueue(t *testing.T) {
	s := newStage(t)
	m := s.manager()
	first := accept(t, m, "wait put", "")
	second := accept(t, m, "put", runs.Enqueue)
	<-s.waiting
	if got := status(t, m, second.ID); got != runs.Pending {
		t.Errorf("the second is %s", got)
	}
	_, err := m.Accept(t.Context(), runs.Request{Thread: thread, Strategy: runs.Reject, Input: runs.Input{Text: "put"}})
	if !errors.Is(err, runs.ErrBusy) {
		t.Errorf("reject: %v", err)
	}
	if err := m.Remove(t.Context(), thread, first.ID); !errors.Is(err, runs.ErrLive) {
		t.Errorf("removing a live run: %v", err)
	}
	close(s.letGo)
	if err := m.Wait(t.Context(), thread, second.ID); err != nil {
		t.Fatal(err)
	}
	want(t, "the thread", s.texts(), []string{first.ID, second.ID})
	list, err := m.List(t.Context(), thread, 0)
	if err != nil || len(list) != 2 || list[0].ID != second.ID {
		t.Errorf("the list: %+v, %v", list, err)
	}
	if err := m.Remove(t.Context(), thread, first.ID); err != nil {
		t.Error(err)
	}
	if _, err := m.Get(t.Context(), thread, first.ID); !errors.Is(err, runs.ErrUnknown) {
		t.Errorf("after Remove: %v", err)
	}
}

// Interrupt keeps what the first run wrote, Rollback takes it back; both from either process.
func TestMakingWay(t *testing.T) {
	for _, tt := range []struct {
		strategy runs.Strategy
		keeps    bool
	}{{runs.Interrupt, true}, {runs.Rollback, false}} {
		for _, elsewhere := range []bool{false, true} {
			s := newStage(t)
			here := s.manager()
			other := here
			if elsewhere {
				other = s.manager()
			}
			first := accept(t, here, "put wait", "")
			queued := accept(t, here, "put", "")
			<-s.waiting
			second := accept(t, other, "put", tt.strategy)
			if err := other.Wait(t.Context(), thread, second.ID); err != nil {
				t.Fatal(err)
			}
			texts := []string{second.ID}
			if tt.keeps {
				texts = []string{first.ID, second.ID}
			}
			want(t, string(tt.strategy), s.texts(), texts)
			for _, id := range []string{first.ID, queued.ID} {
				if got := status(t, other, id); got != runs.Interrupted {
					t.Errorf("%s: %s", tt.strategy, got)
				}
			}
		}
	}
}

func TestCancel(t *testing.T) {
	s := newStage(t)
	here, there := s.manager(), s.manager()
	for _, m := range []*runs.Manager{here, there} {
		r := accept(t, here, "say wait", "")
		<-s.waiting
		if err := m.Cancel(t.Context(), thread, r.ID, false); err != nil {
			t.Fatal(err)
		}
		want(t, "events", shape(t, m, r.ID, 0), []string{"0 running", "1 piece", "2 result ", "3 interrupted"})
		if err := m.Cancel(t.Context(), thread, r.ID, false); err != nil {
			t.Errorf("cancelling again: %v", err)
		}
	}
	if err := here.Cancel(t.Context(), thread, "nope", false); !errors.Is(err, runs.ErrUnknown) {
		t.Errorf("an unknown run: %v", err)
	}
}

// A run whose process has died is closed by whoever meets it.
func TestDeadOwner(t *testing.T) {
	s := newStage(t)
	dead := langrooms.Message{ID: "r1", Role: langrooms.RoleSystem,
		Parts: []langrooms.Part{langrooms.TextPart(`{"id":"r1","status":"running","owner":"gone"}`)}}
	_, err := s.saver.Put(t.Context(), checkpointer.Ref{Thread: thread, Namespace: runs.Namespace}, checkpointer.Step{Log: checkpointer.Append(dead)})
	if err != nil {
		t.Fatal(err)
	}
	m := s.manager()
	want(t, "events", shape(t, m, "r1", 0), []string{"0 error"})
	got, err := m.Get(t.Context(), thread, "r1")
	if err != nil || got.Status != runs.Failed || got.Error == "" {
		t.Errorf("%+v, %v", got, err)
	}
	accept(t, m, "put", runs.Reject)
}

// Draining lets live runs end and takes no new ones; closing stops them.
func TestEnd(t *testing.T) {
	s := newStage(t)
	m := s.manager()
	r := accept(t, m, "wait", "")
	<-s.waiting
	drained := make(chan struct{})
	ctx, giveUp := context.WithCancel(t.Context())
	go func() {
		m.Drain(ctx)
		close(drained)
	}()
	for { // until the drain has begun
		extra, err := m.Accept(t.Context(), runs.Request{Thread: "other", Input: runs.Input{Text: "say"}})
		if errors.Is(err, runs.ErrDraining) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Wait(t.Context(), "other", extra.ID); err != nil {
			t.Fatal(err)
		}
	}
	giveUp()
	<-drained
	m.Close()
	m.Close()
	if got := status(t, s.manager(), r.ID); got != runs.Interrupted {
		t.Errorf("status %s", got)
	}
}

// An incognito run leaves no events in the store.
func TestIncognito(t *testing.T) {
	s := newStage(t)
	m := s.manager()
	r, err := m.Accept(t.Context(), runs.Request{Thread: thread, Input: runs.Input{Text: "say wait", Incognito: true}})
	if err != nil {
		t.Fatal(err)
	}
	<-s.waiting
	close(s.letGo)
	want(t, "a live reader", shape(t, m, r.ID, 0), []string{"0 running", "1 piece", "2 result done", "3 success"})
	if err := m.Wait(t.Context(), thread, r.ID); err != nil {
		t.Fatal(err)
	}
	for _, err := range m.Events(t.Context(), thread, r.ID, 0) {
		if !errors.Is(err, runs.ErrGone) {
			t.Errorf("after the end: %v", err)
		}
	}
	for info, err := range s.saver.(checkpointer.Lister).Threads(t.Context()) {
		if err != nil || runs.Internal(info.Thread) {
			t.Errorf("the store has %q, %v", info.Thread, err)
		}
	}
}

// lateLeases gives a lease only once whoever waits for it has lost patience.
type lateLeases struct{ *memorysaver.Saver }

func (l lateLeases) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	<-ctx.Done()
	return l.Saver.Lock(context.WithoutCancel(ctx), thread)
}

// A lease that comes after all when a run's owner is looked for is not kept: it would say for
// ever that somebody runs the run.
func TestALeaseThatComesLate(t *testing.T) {
	s := newStage(t)
	dead := langrooms.Message{ID: "r1", Role: langrooms.RoleSystem,
		Parts: []langrooms.Part{langrooms.TextPart(`{"id":"r1","status":"running","owner":"gone"}`)}}
	saver := s.saver.(*memorysaver.Saver)
	if _, err := saver.Put(t.Context(), checkpointer.Ref{Thread: thread, Namespace: runs.Namespace}, checkpointer.Step{Log: checkpointer.Append(dead)}); err != nil {
		t.Fatal(err)
	}
	s.saver = lateLeases{saver}
	if _, err := s.manager().Get(t.Context(), thread, "r1"); err != nil {
		t.Fatal(err)
	}
	s.saver = saver
	if got := status(t, s.manager(), "r1"); got != runs.Failed {
		t.Errorf("another process finds the run %s", got)
	}
}
