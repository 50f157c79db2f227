package inbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/delegatetool"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
)

// Config wires an [Inbox].
type Config struct {
	// Saver holds the threads. Required.
	Saver checkpointer.Saver
	// Roster is the live roster. Required.
	Roster *delegate.Live
	// Handles keeps what is waited for; nil means memory.
	Handles delegate.HandleStore
	// Arrived is told of each message that has landed, one at a time. It may block until
	// ctx ends. Required.
	Arrived func(ctx context.Context, a langrooms.Arrival)
	// Failed is told when something that arrived could not be stored; nil drops it.
	Failed func(error)
}

// Inbox waits for answers. Make one with [New].
type Inbox struct {
	cfg       Config
	collector *delegate.Collector
	life      context.Context
	end       context.CancelFunc
	jobs      sync.WaitGroup
	mu        sync.Mutex // guards closed against jobs
	closed    bool
	arriving  sync.Mutex
}

// New returns an inbox that waits for nothing yet.
func New(cfg Config) (*Inbox, error) {
	switch {
	case cfg.Saver == nil:
		return nil, errors.New("inbox: Config.Saver is nil")
	case cfg.Roster == nil:
		return nil, errors.New("inbox: Config.Roster is nil")
	case cfg.Arrived == nil:
		return nil, errors.New("inbox: Config.Arrived is nil")
	}
	i := &Inbox{cfg: cfg}
	var err error
	i.collector, err = delegate.NewCollector(delegate.CollectorConfig{
		Live: cfg.Roster, Handles: cfg.Handles, Deliver: i.deliver})
	if err != nil {
		return nil, fmt.Errorf("inbox: %w", err)
	}
	i.life, i.end = context.WithCancel(context.Background())
	return i, nil
}

// storeBound is how long handing over to the store of handles may take.
const storeBound = 10 * time.Second

// Collect waits for the answer of h and reports whether it will be waited for. It is what
// exchange.Room.Collect wants.
func (i *Inbox) Collect(h delegate.Handle) bool {
	ctx, cancel := context.WithTimeout(i.life, storeBound)
	defer cancel()
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

// deliver writes what a collection brought. It is called on the collection's goroutine.
func (i *Inbox) deliver(ctx context.Context, late delegate.Late) {
	m := lateMessage(late)
	anchor := exchange.Anchor{Exchange: late.Exchange, Seq: late.Anchor}
	landed, err := exchange.Land(ctx, i.cfg.Saver, late.Thread, anchor, m, late.Claim)
	switch {
	case err != nil:
		i.failed(fmt.Errorf("the late answer of @%s: %w", late.Delegate, err))
	case landed:
		if err := late.Rejoin(ctx); err != nil {
			i.failed(fmt.Errorf("the conversation with @%s: %w", late.Delegate, err))
		}
		i.arrive(ctx, langrooms.Arrival{Thread: late.Thread, Message: m, Notice: notice(late.Delegate, m.Stamp)})
	}
}

// lateMessage is the record of a late answer, or of its failure.
func lateMessage(late delegate.Late) langrooms.Message {
	rec := room.ReplyRecord{From: late.Delegate, Exchange: late.Exchange, Round: late.Round,
		Late: true, Incognito: late.Incognito, Seen: late.Seen}
	switch late.Result {
	case delegate.LateAnswered, delegate.LatePaused:
		rec.Text = room.LateText(late.View.Reply.Text)
		return room.NewReply(rec)
	case delegate.LateFailed:
		rec.Text = room.FailedText(late.View.Err.Cause())
	case delegate.LateGaveUp:
		rec.Text = room.FailedText("still running after an hour; the answer is not waited for any longer")
	default:
		rec.Text = room.FailedText("lost touch while waiting for the late answer: " + delegate.Cause(late.Err))
	}
	rec.Failed, rec.Seen = true, 0
	rec.Text = room.LateText(rec.Text)
	return room.NewReply(rec)
}

// notice wakes the lead, but not for what was said incognito.
func notice(member string, s *langrooms.Stamp) string {
	if s.Incognito {
		return ""
	}
	if s.Failed {
		return fmt.Sprintf("@%s, whose answer was being waited for, has failed; its message stands above. Tell the operator briefly.", member)
	}
	return fmt.Sprintf("The answer of @%s, which was being waited for, has arrived; it stands above. Take it in and tell the operator briefly what it changes.", member)
}

func (i *Inbox) arrive(ctx context.Context, a langrooms.Arrival) {
	i.arriving.Lock()
	defer i.arriving.Unlock()
	i.cfg.Arrived(ctx, a)
}

// Background runs a delegation of the lead's whose answer is not waited for: keyless, a
// conversation of its own. It is what delegatetool.Config.Background wants.
func (i *Inbox) Background(job delegatetool.Job) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return errors.New("the program is ending")
	}
	roster, release := i.cfg.Roster.Acquire()
	d, ok := roster.Get(job.Target)
	if !ok {
		release()
		return fmt.Errorf("%w: @%s", exchange.ErrNoMember, job.Target)
	}
	i.jobs.Go(func() {
		defer release()
		i.run(d, job)
	})
	return nil
}

// run asks the delegate and lands its answer, whole.
func (i *Inbox) run(d delegate.Delegate, job delegatetool.Job) {
	reply, err := d.Ask(i.life, delegate.Request{Prompt: job.Query, Timeout: job.Timeout})
	if i.life.Err() != nil {
		return // the program ends; like every collection in memory, this one ends with it
	}
	rec := room.ReplyRecord{From: job.Target, Exchange: job.Exchange, Round: 1, Late: true, Text: reply.Text}
	if err != nil {
		e := delegate.AsError(job.Target, err)
		if e.Kind == delegate.KindStillRunning && e.Task != "" &&
			i.Collect(delegate.Handle{Thread: job.Thread, Delegate: job.Target, Task: e.Task,
				Exchange: job.Exchange, Round: 1, Anchor: job.Anchor}) {
			return
		}
		rec.Failed, rec.Text = true, room.FailedText(e.Cause())
	} else if rec.Text == "" {
		rec.Failed, rec.Text = true, room.FailedText("it answered without text")
	}
	m := room.NewReply(rec)
	landed, err := exchange.Land(i.life, i.cfg.Saver, job.Thread, exchange.Anchor{Exchange: job.Exchange, Seq: job.Anchor}, m,
		func(context.Context) (bool, error) { return true, nil })
	if err != nil {
		i.failed(fmt.Errorf("the answer of @%s from the background: %w", job.Target, err))
	}
	if landed {
		i.arrive(i.life, langrooms.Arrival{Thread: job.Thread, Message: m, Notice: notice(job.Target, m.Stamp)})
	}
}
