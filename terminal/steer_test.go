package terminal

import (
	"slices"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// /stop @NAME stops members that are at work, /skip all of them; the turn goes on.
func TestStopMembers(t *testing.T) {
	c := &Chat{}
	do := func(name, args string) string {
		t.Helper()
		cmd, _ := c.command(name)
		reply, err := cmd.Do(t.Context(), args)
		if err != nil {
			t.Error(err)
		}
		return reply.Text
	}
	same(t, "nobody is at work", "No delegate is at work.", do("stop", "@proto"))
	same(t, "nobody to skip", "No delegate is at work.", do("skip", ""))
	ctx := delegate.WithSteering(t.Context(), &c.steering)
	proto, done := delegate.Steered(ctx, "proto")
	defer done()
	reviewer, reviewed := delegate.Steered(ctx, "reviewer")
	defer reviewed()
	same(t, "another", "/stop takes the names of delegates that are at work: @proto @reviewer.", do("stop", "@oracle"))
	same(t, "no name", "/stop takes the names of delegates that are at work: @proto @reviewer.", do("stop", "please"))
	same(t, "one", "", do("stop", "@Proto"))
	if proto.Err() == nil || reviewer.Err() != nil || ctx.Err() != nil {
		t.Errorf("after /stop @Proto: %v, %v, %v", proto.Err(), reviewer.Err(), ctx.Err())
	}
	same(t, "an argument", "/skip takes no argument; /stop @NAME stops one.", do("skip", "x"))
	same(t, "the rest", "", do("skip", ""))
	if reviewer.Err() == nil || ctx.Err() != nil {
		t.Errorf("after /skip: %v, %v", reviewer.Err(), ctx.Err())
	}
}

// Of members that are asked side by side the status says who is done and waits for its place.
func TestWhoWaitsForItsPlace(t *testing.T) {
	var w watcher
	for _, e := range []langrooms.Event{
		{Type: langrooms.EventDispatchStarted, Member: "proto", Exchange: "x"},
		{Type: langrooms.EventDispatchStarted, Member: "reviewer", Exchange: "x"},
		{Type: langrooms.EventProgress, Member: "reviewer", Exchange: "x", Progress: &langrooms.Progress{Kind: langrooms.ProgressStatus, State: "answered"}},
	} {
		w.event(e)
	}
	same(t, "the status", "@proto is working · @reviewer: answered", w.now().doing)
}

// /now stops the turn that runs when its message stands in front of what is queued, not before:
// the turn's end sends the first of the queue.
func TestNow(t *testing.T) {
	s, _ := newTestScreen(false)
	s.ctx = t.Context()
	var queued [][]string
	s.chat.runs(func() { queued = append(queued, slices.Clone(s.queue)) })
	s.Update(status{busy: true})
	enter := func(text string) {
		hit(s.ed, text)
		if _, cmd := s.Update(keys["enter"]); cmd != nil {
			s.Update(cmd())
		}
	}
	enter("next")
	enter("/now first")
	same(t, "queued at the stop", [][]string{{"first", "next"}}, queued)
	s.Update(status{})
	same(t, "queued then", []string{"next"}, s.queue)
	s.Update(status{busy: true})
	s.Update(overMsg{})
	enter("/now")
	same(t, "queued at a stop without a message", [][]string{{"first", "next"}, {"next"}}, queued)
}
