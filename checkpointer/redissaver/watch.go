package redissaver

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
	"github.com/redis/go-redis/v9"
)

// watchEvery is the time between two looks at a watched thread.
const watchEvery = 200 * time.Millisecond

// Watch implements [checkpointer.Watcher]. It yields once at the start, so that what
// changed between the caller's last read and the first look is not missed.
func (s *Saver) Watch(ctx context.Context, thread string) iter.Seq2[checkpointer.Change, error] {
	const op = "watch"
	return func(yield func(checkpointer.Change, error) bool) {
		if err := record.CheckThread(thread); err != nil {
			yield(checkpointer.Change{}, record.Wrap(op, thread, err))
			return
		}
		timer := time.NewTimer(0)
		defer timer.Stop()
		var last string // the change counter; empty when there is no such thread
		for first := true; ; {
			select {
			case <-ctx.Done():
				return
			case <-s.stop:
				yield(checkpointer.Change{}, record.Wrap(op, thread, checkpointer.ErrClosed))
				return
			case <-timer.C:
			}
			count, err := s.changes(ctx, thread)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				yield(checkpointer.Change{}, record.Wrap(op, thread, err))
				return
			}
			if first || count != last {
				if !yield(checkpointer.Change{Thread: thread, Deleted: !first && count == ""}, nil) {
					return
				}
			}
			first, last = false, count
			timer.Reset(watchEvery)
		}
	}
}

// changes returns the thread's change counter. It starts at the time of the thread's
// making, so a thread that was deleted and made again has another.
func (s *Saver) changes(ctx context.Context, thread string) (string, error) {
	v, err := s.guard(ctx, false, false, func(ctx context.Context) (any, error) {
		count, err := s.client.HGet(ctx, s.threadKeys(thread)[0], "c").Result()
		if errors.Is(err, redis.Nil) {
			return "", nil
		}
		return count, err
	})
	if err != nil {
		return "", err
	}
	return v.(string), nil
}
