package memorysaver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/langrooms/langrooms"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// tombstone is how long the fence of a thread that is gone is remembered after its last
// use.
const tombstone = 24 * time.Hour

// lock is the lease record of one thread. It outlives the thread while it is held.
type lock struct {
	fence   int64
	used    time.Time // when it was last relied on
	holder  *lease
	waiters []*waiter // in order of arrival
}

type waiter struct {
	ctx     context.Context
	granted chan *lease // holds one: a grant never blocks
}

type lease struct {
	s      *Saver
	thread string
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// Lock implements checkpointer.Locker. A lease lasts until Release, an unfenced
// DeleteThread or Close: a holder in the same process cannot be killed alone.
func (s *Saver) Lock(ctx context.Context, name string) (checkpointer.Lease, error) {
	const op = "lock"
	if err := record.CheckThread(name); err != nil {
		return nil, record.Wrap(op, name, err)
	}
	w := &waiter{ctx: ctx, granted: make(chan *lease, 1)}
	err := s.do(ctx, op, name, func(*thread) error {
		l := s.lockRecord(name)
		l.waiters = append(l.waiters, w)
		s.grant(name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	select {
	case l := <-w.granted:
		return l, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-s.done:
		err = checkpointer.ErrClosed
	}
	s.giveUp(name, w)
	return nil, record.Wrap(op, name, err)
}

// giveUp takes a waiter from the queue, or gives back what it was granted meanwhile.
func (s *Saver) giveUp(thread string, w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case l := <-w.granted:
		s.release(l)
	default:
		l := s.locks[thread]
		l.waiters = slices.DeleteFunc(l.waiters, func(x *waiter) bool { return x == w })
	}
}

// lockRecord returns the thread's lock record, new when there is none.
func (s *Saver) lockRecord(thread string) *lock {
	l := s.locks[thread]
	if l == nil {
		l = &lock{used: time.Now()}
		s.locks[thread] = l
	}
	return l
}

// grant gives a free lock to the first waiter.
func (s *Saver) grant(thread string) {
	l := s.locks[thread]
	if l.holder != nil || len(l.waiters) == 0 {
		return
	}
	w := l.waiters[0]
	l.waiters = l.waiters[1:]
	l.raise()
	ctx, cancel := context.WithCancelCause(checkpointer.WithFence(w.ctx, thread, l.fence))
	l.holder = &lease{s, thread, ctx, cancel}
	w.granted <- l.holder
}

// raiseFence refuses all tokens given so far and takes the lease from its holder.
func (s *Saver) raiseFence(thread string) {
	l := s.lockRecord(thread)
	l.raise()
	if l.holder != nil {
		l.holder.cancel(fmt.Errorf("thread %q was deleted: %w", thread, checkpointer.ErrFenced))
		l.holder = nil
		s.grant(thread)
	}
}

// fenceOf returns the thread's fence.
func (s *Saver) fenceOf(thread string) int64 {
	if l := s.locks[thread]; l != nil {
		return l.fence
	}
	return 0
}

// checkFence compares the token in ctx with the thread's fence.
func (s *Saver) checkFence(ctx context.Context, thread string) error {
	token, ok := checkpointer.Fence(ctx, thread)
	if fence := s.fenceOf(thread); ok && token < fence {
		return fmt.Errorf("token %d, the newest is %d: %w", token, fence, checkpointer.ErrFenced)
	}
	return nil
}

// keepFence raises the fence to the token in ctx after a write with it.
func (s *Saver) keepFence(ctx context.Context, thread string) {
	if token, ok := checkpointer.Fence(ctx, thread); ok {
		l := s.lockRecord(thread)
		l.fence, l.used = max(l.fence, token), time.Now()
	}
}

// tidyLock drops the lock record of a thread that is gone and unlocked, a day after its
// last use.
func (s *Saver) tidyLock(thread string, now time.Time) {
	l := s.locks[thread]
	if l.holder == nil && len(l.waiters) == 0 && s.threads[thread] == nil && now.Sub(l.used) > tombstone {
		delete(s.locks, thread)
	}
}

// raise gives the lock a token greater than all that it has seen, also before it was
// forgotten. At the greatest number it stays.
func (l *lock) raise() {
	l.used = time.Now()
	l.fence = max(l.fence, min(l.fence, math.MaxInt64-1)+1, l.used.UnixMilli())
}

// LockHead implements checkpointer.HeadLocker.
func (s *Saver) LockHead(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) (checkpointer.Lease, checkpointer.Checkpoint, []langrooms.Message, error) {
	if err := record.CheckHead(at, r); err != nil {
		return nil, checkpointer.Checkpoint{}, nil, record.Wrap("lock", at.Thread, err)
	}
	l, err := s.Lock(ctx, at.Thread)
	if err != nil {
		return nil, checkpointer.Checkpoint{}, nil, err
	}
	cp, messages, err := s.Snapshot(l.Context(), at, r)
	if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
		return nil, checkpointer.Checkpoint{}, nil, errors.Join(err, l.Release())
	}
	return l, cp, messages, nil
}

// PutLast implements checkpointer.LastPutter.
func (l *lease) PutLast(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	if parent.Thread != l.thread {
		return checkpointer.Ref{}, fmt.Errorf("put: %w: the lease is on thread %q, not %q", checkpointer.ErrInvalid, l.thread, parent.Thread)
	}
	fence, _ := checkpointer.Fence(l.ctx, l.thread)
	return l.s.put(checkpointer.WithFence(ctx, l.thread, fence), parent, step, func() { l.s.release(l) })
}

// Context implements checkpointer.Lease.
func (l *lease) Context() context.Context { return l.ctx }

// Release implements checkpointer.Lease.
func (l *lease) Release() error {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.s.release(l)
	return nil
}

func (s *Saver) release(l *lease) {
	l.cancel(nil)
	if record := s.locks[l.thread]; record != nil && record.holder == l {
		record.holder = nil
		record.used = time.Now()
		s.grant(l.thread)
	}
}
