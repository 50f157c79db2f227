package runs_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/runs"
)

// One member is stopped in a run of this process and of another, one after the other and at the
// same time as others say something to the owner; the run goes on.
func TestStopMember(t *testing.T) {
	stop := langrooms.Stop{Kind: langrooms.ErrorStopped, By: "ann"}
	for name, elsewhere := range map[string]bool{"here": false, "from another process": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			here := s.manager()
			from := here
			if elsewhere {
				from = s.manager()
			}
			r := accept(t, here, "ask ask put", "")
			for i := range 2 {
				<-s.waiting
				if err := from.StopMember(t.Context(), thread, r.ID, "a", stop); err != nil {
					t.Fatalf("stop %d: %v", i, err)
				}
			}
			if err := here.Wait(t.Context(), thread, r.ID); err != nil {
				t.Fatal(err)
			}
			if got := status(t, from, r.ID); got != runs.Success {
				t.Errorf("the run is %s", got)
			}
			var said []string
			for e, err := range from.Events(t.Context(), thread, r.ID, 0) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Type == runs.EventTurn {
					said = append(said, e.Turn.Text)
				}
			}
			want(t, "what was said", said, []string{"a: stopped by ann", "a: stopped by ann"})
			if err := from.StopMember(t.Context(), thread, r.ID, "a", stop); !errors.Is(err, runs.ErrNotAsked) {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

// Who is not being asked is not stopped, and a run that does not exist neither.
func TestStopMemberThatIsNotAsked(t *testing.T) {
	s := newStage(t)
	m := s.manager()
	r := accept(t, m, "ask", "")
	<-s.waiting
	if err := m.StopMember(t.Context(), thread, r.ID, "b", langrooms.Stop{}); !errors.Is(err, runs.ErrNotAsked) {
		t.Errorf("another member: %v", err)
	}
	if err := m.StopMember(t.Context(), "another", r.ID, "a", langrooms.Stop{}); !errors.Is(err, runs.ErrUnknown) {
		t.Errorf("another thread: %v", err)
	}
	if err := m.StopMember(t.Context(), thread, r.ID, "", langrooms.Stop{Kind: langrooms.ErrorStopped}); err != nil {
		t.Errorf("all: %v", err)
	}
	if err := m.Wait(t.Context(), thread, r.ID); err != nil {
		t.Error(err)
	}
}

// Words that several processes say to an owner at once are all heard: none takes another's place.
func TestWordsAtOnce(t *testing.T) {
	s := newStage(t)
	here := s.manager()
	r := accept(t, here, "ask ask ask ask wait", "")
	var saying sync.WaitGroup
	for range 4 {
		<-s.waiting
		saying.Go(func() {
			if err := s.manager().StopMember(context.WithoutCancel(t.Context()), thread, r.ID, "a", langrooms.Stop{Kind: langrooms.ErrorStopped}); err != nil {
				t.Error(err)
			}
		})
	}
	<-s.waiting
	for range 4 {
		saying.Go(func() {
			err := s.manager().StopMember(context.WithoutCancel(t.Context()), thread, r.ID, "b", langrooms.Stop{Kind: langrooms.ErrorStopped})
			if err != nil && !errors.Is(err, runs.ErrNotAsked) { // it has been cancelled by then
				t.Error(err)
			}
		})
	}
	saying.Go(func() {
		if err := s.manager().Cancel(context.WithoutCancel(t.Context()), thread, r.ID, false); err != nil {
			t.Error(err)
		}
	})
	saying.Wait()
	if err := here.Wait(t.Context(), thread, r.ID); err != nil {
		t.Fatal(err)
	}
	if got := status(t, here, r.ID); got != runs.Interrupted {
		t.Errorf("the run is %s", got)
	}
}
