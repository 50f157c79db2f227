package late

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/lifetime"
)

// peer is a delegate whose tasks can be looked at.
type peer struct {
	fake
	key    string
	keyErr error
	// read answers the nth look, from 1.
	read func(ctx context.Context, n int) (delegate.TaskView, error)

	mu       sync.Mutex
	looks    []time.Duration // since start
	start    time.Time
	rejoined []string
}

func newPeer(read func(ctx context.Context, n int) (delegate.TaskView, error)) *peer {
	return &peer{fake: fake{name: "slow"}, key: "peer-1", read: read, start: time.Now()}
}

func (p *peer) PeerKey() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.key, p.keyErr
}

func (p *peer) ReadTask(ctx context.Context, task string) (delegate.TaskView, error) {
	if task != "t1" && task != "t2" {
		return delegate.TaskView{}, errors.New("another task: " + task)
	}
	p.mu.Lock()
	p.looks = append(p.looks, time.Since(p.start))
	n := len(p.looks)
	p.mu.Unlock()
	return p.read(ctx, n)
}

func (p *peer) Rejoin(_ context.Context, thread, _, contextID string) error {
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
func after(n int, view delegate.TaskView) func(context.Context, int) (delegate.TaskView, error) {
	return func(_ context.Context, i int) (delegate.TaskView, error) {
		if i < n {
			return delegate.TaskView{State: delegate.TaskWorking}, nil
		}
		return view, nil
	}
}

var answered = delegate.TaskView{State: delegate.TaskAnswered, Reply: delegate.Reply{Text: "done at last"}, ContextID: "ctx-1"}

// collection is a collector with what it delivered.
type collection struct {
	*collector
	live    *delegate.Live
	handles delegate.HandleStore

	mu   sync.Mutex
	late []result
}

// collect starts a collector over p, closed with the test.
func collect(t *testing.T, p *peer) *collection {
	t.Helper()
	c := &collection{live: delegate.NewLive(roster(t, p)), handles: NewMemoryHandles()}
	c.collector = newCollector(collectorConfig{live: c.live, handles: c.handles, deliver: c.deliver, life: lifetime.New(nil)})
	t.Cleanup(func() {
		c.Close()
		c.live.Close()
	})
	return c
}

func (c *collection) deliver(ctx context.Context, l result) {
	if stood, err := l.Claim(ctx); !stood || err != nil {
		return
	}
	c.mu.Lock()
	c.late = append(c.late, l)
	c.mu.Unlock()
	l.Rejoin(ctx, "")
}

func (c *collection) Close() { c.cfg.life.Close() }

func (c *collection) results() []ending {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []ending
	for _, l := range c.late {
		all = append(all, l.Result)
	}
	return all
}

func (c *collection) add(t *testing.T, task string) {
	t.Helper()
	collecting, err := c.Add(ctx, delegate.Handle{Thread: "main", Delegate: "slow", Task: task, Stamp: langrooms.Stamp{From: "slow", Exchange: "e1", Round: 2, Seen: 7, Incognito: true}}, true)
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

// waiting counts the handles that are being collected.
func (c *collection) waiting() int {
	c.collector.mu.Lock()
	defer c.collector.mu.Unlock()
	return len(c.jobs)
}

var ctx = context.Background()

// fake is a delegate that counts how often it was closed.
type fake struct {
	name   string
	closes atomic.Int32
}

func (f *fake) Info() delegate.Info { return delegate.Info{Name: f.name, Type: "test"} }

func (f *fake) Ask(context.Context, delegate.Request) (delegate.Reply, error) {
	return delegate.Reply{}, errors.ErrUnsupported
}

func (f *fake) Probe(context.Context) (delegate.Health, error) {
	return delegate.Health{}, errors.ErrUnsupported
}

func (f *fake) Close() error {
	f.closes.Add(1)
	return nil
}

func (f *fake) closed() int { return int(f.closes.Load()) }

func roster(t *testing.T, delegates ...delegate.Delegate) *delegate.Registry {
	t.Helper()
	r, err := delegate.NewRegistry(delegates...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
