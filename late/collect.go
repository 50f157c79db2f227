package late

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/lifetime"
)

// ending says how a collection ended.
type ending string

// How a collection can end. One that is withdrawn, or whose task the peer does not know
// any more, ends without a word.
const (
	// endedAnswered: the task completed; View has the reply.
	endedAnswered ending = "answered"
	// endedPaused: the task waits for input; View has the question.
	endedPaused ending = "paused"
	// endedFailed: the task failed; View has the error.
	endedFailed ending = "failed"
	// endedGaveUp: the task was still running after an hour.
	endedGaveUp ending = "gave_up"
	// endedLostTouch: eight polls in a row failed; Err is the last one's error.
	endedLostTouch ending = "lost_touch"
)

// result is what a collection brought.
type result struct {
	delegate.Handle
	Result ending
	View   delegate.TaskView
	Err    error

	store  delegate.HandleStore
	reader delegate.TaskReader
}

// Claim ends the waiting for this answer and reports whether it still stood. It is true
// for exactly one caller, and false after a withdrawal or when the answer went another
// way. Whoever writes the answer holds the thread's lease, claims, and writes only when
// that is true: then no rewind can come in between.
func (l result) Claim(ctx context.Context) (bool, error) { return l.store.TakeHandle(ctx, l.Handle) }

// Rejoin lets the member's next address continue the conversation that the answer came
// from. It is called under the thread's lease, in its present epoch, after the answer was written.
func (l result) Rejoin(ctx context.Context, epoch string) error {
	if l.Result != endedAnswered || l.View.Reply.Text == "" {
		return nil
	}
	return l.reader.Rejoin(ctx, l.Thread, epoch, l.View.ContextID)
}

// collectorConfig says what a [collector] polls and where it delivers.
type collectorConfig struct {
	// live is the roster whose delegates are polled.
	live *delegate.Live
	// handles keeps what is waited for.
	handles delegate.HandleStore
	// deliver is given each result, on a goroutine of its own collection; it claims the
	// result before it writes anything. One that it does not claim stays in handles, for
	// Resume. Its context is life's.
	deliver func(ctx context.Context, late result)
	// life owns the collections. What the store has stays there when it ends, for Resume.
	life *lifetime.Life
}

// collector waits in the background for the answers of members whose addresses gave up
// while the peer was still working (spec: rooms, 7.5). It asks the peer about that one
// task, read-only: first after 2 s, then at intervals that grow by half up to 30 s. It
// gives up after an hour, with one last poll, or after 8 failed polls in a row. A handle
// that does not stand any more, by its store, its delegate or its peer, ends its
// collection quietly.
//
// It is safe for concurrent use. None of its methods waits for a delivery.
type collector struct {
	cfg collectorConfig

	// adding keeps what is stored and what is followed in one order.
	adding sync.Mutex
	mu     sync.Mutex
	jobs   map[waiting]*job
}

// job is one collection under way.
type job struct {
	handle delegate.Handle
	cancel context.CancelFunc
	// polled is closed when the task has been polled once, and what that found delivered.
	polled chan struct{}
	once   sync.Once
}

func (j *job) first() { j.once.Do(func() { close(j.polled) }) }

// newCollector returns a collector that waits for nothing yet.
func newCollector(cfg collectorConfig) *collector {
	return &collector{cfg: cfg, jobs: make(map[waiting]*job)}
}

// Add begins to wait for h, in place of an older task of the same thread and delegate. It
// reports false when nothing can be collected: the delegate is gone, cannot be polled,
// or names no task. With follow false the handle is only kept, for Resume.
func (c *collector) Add(ctx context.Context, h delegate.Handle, follow bool) (collecting bool, err error) {
	roster, release := c.cfg.live.Acquire()
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
	if err := c.cfg.handles.PutHandle(ctx, h); err != nil {
		return false, fmt.Errorf("waiting for @%s's late answer: %w", h.Delegate, err)
	}
	if follow && c.start(h) == nil {
		return false, ErrClosed
	}
	return true, nil
}

// Resume takes up the handles that the store has for thread and that are not waited for
// yet: after a restart, or in another process. Each of the channels is closed when one of
// them has been polled.
func (c *collector) Resume(ctx context.Context, thread string) (polled []<-chan struct{}, err error) {
	c.adding.Lock()
	defer c.adding.Unlock()
	handles, err := c.cfg.handles.Handles(ctx, thread)
	if err != nil {
		return nil, fmt.Errorf("late answers of thread %q: %w", thread, err)
	}
	for _, h := range handles {
		j := c.start(h)
		if j == nil {
			return polled, ErrClosed
		}
		polled = append(polled, j.polled)
	}
	return polled, nil
}

// Claim ends the waiting for a task because its answer has come another way, such as by
// the lead's own hand. It reports whether the task was still waited for: when not, the
// answer has been delivered or was never waited for.
func (c *collector) Claim(ctx context.Context, thread, member, task string) (bool, error) {
	return c.take(ctx, thread, func(h delegate.Handle) bool { return h.Delegate == member && h.Task == task })
}

// Withdraw ends the waiting for whatever is waited for of member on thread, and reports like Claim.
func (c *collector) Withdraw(ctx context.Context, thread, member string) (bool, error) {
	return c.take(ctx, thread, func(h delegate.Handle) bool { return h.Delegate == member })
}

// take takes all handles that fit, and reports whether one of them still stood.
func (c *collector) take(ctx context.Context, thread string, fits func(delegate.Handle) bool) (stood bool, err error) {
	handles, err := c.cfg.handles.Handles(ctx, thread)
	if err != nil {
		return false, fmt.Errorf("late answers of thread %q: %w", thread, err)
	}
	for _, h := range handles {
		if !fits(h) {
			continue
		}
		took, err := c.cfg.handles.TakeHandle(ctx, h)
		if err != nil {
			return stood, fmt.Errorf("late answers of thread %q: %w", thread, err)
		}
		c.stop(h)
		stood = stood || took
	}
	return stood, nil
}

// start begins to follow h, unless that is being done; nil means closed.
func (c *collector) start(h delegate.Handle) *job {
	c.mu.Lock()
	defer c.mu.Unlock()
	older := c.jobs[waitingOf(h)]
	if older != nil && older.handle.ID == h.ID {
		return older
	}
	ctx, cancel := context.WithCancel(c.cfg.life.Context())
	j := &job{handle: h, cancel: cancel, polled: make(chan struct{})}
	if !c.cfg.life.Go(func(context.Context) {
		defer c.finished(j)
		c.follow(ctx, j)
	}) {
		cancel()
		return nil
	}
	if older != nil {
		older.cancel()
	}
	c.jobs[waitingOf(h)] = j
	return j
}

func (c *collector) finished(j *job) {
	j.cancel()
	j.first()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.jobs[waitingOf(j.handle)] == j {
		delete(c.jobs, waitingOf(j.handle))
	}
}

// stop cancels the polls of h.
func (c *collector) stop(h delegate.Handle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j := c.jobs[waitingOf(h)]; j != nil && j.handle.ID == h.ID {
		j.cancel()
		delete(c.jobs, waitingOf(h))
	}
}

// readerOf returns the delegate of this name when its tasks can be polled.
func readerOf(roster *delegate.Registry, name string) (delegate.TaskReader, bool) {
	d, ok := roster.Get(name)
	if !ok {
		return nil, false
	}
	reader, ok := d.(delegate.TaskReader)
	return reader, ok
}
