package late

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
)

// Config wires an [Inbox].
type Config struct {
	// Saver holds the threads. Required.
	Saver checkpointer.Saver
	// Roster is the live roster. Required.
	Roster *delegate.Live
	// Handles keeps what is waited for; nil means memory.
	Handles delegate.HandleStore
	// Health is told how each ask in the background ended; nil keeps no health view.
	Health *delegate.HealthView
	// Arrived is told of each message that has landed, one at a time. It may block until
	// ctx ends. Required.
	Arrived func(ctx context.Context, a langrooms.Arrival)
	// Failed is told when something that arrived could not be stored; nil drops it.
	Failed func(error)
}

// Inbox waits for answers. Make one with [New].
type Inbox struct {
	cfg       Config
	collector *collector
	life      context.Context
	end       context.CancelFunc
	jobs      sync.WaitGroup
	mu        sync.Mutex // guards closed against jobs
	closed    bool
	arriving  sync.Mutex // held while Arrived runs
}

// New returns an inbox that waits for nothing yet.
func New(cfg Config) (*Inbox, error) {
	switch {
	case cfg.Saver == nil:
		return nil, errors.New("late: Config.Saver is nil")
	case cfg.Roster == nil:
		return nil, errors.New("late: Config.Roster is nil")
	case cfg.Arrived == nil:
		return nil, errors.New("late: Config.Arrived is nil")
	}
	i := &Inbox{cfg: cfg}
	i.collector = newCollector(collectorConfig{live: cfg.Roster, handles: cfg.Handles, deliver: i.deliver})
	i.life, i.end = context.WithCancel(context.Background())
	return i, nil
}

// storeBound is how long handing over to the store of handles may take.
const storeBound = 10 * time.Second

// Collect waits for the answer of h and reports whether it will be waited for. It is what
// exchange.Room.Collect wants.
//
// The handle is stored under ctx, so with the lease that it carries.
func (i *Inbox) Collect(ctx context.Context, h delegate.Handle) bool {
	ctx, cancel := context.WithTimeout(ctx, storeBound)
	defer cancel()
	defer context.AfterFunc(i.life, cancel)()
	collecting, err := i.collector.Add(ctx, h)
	if err != nil {
		i.failed(err)
	}
	return collecting
}

// Claim ends the waiting for a task that the lead goes on with itself.
func (i *Inbox) Claim(thread, target, task string) {
	ctx, cancel := context.WithTimeout(i.life, storeBound)
	defer cancel()
	if _, err := i.collector.Claim(ctx, thread, target, task); err != nil {
		i.failed(err)
	}
}

// Resume takes up what an earlier process has left waiting on thread, where the handles
// are kept with the thread.
func (i *Inbox) Resume(ctx context.Context, thread string) error {
	return i.collector.Resume(ctx, thread)
}

// Withdraw ends all waiting for a thread whose history was erased.
func (i *Inbox) Withdraw(ctx context.Context, thread string) error {
	return i.collector.Withdraw(ctx, thread)
}

// Close ends all waiting and waits for what is being written. Idempotent.
func (i *Inbox) Close() {
	i.mu.Lock()
	i.closed = true
	i.mu.Unlock()
	i.end()
	i.collector.Close()
	i.jobs.Wait()
}

func (i *Inbox) failed(err error) {
	if i.cfg.Failed != nil && i.life.Err() == nil {
		i.cfg.Failed(err)
	}
}

// The pauses before another try to reach a store that is away.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

// land puts m on its thread unless what it answers was erased, and tells of it. It waits
// for a store that is away until ctx ends; what claim has given is tried once.
func (i *Inbox) land(ctx context.Context, thread string, a exchange.Anchor, m langrooms.Message, claim func(context.Context) (bool, error)) (landed bool, err error) {
	claimed := false
	once := func(ctx context.Context) (ok bool, err error) {
		ok, err = claim(ctx)
		claimed = claimed || ok
		return ok, err
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		landed, err = exchange.Land(ctx, i.cfg.Saver, thread, a, m, once)
		if landed || claimed || !errors.Is(err, checkpointer.ErrUnavailable) {
			return landed, err
		}
		select {
		case <-ctx.Done():
			return false, err
		case <-time.After(pause):
		}
	}
}

// arrive tells the program of what has landed.
func (i *Inbox) arrive(ctx context.Context, thread string, m langrooms.Message, paused bool) {
	i.arriving.Lock()
	defer i.arriving.Unlock()
	i.cfg.Arrived(ctx, langrooms.Arrival{Thread: thread, Message: m, Notice: notice(m.Stamp, paused)})
}

// notice wakes the lead, but not for what was said incognito.
func notice(s *langrooms.Stamp, paused bool) string {
	switch {
	case s.Incognito:
		return ""
	case s.Failed:
		return fmt.Sprintf("@%s, whose answer was being waited for, has failed; its message stands above. Tell the operator briefly.", s.From)
	case paused:
		return fmt.Sprintf("@%s, whose answer was being waited for, needs input; its question stands above, with the id of the parked task. "+
			"Answer it with delegate_to and resume_task_id, or ask the operator.", s.From)
	}
	return fmt.Sprintf("The answer of @%s, which was being waited for, has arrived; it stands above. Take it in and tell the operator briefly what it changes.", s.From)
}
