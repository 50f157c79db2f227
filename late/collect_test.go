package late

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

func TestCollectionOutcomes(t *testing.T) {
	lost := errors.New("connection refused")
	failure := &delegate.Error{Delegate: "slow", Kind: delegate.KindFailed, Err: errors.New("it broke"), Accepted: true}
	tests := []struct {
		name   string
		read   func(context.Context, int) (delegate.TaskView, error)
		want   []ending
		looks  int
		rejoin string
	}{
		{"answered at the first look", after(1, answered), []ending{endedAnswered}, 1, "main ctx-1"},
		{"answered later", after(5, answered), []ending{endedAnswered}, 5, "main ctx-1"},
		{"answered without text", after(1, delegate.TaskView{State: delegate.TaskAnswered, ContextID: "c"}), []ending{endedAnswered}, 1, ""},
		{"paused", after(2, delegate.TaskView{State: delegate.TaskPaused, Reply: delegate.Reply{Text: "⏸", Paused: true}, ContextID: "c"}), []ending{endedPaused}, 2, ""},
		{"failed", after(3, delegate.TaskView{State: delegate.TaskFailed, Err: failure}), []ending{endedFailed}, 3, ""},
		{"unknown state is working", after(3, delegate.TaskView{State: "dreaming"}), []ending{endedGaveUp}, 125, ""},
		{"never settles", after(1<<30, answered), []ending{endedGaveUp}, 125, ""},
		{"settles at the last look", after(125, answered), []ending{endedAnswered}, 125, "main ctx-1"},
		{"unknown task", func(context.Context, int) (delegate.TaskView, error) {
			return delegate.TaskView{}, &delegate.Error{Kind: delegate.KindFailed, Err: delegate.ErrUnknownTask}
		}, nil, 1, ""},
		{"lost touch", func(context.Context, int) (delegate.TaskView, error) { return delegate.TaskView{}, lost }, []ending{endedLostTouch}, 8, ""},
		{"seven failed looks, then an answer", func(_ context.Context, n int) (delegate.TaskView, error) {
			if n%8 != 0 {
				return delegate.TaskView{}, lost
			}
			if n < 32 {
				return delegate.TaskView{State: delegate.TaskWorking}, nil
			}
			return answered, nil
		}, []ending{endedAnswered}, 32, "main ctx-1"},
		{"a look that hangs is a failed look", func(ctx context.Context, _ int) (delegate.TaskView, error) {
			<-ctx.Done()
			return delegate.TaskView{}, ctx.Err()
		}, []ending{endedLostTouch}, 8, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(test.read)
				c := collect(t, p)
				c.add(t, "t1")
				wait(ages)
				if got := c.results(); !slices.Equal(got, test.want) || p.count() != test.looks {
					t.Errorf("results %v after %d looks, want %v after %d", got, p.count(), test.want, test.looks)
				}
				if got := strings.Join(p.rejoined, ","); got != test.rejoin {
					t.Errorf("rejoined %q, want %q", got, test.rejoin)
				}
				if left, _ := c.handles.Handles(ctx, "main"); len(left)+c.waiting() > 0 {
					t.Errorf("left over: %v, %d", left, c.waiting())
				}
				if len(c.late) == 1 {
					h := c.late[0].Handle
					if h.ID == "" || h.Peer != "peer-1" || h.Stamp.Exchange != "e1" || h.Stamp.Round != 2 || h.Stamp.Seen != 7 || !h.Stamp.Incognito || h.Since.IsZero() {
						t.Errorf("the handle came back as %+v", h)
					}
				}
			})
		})
	}
}

func TestCollectionRhythm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(after(1<<30, answered))
		c := collect(t, p)
		c.add(t, "t1")
		wait(ages)
		want := []time.Duration{2 * time.Second, 5 * time.Second, 9500 * time.Millisecond, 16250 * time.Millisecond}
		if got := p.looks[:4]; !slices.Equal(got, want) {
			t.Errorf("first looks at %v, want %v", got, want)
		}
		n := len(p.looks)
		if pause := p.looks[20] - p.looks[19]; pause != 30*time.Second {
			t.Errorf("the longest pause is %v", pause)
		}
		if last := p.looks[n-1]; last != time.Hour {
			t.Errorf("the last look is at %v", last)
		}
		if c.late[0].Err != nil {
			t.Errorf("gave up with %v although the peer was in touch", c.late[0].Err)
		}
	})
}

func TestTheNewerTaskReplacesTheOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(nil)
		p.read = func(context.Context, int) (delegate.TaskView, error) { return answered, nil }
		c := collect(t, p)
		c.add(t, "t1")
		wait(time.Second)
		c.add(t, "t2")
		wait(ages)
		if len(c.late) != 1 || c.late[0].Task != "t2" || p.count() != 1 {
			t.Errorf("delivered %v after %d looks", c.late, p.count())
		}
		if stood, err := c.Claim(ctx, "main", "slow", "t2"); stood || err != nil {
			t.Errorf("a Claim after the delivery = %v, %v", stood, err)
		}
	})
}

func TestThreadsAreCollectedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := collect(t, newPeer(after(1, answered)))
		for _, thread := range []string{"a", "b", "ab"} {
			if ok, err := c.Add(ctx, delegate.Handle{Thread: thread, Delegate: "slow", Task: "t1"}, true); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if err := c.handles.DropHandles(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		wait(ages)
		if len(c.late) != 2 {
			t.Errorf("delivered %v", c.late)
		}
	})
}

func TestWhatCannotBeCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(after(1, answered))
		c := collect(t, p)
		plain := &fake{name: "plain"}
		c.live.Swap(roster(t, p, plain))
		for _, h := range []delegate.Handle{
			{Thread: "main", Delegate: "plain", Task: "t1"},
			{Thread: "main", Delegate: "gone", Task: "t1"},
			{Thread: "main", Delegate: "slow"},
			{Delegate: "slow", Task: "t1"},
		} {
			if ok, err := c.Add(ctx, h, true); ok || err != nil {
				t.Errorf("Add(%+v) = %v, %v", h, ok, err)
			}
		}
		p.change(func() { p.keyErr = errors.New("SLOW_TOKEN is not set") })
		if ok, err := c.Add(ctx, delegate.Handle{Thread: "main", Delegate: "slow", Task: "t1"}, true); ok || err == nil || !strings.Contains(err.Error(), "@slow") {
			t.Errorf("without a credential: Add = %v, %v", ok, err)
		}
		c.Close()
		c.Close()
		p.change(func() { p.keyErr = nil })
		if ok, err := c.Add(ctx, delegate.Handle{Thread: "main", Delegate: "slow", Task: "t1"}, true); ok || !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: Add = %v, %v", ok, err)
		}
	})
}

// Two collectors over one store stand for two processes, and for a restart.
func TestResumeAndExactlyOnceAcrossCollectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(after(6, answered))
		first := collect(t, p)
		first.add(t, "t1")
		wait(6 * time.Second)
		first.Close()
		wait(30 * time.Minute)

		var both [2]*collection
		for i := range both {
			both[i] = collect(t, p)
			both[i].cfg.handles = first.handles
			for range 2 { // a second Resume changes nothing
				if _, err := both[i].Resume(ctx, "main"); err != nil {
					t.Fatal(err)
				}
			}
			if n := both[i].waiting(); n != 1 {
				t.Errorf("collector %d waits for %d handles", i, n)
			}
		}
		wait(ages)
		if n := len(both[0].late) + len(both[1].late); n != 1 || len(first.late) > 0 {
			t.Errorf("delivered %d times", n)
		}
		both[0].Close()
		first.stash(t)
		if _, err := both[0].Resume(ctx, "main"); !errors.Is(err, ErrClosed) {
			t.Errorf("Resume after Close = %v", err)
		}
	})
}

// stash stores a handle without following it.
func (c *collection) stash(t *testing.T) {
	t.Helper()
	if err := c.handles.PutHandle(ctx, delegate.Handle{ID: "h", Thread: "main", Delegate: "slow", Task: "t1"}); err != nil {
		t.Fatal(err)
	}
}

// The hour counts from the ask, also over a restart.
func TestAnOldHandleGetsItsLastLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(after(1<<30, answered))
		c := collect(t, p)
		h := delegate.Handle{ID: "h", Thread: "main", Delegate: "slow", Task: "t1", Peer: "peer-1", Since: time.Now().Add(-ages)}
		if err := c.handles.PutHandle(ctx, h); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Resume(ctx, "main"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := c.results(); !slices.Equal(got, []ending{endedGaveUp}) || p.count() != 1 {
			t.Errorf("results %v after %d looks", got, p.count())
		}
	})
}

// A handle that an earlier process left is looked at as soon as it is taken up.
func TestATakenUpHandleIsLookedAtAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(after(1, answered))
		c := collect(t, p)
		h := delegate.Handle{ID: "h", Thread: "main", Delegate: "slow", Task: "t1", Peer: "peer-1", Since: time.Now().Add(-time.Minute)}
		if err := c.handles.PutHandle(ctx, h); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Resume(ctx, "main"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := c.results(); !slices.Equal(got, []ending{endedAnswered}) {
			t.Errorf("results %v before any time has passed", got)
		}
	})
}

// brokenStore is a store that has gone away.
type brokenStore struct{ delegate.HandleStore }

var errStore = errors.New("the store is gone")

func (brokenStore) HasHandle(context.Context, delegate.Handle) (bool, error) { return false, errStore }

func (brokenStore) Handles(context.Context, string) ([]delegate.Handle, error) { return nil, errStore }

func TestAStoreThatIsGoneIsNotAWithdrawal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(after(1, answered))
		c := collect(t, p)
		c.cfg.handles = brokenStore{c.handles}
		c.add(t, "t1")
		wait(ages)
		if len(c.late) != 1 || c.late[0].Result != endedLostTouch || !errors.Is(c.late[0].Err, errStore) || p.count() > 0 {
			t.Errorf("delivered %+v after %d looks", c.late, p.count())
		}
		if _, err := c.Resume(ctx, "main"); !errors.Is(err, errStore) {
			t.Errorf("Resume = %v", err)
		}
		if _, err := c.Claim(ctx, "main", "slow", "t1"); !errors.Is(err, errStore) {
			t.Errorf("Claim = %v", err)
		}
	})
}

func TestCloseEndsLooksAndDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(func(ctx context.Context, _ int) (delegate.TaskView, error) {
			<-ctx.Done()
			return delegate.TaskView{}, ctx.Err()
		})
		c := collect(t, p)
		c.add(t, "t1")
		wait(3 * time.Second)
		c.Close()
		if left, _ := c.handles.Handles(ctx, "main"); len(left) != 1 || len(c.results()) > 0 {
			t.Errorf("after Close the store has %v, delivered %v", left, c.results())
		}
	})
}

func TestACollectionBetweenLooksDoesNotHoldTheRoster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(after(1<<30, answered))
		c := collect(t, p)
		c.add(t, "t1")
		wait(3 * time.Second)
		c.live.Swap(nil)
		synctest.Wait()
		if p.closed() != 1 {
			t.Error("a collection between looks keeps the delegate open")
		}
	})
}
