package hotreload

import (
	"context"
	"sync"
)

// Subscribe calls fn with every change from now on, one call at a time, in order, from a
// goroutine of its own. A slow fn delays nobody: changes that come while it runs reach it
// as one, from the oldest it has not seen to the newest. After Close, and after the
// context of [Open] has ended, fn is not called any more.
//
// cancel ends the calls and does not wait for one that is running; it may be called from
// fn, and more than once. Close waits for the running call, so fn must not call Close.
func (f *File) Subscribe(fn func(Change)) (cancel func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx, stop := context.WithCancel(f.life.Context())
	if ctx.Err() != nil {
		stop()
		return stop
	}
	s := &subscriber{wake: make(chan struct{}, 1)}
	f.subscribers[s] = struct{}{}
	f.life.Go(func(context.Context) { s.run(ctx, fn) })
	return func() {
		stop()
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.subscribers, s)
	}
}

// publish tells every subscriber; it never blocks. f.mu is held.
func (f *File) publish(c Change) {
	for s := range f.subscribers {
		s.put(c)
	}
}

// subscriber holds at most one change that its function has not seen.
type subscriber struct {
	wake chan struct{} // capacity 1: something is pending

	mu      sync.Mutex
	pending *Change
}

func (s *subscriber) put(c Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending != nil {
		c = changeOf(c.opened, s.pending.Old, c.New, c.Fault)
	}
	s.pending = &c
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *subscriber) run(ctx context.Context, fn func(Change)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		s.mu.Lock()
		c := s.pending
		s.pending = nil
		s.mu.Unlock()
		if c != nil && ctx.Err() == nil {
			fn(*c)
		}
	}
}
