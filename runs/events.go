package runs

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
)

// Events yields the events of a run from position from on, first those that are there and then
// the live ones, until the run has ended. Any number of readers see the same events, in any
// process. It ends without an error when the run has ended, and with ctx's error when ctx has;
// [ErrGone] when the events are not kept any more, [ErrUnknown] when there is no such run.
func (m *Manager) Events(ctx context.Context, thread, id string, from int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		m.mu.Lock()
		j, here := m.jobs[id]
		m.mu.Unlock()
		if here && j.thread == thread {
			j.stream.follow(ctx, from, yield)
			return
		}
		m.followStored(ctx, thread, id, from, yield)
	}
}

// Position is the position of the next event of a run, from which a reader sees live ones only.
func (m *Manager) Position(ctx context.Context, thread, id string) (int64, error) {
	m.mu.Lock()
	j, here := m.jobs[id]
	m.mu.Unlock()
	if here && j.thread == thread {
		return j.stream.len(), nil
	}
	cp, err := m.cfg.Saver.Get(ctx, checkpointer.Ref{Thread: eventsThread(id)})
	if errors.Is(err, checkpointer.ErrNotFound) {
		return 0, nil
	}
	return cp.Length, err
}

// follow yields the events from position n on until the stream has ended.
func (s *stream) follow(ctx context.Context, n int64, yield func(Event, error) bool) {
	for {
		events, ended, changed := s.from(n)
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
			n = e.Seq + 1
		}
		if ended {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			yield(Event{}, ctx.Err())
			return
		}
	}
}

// followStored yields what the store has and gets, until the last event.
func (m *Manager) followStored(ctx context.Context, thread, id string, n int64, yield func(Event, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := m.Get(ctx, thread, id)
	if err != nil {
		yield(Event{}, err)
		return
	}
	kicks, wait := m.kicks(ctx, eventsThread(id))
	defer wait()
	defer cancel()
	owner := time.NewTicker(lookEvery + lookEvery/4)
	defer owner.Stop()
	for {
		for e, err := range stored(ctx, m.cfg.Saver, id, n) {
			if errors.Is(err, ErrGone) && r.Status.Live() {
				break // it has not begun
			}
			if !yield(e, err) || err != nil {
				return
			}
			n = e.Seq + 1
			if e.Type == EventStatus && !e.Status.Live() {
				return
			}
		}
		if !r.Status.Live() { // the last event is not there, or lies before n
			return
		}
		select {
		case <-kicks:
			continue
		case <-owner.C: // does anybody still run it?
		case <-ctx.Done():
			yield(Event{}, ctx.Err())
			return
		}
		if r, err = m.Get(ctx, thread, id); err != nil {
			yield(Event{}, err)
			return
		}
	}
}

// kicks gives a sign whenever thread may have changed. wait returns when its goroutine has
// ended, which it does with ctx.
func (m *Manager) kicks(ctx context.Context, thread string) (kicks <-chan struct{}, wait func()) {
	c, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(done)
		for range m.changes(ctx, thread) {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}()
	return c, func() { <-done }
}

// pollEvery is how often a thread is looked at where the store cannot tell of its changes.
const pollEvery = time.Second

// changes yields whenever thread may have changed, until ctx ends; the first time at once.
func (m *Manager) changes(ctx context.Context, thread string) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		if watcher, ok := m.cfg.Saver.(checkpointer.Watcher); ok {
			for _, err := range watcher.Watch(ctx, thread) {
				if err != nil {
					break // by polling, then
				}
				if !yield(struct{}{}) {
					return
				}
			}
		}
		ticker := time.NewTicker(pollEvery)
		defer ticker.Stop()
		for ctx.Err() == nil {
			if !yield(struct{}{}) {
				return
			}
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	}
}
