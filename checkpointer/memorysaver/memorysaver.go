// Package memorysaver is the checkpointer that lives in one process: for tests, demos
// and threads that need not outlive the program. It is also the shortest complete
// reading of the contract of package checkpointer.
//
// It keeps the same logical records as the stores on disk: a row per checkpoint that
// points into an append-only log, and encoded bytes, never a caller's memory. It has
// every optional ability.
//
// # Concurrency
//
// A [Saver] is safe for concurrent use. One mutex guards everything; it is never held
// while a caller's code runs. The package starts no goroutines.
package memorysaver

import (
	"context"
	"sync"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// Saver implements checkpointer.Saver and all its abilities in memory.
type Saver struct {
	mu        sync.Mutex
	threads   map[string]*thread
	locks     map[string]*lock
	swept     time.Time // when what had run out was last looked for
	seq       int64
	watchers  map[string]map[chan checkpointer.Change]struct{}
	done      chan struct{}
	closeOnce sync.Once
}

var (
	_ checkpointer.Saver       = (*Saver)(nil)
	_ checkpointer.Locker      = (*Saver)(nil)
	_ checkpointer.Lister      = (*Saver)(nil)
	_ checkpointer.HeadLocker  = (*Saver)(nil)
	_ checkpointer.Forker      = (*Saver)(nil)
	_ checkpointer.Copier      = (*Saver)(nil)
	_ checkpointer.Logger      = (*Saver)(nil)
	_ checkpointer.Selector    = (*Saver)(nil)
	_ checkpointer.Walker      = (*Saver)(nil)
	_ checkpointer.Pruner      = (*Saver)(nil)
	_ checkpointer.Compacter   = (*Saver)(nil)
	_ checkpointer.Expirer     = (*Saver)(nil)
	_ checkpointer.Watcher     = (*Saver)(nil)
	_ checkpointer.Snapshotter = (*Saver)(nil)
)

// New returns an empty store.
func New() *Saver {
	return &Saver{
		threads:  map[string]*thread{},
		locks:    map[string]*lock{},
		watchers: map[string]map[chan checkpointer.Change]struct{}{},
		done:     make(chan struct{}),
	}
}

// Close ends the store: every later call is ErrClosed, waiting ones return, held leases
// end. What was stored is forgotten.
func (s *Saver) Close() error {
	s.closeOnce.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.done)
		for _, l := range s.locks {
			if l.holder != nil {
				l.holder.cancel(checkpointer.ErrClosed)
			}
		}
		s.threads = map[string]*thread{}
	})
	return nil
}

// do runs f under the mutex, with the thread of that name or nil, and names the
// operation in its error.
func (s *Saver) do(ctx context.Context, op, name string, f func(t *thread) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return record.Wrap(op, name, err)
	}
	s.sweep(time.Now())
	return record.Wrap(op, name, f(s.live(name)))
}

// usable says whether a call may begin. The mutex is held.
func (s *Saver) usable(ctx context.Context) error {
	select {
	case <-s.done:
		return checkpointer.ErrClosed
	default:
		return ctx.Err()
	}
}

// write is do for an operation that changes the thread: it obeys the fence, makes the
// thread when there is none and tells the watchers.
func (s *Saver) write(ctx context.Context, op, name string, f func(t *thread) error) error {
	return s.do(ctx, op, name, func(t *thread) error {
		if err := s.checkFence(ctx, name); err != nil {
			return err
		}
		if t == nil {
			t = newThread()
		}
		if err := f(t); err != nil {
			return err
		}
		if len(t.order) > 0 || len(t.writes) > 0 {
			s.threads[name] = t
		}
		s.keepFence(ctx, name)
		s.notify(checkpointer.Change{Thread: name})
		return nil
	})
}

// live returns the thread unless it has expired; then it is dropped, all of it.
func (s *Saver) live(name string) *thread {
	t := s.threads[name]
	if t == nil || t.expires.IsZero() || time.Now().Before(t.expires) {
		return t
	}
	s.drop(name)
	return nil
}

// sweep looks now and then for what has run out: threads, writes that no checkpoint came
// for, and lock records.
func (s *Saver) sweep(now time.Time) {
	if now.Sub(s.swept) < time.Hour {
		return
	}
	s.swept = now
	for name, t := range s.threads {
		t.dropOrphans(now)
		if !t.exists() && len(t.writes) == 0 {
			delete(s.threads, name)
		}
		s.live(name)
	}
	for name := range s.locks {
		s.tidyLock(name, now)
	}
}

// drop forgets a thread.
func (s *Saver) drop(name string) {
	delete(s.threads, name)
	s.notify(checkpointer.Change{Thread: name, Deleted: true})
}

// DeleteThread implements checkpointer.Saver. Without a fence in ctx it takes the lease
// from a holder.
func (s *Saver) DeleteThread(ctx context.Context, name string) error {
	const op = "delete"
	if err := record.CheckThread(name); err != nil {
		return record.Wrap(op, name, err)
	}
	return s.do(ctx, op, name, func(*thread) error {
		if err := s.checkFence(ctx, name); err != nil {
			return err
		}
		if _, fenced := checkpointer.Fence(ctx, name); !fenced {
			s.raiseFence(name)
		}
		s.keepFence(ctx, name)
		s.drop(name)
		return nil
	})
}
