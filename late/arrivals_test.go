package late_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/delegatetool"
	"github.com/langrooms/langrooms/durable"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/late"
	"github.com/langrooms/langrooms/room"
)

// delegated has the lead ask @slow on a thread in the background.
func (pr *program) delegated(thread, query string) {
	pr.t.Helper()
	turn, err := exchange.Begin(pr.t.Context(), pr.saver, thread)
	if err != nil {
		pr.t.Fatal(err)
	}
	id := langrooms.NewID()
	job := delegatetool.Job{Thread: thread, Target: "slow", Query: query, Exchange: id, Anchor: turn.Next()}
	err = pr.inbox.Background(job)
	err = errors.Join(err, turn.Put("room", room.NewAddress(langrooms.Assistant, []string{"slow"}, id, query, false)), turn.End())
	if err != nil {
		pr.t.Fatal(err)
	}
}

// A reader that takes nothing holds up neither its own thread nor another, and what it
// missed is counted.
func TestASlowReaderStallsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{ask: func(_ context.Context, req delegate.Request) (delegate.Reply, error) {
			return delegate.Reply{Text: req.Prompt}, nil
		}}
		pr := start(t, memory(t), nil, p)
		slow, leave := pr.inbox.Arrivals("slow")
		other, _ := pr.inbox.Arrivals("other")
		all, _ := pr.inbox.AllArrivals()
		const many = 70
		for i := range many {
			pr.delegated("slow", fmt.Sprint(i))
			synctest.Wait()
		}
		pr.delegated("other", "one")
		expect(t, "of the other thread", "other", (<-other).Thread)
		expect(t, "landed", many*2, len(messages(t, pr.saver, "slow")))
		got, missed := drain(slow)
		expect(t, "kept for the slow reader", 64, got)
		expect(t, "missed", many-64, missed)
		got, missed = drain(all)
		expect(t, "on all threads", many+1, got+missed)
		leave()
		if _, open := <-slow; open {
			t.Error("the channel is open after leaving")
		}
		leave()
		pr.stop()
		if _, open := <-other; open {
			t.Error("the channel is open after Close")
		}
		after, _ := pr.inbox.Arrivals("slow")
		if _, open := <-after; open {
			t.Error("a channel after Close is open")
		}
	})
}

// drain takes what is there.
func drain(arrivals <-chan langrooms.Arrival) (got, missed int) {
	for {
		select {
		case a := <-arrivals:
			got++
			missed += a.Missed
		default:
			return got, missed
		}
	}
}

// A member that was offered to pass, and does so late, has said nothing; one that was not
// has answered.
func TestALatePass(t *testing.T) {
	for text, offered := range map[string]bool{"**PASS**": true, "pass": false, "": true} {
		t.Run(fmt.Sprintf("%s %v", text, offered), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				saver := memory(t)
				p := &peer{read: after(2, answers(text))}
				handles := late.NewMemoryHandles()
				pr := start(t, saver, handles, p)
				handle := delegate.Handle{Thread: thread, Delegate: "slow", Task: "k1", Stamp: langrooms.Stamp{From: "slow", Exchange: "x1", Round: 1}, Silence: offered}
				turn := begin(t, saver)
				handle.Anchor = turn.Next()
				failed := room.NewReply(langrooms.Stamp{From: "slow", Exchange: "x1", Round: 1, Failed: true}, "(still at it)")
				waiting := pr.inbox.Collect(turn.Context(), handle)
				if err := errors.Join(turn.Put("room", failed), turn.End()); err != nil || waiting != delegate.Waited {
					t.Fatal(waiting, err)
				}
				if offered {
					pr.quiet()
					expect(t, "messages", 1, len(transcript(t, saver)))
					left, err := handles.Handles(t.Context(), thread)
					if err != nil || len(left) > 0 {
						t.Errorf("it is still waited for: %v, %v", left, err)
					}
					return
				}
				pr.arrival()
				expect(t, "messages", 2, len(transcript(t, saver)))
			})
		})
	}
}

// A program of one turn keeps what is late. The next one, of one turn too, has on its thread
// what was ready before its turn begins, and does not wait long for what is not.
func TestWhatIsReadyIsTakenUpFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		ready int // the poll that finds the answer
		want  int // messages on the thread
		bound time.Duration
	}{
		"ready":             {1, 3, 0},
		"not ready":         {2, 2, 0},
		"a peer that hangs": {0, 2, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				saver := memory(t)
				p := &peer{read: func(ctx context.Context, n int) (delegate.TaskView, error) {
					if tt.ready == 0 {
						<-ctx.Done()
						return delegate.TaskView{}, ctx.Err()
					}
					return after(tt.ready, answers("done"))(ctx, n)
				}}
				first := startWith(t, late.Config{Saver: saver, Handles: durable.New(saver), OneTurn: true}, p)
				o := first.address(false)
				expect(t, "kept, collecting", []bool{true, false}, []bool{o.Kept, o.Collecting})
				settle()
				expect(t, "polls of a program of one turn", 0, p.looks)
				first.stop()
				second := startWith(t, late.Config{Saver: saver, Handles: durable.New(saver), OneTurn: true}, p)
				began := time.Now()
				if err := second.inbox.Resume(t.Context(), thread); err != nil {
					t.Fatal(err)
				}
				expect(t, "it took", tt.bound, time.Since(began))
				expect(t, "messages", tt.want, len(transcript(t, saver)))
			})
		})
	}
}
