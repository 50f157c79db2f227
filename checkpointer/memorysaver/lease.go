package memorysaver

import (
	"context"
	"fmt"
	"slices"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// lock is the lease record of one thread. It outlives the thread while it is held.
type lock struct {
	fence   int64
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
		s.tidyLock(thread)
	}
}

// lockRecord returns the thread's lock record, new when there is none.
func (s *Saver) lockRecord(thread string) *lock {
	l := s.locks[thread]
	if l == nil {
		l = &lock{fence: s.floor}
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
	s.token = max(s.token, l.fence) + 1
	l.fence = s.token
	ctx, cancel := context.WithCancelCause(checkpointer.WithFence(w.ctx, thread, l.fence))
	l.holder = &lease{s, thread, ctx, cancel}
	w.granted <- l.holder
}

// raiseFence refuses all tokens given so far and takes the lease from its holder.
func (s *Saver) raiseFence(thread string) {
	l := s.lockRecord(thread)
	s.token = max(s.token, l.fence) + 1
	l.fence = s.token
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
	return s.floor
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
	if token, ok := checkpointer.Fence(ctx, thread); ok && token > s.fenceOf(thread) {
		s.lockRecord(thread).fence = token
	}
}

// tidyLock drops the lock record of a thread that is gone and unlocked. The floor keeps
// its fence.
func (s *Saver) tidyLock(thread string) {
	l := s.locks[thread]
	if l == nil || l.holder != nil || len(l.waiters) > 0 || s.threads[thread] != nil {
		return
	}
	s.floor = max(s.floor, l.fence)
	delete(s.locks, thread)
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
		s.grant(l.thread)
		s.tidyLock(l.thread)
	}
}
