package redissaver

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// A watched thread is looked at when its channel says that it was written, and beside that now and
// then: what is told can be lost with a connection, and an expiry is told by nobody. Until the
// server has confirmed the subscription nothing is told.
const (
	watchEvery  = 5 * time.Second
	watchUntold = 200 * time.Millisecond
)

// Watch implements [checkpointer.Watcher]. It yields once at the start, so that what
// changed between the caller's last read and the first look is not missed. All watchers of a saver
// share one connection, on which the server tells them that a thread was written.
func (s *Saver) Watch(ctx context.Context, thread string) iter.Seq2[checkpointer.Change, error] {
	const op = "watch"
	return func(yield func(checkpointer.Change, error) bool) {
		if err := record.CheckThread(thread); err != nil {
			yield(checkpointer.Change{}, record.Wrap(op, thread, err))
			return
		}
		rung, leave := s.bells.hear(ctx, s.client, s.threadKeys(thread)[0])
		defer leave()
		timer := time.NewTimer(0)
		defer timer.Stop()
		var last int64
		next := watchUntold
		for first := true; ; {
			select {
			case <-ctx.Done():
				return
			case <-s.stop:
				yield(checkpointer.Change{}, record.Wrap(op, thread, checkpointer.ErrClosed))
				return
			case <-rung:
				next = watchEvery
			case <-timer.C:
			}
			count, err := s.changes(ctx, thread)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				yield(checkpointer.Change{}, err)
				return
			}
			if first || count != last {
				if !yield(checkpointer.Change{Thread: thread, Deleted: !first && count == 0}, nil) {
					return
				}
			}
			first, last = false, count
			timer.Reset(next)
		}
	}
}

// changes returns the thread's change counter, 0 when there is no thread. It starts at the
// time of the thread's making, so one that was deleted and made again has another.
func (s *Saver) changes(ctx context.Context, thread string) (int64, error) {
	out, err := s.eval(ctx, request{op: "watch", thread: thread, script: infoScript, keys: s.threadKeys(thread)})
	if errors.Is(err, checkpointer.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	r := &reply{items: out[1:]}
	r.int()
	r.int()
	count := r.int()
	if r.bad {
		return 0, record.Wrap("watch", thread, malformed("a reply"))
	}
	return count, nil
}
