package delegate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/langrooms/langrooms"
)

// LateResult says how a collection ended.
type LateResult string

// How a collection can end. One that is withdrawn, or whose task the peer does not know
// any more, ends without a word.
const (
	// LateAnswered: the task completed; View has the reply.
	LateAnswered LateResult = "answered"
	// LatePaused: the task waits for input; View has the question.
	LatePaused LateResult = "paused"
	// LateFailed: the task failed; View has the error.
	LateFailed LateResult = "failed"
	// LateGaveUp: the task was still running after an hour.
	LateGaveUp LateResult = "gave_up"
	// LateLostTouch: eight looks in a row failed; Err is the last one's error.
	LateLostTouch LateResult = "lost_touch"
)

// Late is what a collection brought.
type Late struct {
	Handle
	Result LateResult
	View   TaskView
	Err    error

	store  HandleStore
	reader TaskReader
}

// Claim ends the waiting for this answer and reports whether it still stood. It is true
// for exactly one caller, and false after a withdrawal or when the answer went another
// way. Whoever writes the answer holds the thread's lease, claims, and writes only when
// that is true: then no rewind can come in between.
func (l Late) Claim(ctx context.Context) (bool, error) { return l.store.TakeHandle(ctx, l.Handle) }

// Rejoin lets the member's next address continue the conversation that the answer came
// from. It is called under the thread's lease, after the answer was written.
func (l Late) Rejoin(ctx context.Context) error {
	if l.Result != LateAnswered || l.View.Reply.Text == "" {
		return nil
	}
	return l.reader.Rejoin(ctx, l.Thread, l.View.ContextID)
}

// CollectorConfig says where a [Collector] looks and delivers.
type CollectorConfig struct {
	// Live is the roster whose delegates are looked at. Required.
	Live *Live
	// Handles keeps what is waited for; nil means memory.
	Handles HandleStore
	// Deliver is given each result, on a goroutine of its own collection; it claims the
	// result before it writes anything. One that it does not claim stays in Handles, for
	// Resume. Its context ends with Close, and Close waits for it. Required.
	Deliver func(ctx context.Context, late Late)
}

// Collector waits in the background for the answers of members whose addresses gave up
// while the peer was still working (spec: rooms, 7.5). It asks the peer about that one
// task, read-only: first after 2 s, then at intervals that grow by half up to 30 s. It
// gives up after an hour, with one last look, or after 8 failed looks in a row. A handle
// that does not stand any more, by its store, its delegate or its peer, ends its
// collection quietly.
//
// It is safe for concurrent use. None of its methods waits for a delivery but Close.
type Collector struct {
	cfg  CollectorConfig
	life context.Context
	end  context.CancelFunc

	// adding keeps what is stored and what is followed in one order.
	adding sync.Mutex
	mu     sync.Mutex
	closed bool
	jobs   map[waiting]*job
	work   sync.WaitGroup
}

// job is one collection under way.
type job struct {
	handle Handle
	cancel context.CancelFunc
}

// ErrCollectorClosed is returned for a handle that comes after Close.
var ErrCollectorClosed = errors.New("late answers are not collected any more: the collector is closed")

// NewCollector returns a collector that waits for nothing yet.
func NewCollector(cfg CollectorConfig) (*Collector, error) {
	if cfg.Live == nil || cfg.Deliver == nil {
		return nil, errors.New("collector: Live and Deliver are required")
	}
	if cfg.Handles == nil {
		cfg.Handles = NewMemoryHandles()
	}
	c := &Collector{cfg: cfg, jobs: make(map[waiting]*job)}
	c.life, c.end = context.WithCancel(context.Background())
	return c, nil
}

// Add begins to wait for h, in place of an older task of the same thread and delegate. It
// reports false when nothing can be collected: the delegate is gone, cannot be looked at,
// or names no task.
func (c *Collector) Add(ctx context.Context, h Handle) (collecting bool, err error) {
	roster, release := c.cfg.Live.Acquire()
	defer release()
	reader, ok := readerOf(roster, h.Delegate)
	if !ok || h.Task == "" || h.Thread == "" {
		return false, nil
	}
	if h.ID == "" {
		h.ID = langrooms.NewID()
	}
	if h.Since.IsZero() {
		h.Since = time.Now().UTC()
	}
	if h.Peer == "" {
		if h.Peer, err = reader.PeerKey(); err != nil {
			return false, fmt.Errorf("waiting for @%s's late answer: %w", h.Delegate, err)
		}
	}
	c.adding.Lock()
	defer c.adding.Unlock()
	if err := c.cfg.Handles.PutHandle(ctx, h); err != nil {
		return false, fmt.Errorf("waiting for @%s's late answer: %w", h.Delegate, err)
	}
	if !c.start(h) {
		return false, ErrCollectorClosed
	}
	return true, nil
}

// Resume takes up the handles that the store has for thread and that are not waited for
// yet: after a restart, or in another process.
func (c *Collector) Resume(ctx context.Context, thread string) error {
	c.adding.Lock()
	defer c.adding.Unlock()
	handles, err := c.cfg.Handles.Handles(ctx, thread)
	if err != nil {
		return fmt.Errorf("late answers of thread %q: %w", thread, err)
	}
	for _, h := range handles {
		if !c.start(h) {
			return ErrCollectorClosed
		}
	}
	return nil
}

// Claim ends the waiting for a task because its answer has come another way, such as by
// the lead's own hand. It reports whether the task was still waited for: when not, the
// answer has been delivered or was never waited for.
func (c *Collector) Claim(ctx context.Context, thread, delegate, task string) (bool, error) {
	handles, err := c.cfg.Handles.Handles(ctx, thread)
	if err != nil {
		return false, fmt.Errorf("late answers of thread %q: %w", thread, err)
	}
	for _, h := range handles {
		if h.Delegate == delegate && h.Task == task {
			c.stop(func(other Handle) bool { return other.ID == h.ID })
			return c.cfg.Handles.TakeHandle(ctx, h)
		}
	}
	return false, nil
}

// Withdraw ends all waiting for a thread: a rewind, a delete, being the target of a fork.
func (c *Collector) Withdraw(ctx context.Context, thread string) error {
	c.stop(func(h Handle) bool { return h.Thread == thread })
	if err := c.cfg.Handles.DropHandles(ctx, thread); err != nil {
		return fmt.Errorf("late answers of thread %q: %w", thread, err)
	}
	return nil
}

// WithdrawDelegate ends the waiting for a delegate that left the roster. A delegate that
// now has another peer or credential needs no call: its handles do not stand.
func (c *Collector) WithdrawDelegate(ctx context.Context, name string) error {
	var errs []error
	for _, h := range c.stop(func(h Handle) bool { return h.Delegate == name }) {
		if _, err := c.cfg.Handles.TakeHandle(ctx, h); err != nil {
			errs = append(errs, fmt.Errorf("late answer of @%s on thread %q: %w", name, h.Thread, err))
		}
	}
	return errors.Join(errs...)
}

// Waiting lists the handles that are being collected, in no order.
func (c *Collector) Waiting() []Handle {
	c.mu.Lock()
	defer c.mu.Unlock()
	var handles []Handle
	for _, j := range c.jobs {
		handles = append(handles, j.handle)
	}
	return handles
}

// Close ends all collections and waits for them. What the store has stays there, for
// Resume. Idempotent.
func (c *Collector) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.work.Wait()
}

// start begins to follow h, unless that is being done; false means closed.
func (c *Collector) start(h Handle) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	if older, ok := c.jobs[h.waiting()]; ok {
		if older.handle.ID == h.ID {
			return true
		}
		older.cancel()
	}
	ctx, cancel := context.WithCancel(c.life)
	j := &job{h, cancel}
	c.jobs[h.waiting()] = j
	c.work.Go(func() {
		defer c.finished(j)
		c.follow(ctx, h)
	})
	return true
}

func (c *Collector) finished(j *job) {
	j.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.jobs[j.handle.waiting()] == j {
		delete(c.jobs, j.handle.waiting())
	}
}

// stop cancels the looks at the handles that match, and returns those.
func (c *Collector) stop(match func(Handle) bool) []Handle {
	c.mu.Lock()
	defer c.mu.Unlock()
	var stopped []Handle
	for w, j := range c.jobs {
		if match(j.handle) {
			j.cancel()
			delete(c.jobs, w)
			stopped = append(stopped, j.handle)
		}
	}
	return stopped
}

// readerOf returns the delegate of this name when its tasks can be looked at.
func readerOf(roster *Registry, name string) (TaskReader, bool) {
	d, ok := roster.Get(name)
	if !ok {
		return nil, false
	}
	reader, ok := d.(TaskReader)
	return reader, ok
}
