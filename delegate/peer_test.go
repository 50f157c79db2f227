package delegate

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// peer is a delegate whose tasks can be looked at.
type peer struct {
	fake
	key    string
	keyErr error
	// read answers the nth look, from 1.
	read func(ctx context.Context, n int) (TaskView, error)

	mu       sync.Mutex
	looks    []time.Duration // since start
	start    time.Time
	rejoined []string
}

func newPeer(read func(ctx context.Context, n int) (TaskView, error)) *peer {
	return &peer{fake: fake{name: "slow"}, key: "peer-1", read: read, start: time.Now()}
}

func (p *peer) PeerKey() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.key, p.keyErr
}

func (p *peer) ReadTask(ctx context.Context, task string) (TaskView, error) {
	if task != "t1" && task != "t2" {
		return TaskView{}, errors.New("another task: " + task)
	}
	p.mu.Lock()
	p.looks = append(p.looks, time.Since(p.start))
	n := len(p.looks)
	p.mu.Unlock()
	return p.read(ctx, n)
}

func (p *peer) Rejoin(_ context.Context, thread, contextID string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rejoined = append(p.rejoined, thread+" "+contextID)
	return nil
}

func (p *peer) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *peer) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.looks)
}

// after answers working until look n, then view.
func after(n int, view TaskView) func(context.Context, int) (TaskView, error) {
	return func(_ context.Context, i int) (TaskView, error) {
		if i < n {
			return TaskView{State: TaskWorking}, nil
		}
		return view, nil
	}
}

var answered = TaskView{State: TaskAnswered, Reply: Reply{Text: "done at last"}, ContextID: "ctx-1"}

// collection is a collector with what it delivered.
type collection struct {
	*Collector
	live    *Live
	handles *MemoryHandles

	mu   sync.Mutex
	late []Late
}

// collect starts a collector over p, closed with the test.
func collect(t *testing.T, p *peer) *collection {
	t.Helper()
	c := &collection{live: NewLive(roster(t, p)), handles: NewMemoryHandles()}
	var err error
	c.Collector, err = NewCollector(CollectorConfig{Live: c.live, Handles: c.handles, Deliver: c.deliver})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		c.live.Close()
	})
	return c
}

func (c *collection) deliver(ctx context.Context, l Late) {
	if stood, err := l.Claim(ctx); !stood || err != nil {
		return
	}
	c.mu.Lock()
	c.late = append(c.late, l)
	c.mu.Unlock()
	l.Rejoin(ctx)
}

func (c *collection) results() []LateResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []LateResult
	for _, l := range c.late {
		all = append(all, l.Result)
	}
	return all
}

func (c *collection) add(t *testing.T, task string) {
	t.Helper()
	collecting, err := c.Add(ctx, Handle{Thread: "main", Delegate: "slow", Task: task, Exchange: "e1", Round: 2, Seen: 7, Incognito: true})
	if !collecting || err != nil {
		t.Fatalf("Add = %v, %v", collecting, err)
	}
}

// longer than any collection.
const ages = 2 * time.Hour

// wait lets d pass in the test's bubble.
func wait(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}
