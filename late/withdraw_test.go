package late

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/lifetime"
)

func TestWithdrawals(t *testing.T) {
	tests := []struct {
		name     string
		withdraw func(t *testing.T, c *collection, p *peer)
	}{
		{"rewind, delete, fork onto the thread, here or in another process", func(t *testing.T, c *collection, _ *peer) { c.handles.DropHandles(ctx, "main") }},
		{"the delegate left the roster", func(t *testing.T, c *collection, _ *peer) { c.live.Swap(nil) }},
		{"new url or credential", func(_ *testing.T, _ *collection, p *peer) { p.change(func() { p.key = "peer-2" }) }},
		{"a delegate of that name with another peer", func(t *testing.T, c *collection, p *peer) {
			other := newPeer(p.read)
			other.key = "peer-2"
			c.live.Swap(roster(t, other))
		}},
		{"a delegate of that name whose tasks cannot be read", func(t *testing.T, c *collection, _ *peer) {
			c.live.Swap(roster(t, &fake{name: "slow"}))
		}},
		{"the lead has collected it", func(t *testing.T, c *collection, _ *peer) {
			if stood, err := c.Claim(ctx, "main", "slow", "t1"); !stood || err != nil {
				t.Errorf("Claim = %v, %v", stood, err)
			}
			if stood, _ := c.Claim(ctx, "main", "slow", "t1"); stood {
				t.Error("a second Claim was true")
			}
		}},
		{"by hand", func(t *testing.T, c *collection, _ *peer) {
			for _, other := range [][2]string{{"main", "other"}, {"other", "slow"}} {
				if stood, err := c.Withdraw(ctx, other[0], other[1]); stood || err != nil {
					t.Errorf("Withdraw of %v = %v, %v", other, stood, err)
				}
			}
			if stood, err := c.Withdraw(ctx, "main", "slow"); !stood || err != nil {
				t.Errorf("Withdraw = %v, %v", stood, err)
			}
			if stood, _ := c.Withdraw(ctx, "main", "slow"); stood {
				t.Error("a second Withdraw was true")
			}
			if n := c.waiting(); n > 0 {
				t.Errorf("%d are still followed", n)
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name+", between polls", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(after(3, answered))
				c := collect(t, p)
				c.add(t, "t1")
				wait(6 * time.Second) // two polls
				test.withdraw(t, c, p)
				wait(ages)
				if got := c.results(); len(got) > 0 || p.count() != 2 {
					t.Errorf("results %v after %d polls", got, p.count())
				}
				if left, _ := c.handles.Handles(ctx, "main"); len(left)+c.waiting() > 0 {
					t.Errorf("left over: %v, %d", left, c.waiting())
				}
			})
		})
		t.Run(test.name+", during a poll", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reading, goOn := make(chan struct{}), make(chan struct{})
				p := newPeer(func(context.Context, int) (delegate.TaskView, error) {
					close(reading)
					<-goOn
					return answered, nil
				})
				c := collect(t, p)
				c.add(t, "t1")
				<-reading
				test.withdraw(t, c, p)
				close(goOn)
				wait(ages)
				if got := c.results(); len(got) > 0 || len(p.rejoined) > 0 {
					t.Errorf("results %v, rejoined %v", got, p.rejoined)
				}
			})
		})
	}
}

// A withdrawal that comes while the delivery waits for the thread's lease wins.
func TestARewindBeforeTheClaimWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := make(chan struct{})
		p := newPeer(after(1, answered))
		live := delegate.NewLive(roster(t, p))
		stood := make(chan bool, 1)
		handles, life := NewMemoryHandles(), lifetime.New(nil)
		c := newCollector(collectorConfig{live: live, handles: handles, life: life, deliver: func(ctx context.Context, l result) {
			<-lease
			ok, _ := l.Claim(ctx)
			stood <- ok
		}})
		if ok, err := c.Add(ctx, delegate.Handle{Thread: "main", Delegate: "slow", Task: "t1"}, true); !ok || err != nil {
			t.Fatal(ok, err)
		}
		wait(3 * time.Second)
		if err := handles.DropHandles(ctx, "main"); err != nil { // by whoever holds the lease
			t.Fatal(err)
		}
		close(lease)
		if <-stood {
			t.Error("the claim stood after the rewind")
		}
		life.Close()
		live.Close()
	})
}
