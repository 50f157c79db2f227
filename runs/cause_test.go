package runs_test

import (
	"context"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/runs"
)

// A turn learns why it was stopped, also when another process asks for it.
func TestAStopSaysWhy(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	waiting, stops := make(chan struct{}), make(chan langrooms.Stop, 1)
	manager := func() *runs.Manager {
		m, err := runs.New(runs.Config{Saver: saver, Turn: func(ctx context.Context, _ runs.Run, in runs.Input, _ runs.Feed) (langrooms.Result, error) {
			if in.Text == "wait" {
				waiting <- struct{}{}
				<-ctx.Done()
				stops <- langrooms.StopOf(ctx)
			}
			return langrooms.Result{}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		return m
	}
	here, there := manager(), manager()
	for _, tt := range []struct {
		what string
		stop func(*runs.Manager, runs.Run) error
		want langrooms.Stop
	}{
		{"cancel", func(m *runs.Manager, r runs.Run) error { return m.Cancel(t.Context(), r.Thread, r.ID, false) },
			langrooms.Stop{Kind: langrooms.ErrorStopped}},
		{"abandon", func(m *runs.Manager, r runs.Run) error { return m.Abandon(t.Context(), r.Thread, r.ID) }, langrooms.ErrDisconnected},
		{"a newer run", func(m *runs.Manager, r runs.Run) error {
			_, err := m.Accept(t.Context(), runs.Request{Thread: r.Thread, Strategy: runs.Interrupt})
			return err
		}, langrooms.Stop{Kind: langrooms.ErrorStopped, By: "a newer run on the thread"}},
	} {
		for _, m := range []*runs.Manager{here, there} {
			r, err := here.Accept(t.Context(), runs.Request{Thread: "t", Input: runs.Input{Text: "wait"}})
			if err != nil {
				t.Fatal(err)
			}
			<-waiting
			if err := tt.stop(m, r); err != nil {
				t.Fatal(err)
			}
			if got := <-stops; got != tt.want {
				t.Errorf("%s: %+v, want %+v", tt.what, got, tt.want)
			}
			if err := here.Wait(t.Context(), "t", r.ID); err != nil {
				t.Error(err)
			}
		}
	}
}
