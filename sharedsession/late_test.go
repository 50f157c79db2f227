package sharedsession_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/late"
	"github.com/langrooms/langrooms/sharedsession"
)

// slow gives up on every message; its task is answered a minute later.
type slow struct {
	*voice
	ready time.Time
}

func (s *slow) PeerKey() (string, error)                             { return "peer", nil }
func (s *slow) Rejoin(context.Context, string, string, string) error { return nil }
func (s *slow) ReadTask(context.Context, string) (delegate.TaskView, error) {
	if time.Now().Before(s.ready) {
		return delegate.TaskView{State: delegate.TaskWorking}, nil
	}
	return delegate.TaskView{State: delegate.TaskAnswered, Reply: delegate.Reply{Text: "@reviewer it was the cache"}}, nil
}

// What a peer answers after its own time-out is posted, marked late, counted, and wakes nobody.
func TestLateAnswerIsCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saver := memorysaver.New()
		peer := &slow{ready: time.Now().Add(time.Minute), voice: &voice{"proto", func(context.Context, delegate.Request) (delegate.Reply, error) {
			return delegate.Reply{}, &delegate.Error{Delegate: "proto", Kind: delegate.KindStillRunning, Task: "k", Accepted: true, Err: errors.New("still running")}
		}}}
		roster, err := delegate.NewRegistry(peer, says("reviewer", "I was woken"))
		if err != nil {
			t.Fatal(err)
		}
		inbox, err := late.New(late.Config{Saver: saver, Roster: delegate.NewLive(roster), Failed: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		w := serve(t, saver, func(c *sharedsession.Config) {
			c.Room = func() (exchange.Room, func()) {
				return exchange.Room{Roster: roster, Collect: inbox.Collect}, func() {}
			}
		})
		id := w.open("proto", "reviewer")
		p := w.ask(id, "@proto what broke?")
		<-time.After(3 * time.Minute)
		want := []string{
			"*: ada created the room with @proto, @reviewer.",
			"ada: @proto what broke?",
			"*: @proto failed: still running (its answer is posted late if it comes)",
			"proto (late): (This arrived after its turn.)\n@reviewer it was the cache",
		}
		if diff := cmp.Diff(want, w.lines(id)); diff != "" {
			t.Error(diff)
		}
		d := w.read(id)
		if last := d.Messages[3]; last.Wake == nil || *last.Wake != p.Wakes[0].ID || d.MessageCount != 2 {
			t.Errorf("%+v, %d messages", last, d.MessageCount)
		}
		w.Close()
		inbox.Close()
		saver.Close()
	})
}
