package late

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/internal/lifetime"
	"github.com/langrooms/langrooms/thread"
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
	// Price is what a member's tokens cost; see exchange.Room.Price. Nil knows no prices.
	Price func(member string) *langrooms.Price
	// OneTurn says that the program ends after one turn: what it is given to collect is
	// kept, and not waited for.
	OneTurn bool
	// Failed is told when something that arrived could not be stored; nil drops it.
	Failed func(error)
}

// Inbox waits for answers. Make one with [New].
type Inbox struct {
	cfg       Config
	collector *collector
	life      *lifetime.Life
	arrivals  arrivals
}

// ErrClosed says that the inbox has been closed.
var ErrClosed = errors.New("no answers are waited for any more: the program is ending")

// New returns an inbox that waits for nothing yet.
func New(cfg Config) (*Inbox, error) {
	switch {
	case cfg.Saver == nil:
		return nil, errors.New("late: Config.Saver is nil")
	case cfg.Roster == nil:
		return nil, errors.New("late: Config.Roster is nil")
	}
	if cfg.Handles == nil {
		cfg.Handles = NewMemoryHandles()
	}
	i := &Inbox{cfg: cfg, life: lifetime.New(nil)}
	i.collector = newCollector(collectorConfig{live: cfg.Roster, handles: cfg.Handles, deliver: i.deliver, life: i.life})
	return i, nil
}

// storeBound is how long handing over to the store of handles may take.
const storeBound = 10 * time.Second

// Collect takes the answer of h over and says what becomes of it. It is what
// exchange.Room.Collect wants.
//
// The handle is stored under ctx, so with the lease that it carries.
func (i *Inbox) Collect(ctx context.Context, h delegate.Handle) delegate.Waiting {
	ctx, cancel := context.WithTimeout(ctx, storeBound)
	defer cancel()
	defer context.AfterFunc(i.life.Context(), cancel)()
	taken, err := i.collector.Add(ctx, h, !i.cfg.OneTurn)
	if err != nil {
		i.failed(err)
	}
	switch {
	case !taken:
		return delegate.NotWaited
	case i.cfg.OneTurn:
		return delegate.Kept
	}
	return delegate.Waited
}

// Arrivals returns what lands on one thread from now on. A reader that falls behind holds
// up nobody: of more than 64 that it has not taken the oldest go, and Arrival.Missed of a
// later one says how many. leave ends that; it and Close close the channel.
func (i *Inbox) Arrivals(thread string) (arrivals <-chan langrooms.Arrival, leave func()) {
	return i.arrivals.subscribe(func(other string) bool { return other == thread })
}

// AllArrivals returns what lands on any thread from now on, with the bound of
// [Inbox.Arrivals].
func (i *Inbox) AllArrivals() (arrivals <-chan langrooms.Arrival, leave func()) {
	return i.arrivals.subscribe(func(string) bool { return true })
}

// Claim ends the waiting for a task that the lead goes on with itself.
func (i *Inbox) Claim(thread, target, task string) {
	ctx, cancel := context.WithTimeout(i.life.Context(), storeBound)
	defer cancel()
	if _, err := i.collector.Claim(ctx, thread, target, task); err != nil {
		i.failed(err)
	}
}

// Waiting lists the answers that are waited for on thread, by member; what runs in the background
// is none of them. It reads the store that [Config.Handles] is, and fails as that does.
func (i *Inbox) Waiting(ctx context.Context, thread string) ([]delegate.Handle, error) {
	ctx, cancel := context.WithTimeout(ctx, storeBound)
	defer cancel()
	handles, err := i.cfg.Handles.Handles(ctx, thread)
	if err != nil {
		return nil, fmt.Errorf("late answers of thread %q: %w", thread, err)
	}
	return handles, nil
}

// Withdraw ends the waiting for a member's answer, which then never lands, and reports whether
// there was one: not when it has landed before. The peer is not told, and may work on.
func (i *Inbox) Withdraw(ctx context.Context, thread, member string) (withdrawn bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeBound)
	defer cancel()
	return i.collector.Withdraw(ctx, thread, member)
}

// readyBound is how long Resume waits for what is ready.
const readyBound = 3 * time.Second

// Resume takes up what an earlier process has left waiting on thread, where the handles
// are kept with the thread. It returns when each task has been polled once and what was
// ready has landed, or after 3 s; the rest is waited for beside. The error is that the
// handles could not be read, or the end of ctx.
func (i *Inbox) Resume(ctx context.Context, thread string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(i.life.Context(), cancel)()
	polled, err := i.collector.Resume(ctx, thread)
	bound := time.NewTimer(readyBound)
	defer bound.Stop()
	for _, p := range polled {
		select {
		case <-p:
		case <-bound.C:
			return err
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
	return err
}

// Close ends all waiting and waits for what is being written. Idempotent.
func (i *Inbox) Close() {
	i.life.Close()
	i.arrivals.close()
}

func (i *Inbox) failed(err error) {
	if i.cfg.Failed != nil && i.life.Context().Err() == nil {
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
func (i *Inbox) land(ctx context.Context, id string, a thread.Anchor, m langrooms.Message, claim func(*thread.Hold) (bool, error)) (landed bool, err error) {
	claimed := false
	once := func(h *thread.Hold) (ok bool, err error) {
		ok, err = claim(h)
		claimed = claimed || ok
		return ok, err
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		landed, err = exchange.Land(ctx, i.cfg.Saver, id, a, m, once)
		if landed || claimed || !errors.Is(err, checkpointer.ErrUnavailable) {
			return landed, err
		}
		if !lifetime.Sleep(ctx, pause) {
			return false, err
		}
	}
}

// arrive tells the program of what has landed.
func (i *Inbox) arrive(thread string, m langrooms.Message, paused bool) {
	i.arrivals.tell(langrooms.Arrival{Thread: thread, Message: m, Notice: notice(m.Stamp, paused)})
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
			"Answer it with delegate_to and resume_task_id, or ask the operator, who can write /answer @%s and the answer.", s.From, s.From)
	}
	return fmt.Sprintf("The answer of @%s, which was being waited for, has arrived; it stands above. Take it in and tell the operator briefly what it changes.", s.From)
}
