package runs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/lifetime"
)

// Config wires a [Manager].
type Config struct {
	// Saver holds the threads. Required.
	Saver checkpointer.Saver
	// Turn takes the turn of a run, and tells feed what happens, in order. An error is one of
	// ours and fails the run. When ctx ends, with the cause that [Manager.Cancel] or Close
	// gave it, the turn is stopped. Required.
	Turn func(ctx context.Context, r Run, in Input, feed Feed) (langrooms.Result, error)
	// Undo takes back what a run has written, which had begun at r.Base with r.Length
	// entries; nil refuses [Rollback].
	Undo func(ctx context.Context, r Run) error
	// Carry puts what of a caller's context is to be seen by the turn, such as the request's id,
	// into the run's; the run does not end with the caller. Nil carries nothing.
	Carry func(caller, run context.Context) context.Context
	// Keep is how long the events of a run are kept after its end; 0 means 15 minutes.
	Keep time.Duration
	// Failed is told of what could not be stored beside a run; nil drops it.
	Failed func(error)
}

// DefaultKeep is how long the events of a run are kept after its end.
const DefaultKeep = 15 * time.Minute

// Manager takes runs. Make one with [New].
type Manager struct {
	cfg   Config
	book  book
	owner string
	life  *lifetime.Life // of the runs, and of those who take and hear for them

	mu       sync.Mutex
	draining bool
	queues   map[string][]*job // the live runs of this process by thread, in order
	jobs     map[string]*job   // the same by id
	looked   map[string]time.Time
}

// job is a live run of this process.
type job struct {
	run    Run // of the goroutine that takes it
	id     string
	thread string
	input  Input
	after  time.Time
	stream *stream
	ctx    context.Context
	cancel context.CancelCauseFunc
	undo   bool
	queued bool               // others of its thread were in front of it
	steer  delegate.Steering  // of the members that are asked in its turn
	lease  checkpointer.Lease // says to other processes that the owner lives; nil without locks
	done   chan struct{}
}

// New returns a manager without runs. It does no I/O.
func New(cfg Config) (*Manager, error) {
	switch {
	case cfg.Saver == nil:
		return nil, errors.New("runs: Config.Saver is nil")
	case cfg.Turn == nil:
		return nil, errors.New("runs: Config.Turn is nil")
	case cfg.Keep < 0:
		return nil, fmt.Errorf("runs: Config.Keep is %v", cfg.Keep)
	}
	if cfg.Keep == 0 {
		cfg.Keep = DefaultKeep
	}
	m := &Manager{cfg: cfg, book: book{cfg.Saver}, owner: langrooms.NewID(), life: lifetime.New(langrooms.ErrShutdown),
		queues: map[string][]*job{}, jobs: map[string]*job{}, looked: map[string]time.Time{}}
	return m, nil
}

// Accept takes a run on: when it returns the run is recorded and will be taken, whatever
// becomes of the caller. ErrBusy, ErrDraining and ErrKeyReused refuse it, and nothing was written.
// A request that was accepted before, by its key, returns its run, with Run.Again set.
func (m *Manager) Accept(ctx context.Context, q Request) (Run, error) {
	if err := langrooms.CheckThreadID(q.Thread); err != nil {
		return Run{}, err
	}
	if earlier, err := m.earlier(ctx, q); err != nil || earlier.Again {
		return earlier, err
	}
	if earlier, err := m.check(ctx, q); err != nil || earlier.Again {
		return earlier, err
	}
	now := time.Now().UTC()
	j := &job{input: q.Input, after: now.Add(q.After), stream: newStream(), done: make(chan struct{}), run: Run{
		ID: langrooms.NewID(), Thread: q.Thread, Status: Pending, Strategy: q.Strategy, Created: now, Updated: now,
		Metadata: q.Metadata, Kwargs: q.Kwargs, Owner: m.owner, Key: q.Key, Digest: q.Digest}}
	if j.run.Strategy == "" {
		j.run.Strategy = Enqueue
	}
	j.ctx, j.cancel = context.WithCancelCause(m.life.Context())
	j.id, j.thread = j.run.ID, j.run.Thread
	j.ctx = delegate.WithSteering(j.ctx, &j.steer)
	if m.cfg.Carry != nil {
		j.ctx = m.cfg.Carry(ctx, j.ctx)
	}
	accepted := j.run
	if err := m.holdOwner(ctx, j); err != nil {
		return Run{}, errors.Join(err, j.drop())
	}
	if earlier, err := m.book.add(ctx, j.run); err != nil || earlier.ID != "" {
		earlier.Again = err == nil
		return earlier, errors.Join(err, j.drop())
	}
	if err := m.enter(j); err != nil {
		return Run{}, errors.Join(err, m.book.remove(ctx, q.Thread, j.run.ID), j.drop())
	}
	return accepted, nil
}

// enter puts j at the end of its thread's queue.
func (m *Manager) enter(j *job) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.draining {
		return ErrDraining
	}
	m.jobs[j.id] = j
	if queue, served := m.queues[j.thread]; served {
		j.queued = true
		m.queues[j.thread] = append(queue, j)
	} else {
		m.queues[j.thread] = []*job{j}
		m.life.Go(func(context.Context) { m.serve(j.thread) })
	}
	m.life.Go(func(context.Context) { m.listen(j) })
	return nil
}

// serve takes the runs of a thread, one after another, until there is none.
func (m *Manager) serve(thread string) {
	for {
		m.mu.Lock()
		if len(m.queues[thread]) == 0 {
			delete(m.queues, thread)
			m.mu.Unlock()
			return
		}
		j := m.queues[thread][0]
		m.mu.Unlock()
		m.take(j)
		m.mu.Lock()
		m.queues[thread] = m.queues[thread][1:]
		delete(m.jobs, j.id)
		m.mu.Unlock()
		close(j.done)
	}
}

// Cancel ends a live run, wherever it runs; with undo what it has written is taken back. It
// does not wait. A run that has ended is left as it is.
func (m *Manager) Cancel(ctx context.Context, thread, id string, undo bool) error {
	return m.halt(ctx, thread, id, undo, langrooms.Stop{Kind: langrooms.ErrorStopped})
}

// newer is why a run is stopped that makes way for another.
var newer = langrooms.Stop{Kind: langrooms.ErrorStopped, By: "a newer run on the thread"}

func (m *Manager) halt(ctx context.Context, thread, id string, undo bool, why langrooms.Stop) error {
	if undo && m.cfg.Undo == nil {
		return fmt.Errorf("taking back what a run wrote: %w", errors.ErrUnsupported)
	}
	m.mu.Lock()
	j, here := m.jobs[id]
	m.mu.Unlock()
	if here && j.thread == thread {
		m.stop(j, undo, why)
		return nil
	}
	r, err := m.Get(ctx, thread, id)
	if err != nil || !r.Status.Live() {
		return err
	}
	return m.askOwner(ctx, r, undo, why)
}

// Abandon cancels a live run because the client that asked for it has gone away.
func (m *Manager) Abandon(ctx context.Context, thread, id string) error {
	return m.halt(ctx, thread, id, false, langrooms.ErrDisconnected)
}

// Wait returns when a run has ended, or ctx.
func (m *Manager) Wait(ctx context.Context, thread, id string) error {
	m.mu.Lock()
	j, here := m.jobs[id]
	m.mu.Unlock()
	if here {
		select {
		case <-j.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, err := range m.Events(ctx, thread, id, 0) {
		if errors.Is(err, ErrGone) {
			break
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Get returns the record of a run. [ErrUnknown] when there is none.
func (m *Manager) Get(ctx context.Context, thread, id string) (Run, error) {
	r, err := m.book.get(ctx, thread, id)
	if err != nil {
		return Run{}, err
	}
	return m.closeIfDead(ctx, r)
}

// List returns the newest limit records of a thread (0 for all), newest first.
func (m *Manager) List(ctx context.Context, thread string, limit int) ([]Run, error) {
	found, err := m.book.list(ctx, thread, limit, nil)
	for i := range found {
		if err == nil {
			found[i], err = m.closeIfDead(ctx, found[i])
		}
	}
	return found, err
}

// Remove takes the record of an ended run away, and its events; its messages stay. A live run
// is [ErrLive].
func (m *Manager) Remove(ctx context.Context, thread, id string) error {
	r, err := m.Get(ctx, thread, id)
	if err != nil {
		return err
	}
	if r.Status.Live() {
		return fmt.Errorf("%w: %s", ErrLive, id)
	}
	if err := m.book.remove(ctx, thread, id); err != nil {
		return err
	}
	return m.cfg.Saver.DeleteThread(ctx, eventsThread(id))
}

// Drain takes no new runs and waits until the live ones of this process have ended, or ctx
// has.
func (m *Manager) Drain(ctx context.Context) {
	m.mu.Lock()
	m.draining = true
	var live []*job
	for _, j := range m.jobs {
		live = append(live, j)
	}
	m.mu.Unlock()
	for _, j := range live {
		select {
		case <-j.done:
		case <-ctx.Done():
			return
		}
	}
}

// Close stops every run of this process, with the cause langrooms.ErrShutdown, and waits for
// them. Idempotent.
func (m *Manager) Close() {
	m.mu.Lock()
	m.draining = true
	m.mu.Unlock()
	m.life.Close()
}

func (m *Manager) failed(err error) {
	if err != nil && m.cfg.Failed != nil {
		m.cfg.Failed(err)
	}
}
