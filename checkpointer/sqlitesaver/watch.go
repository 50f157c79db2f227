package sqlitesaver

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// watchEvery is how often a watcher looks at the file: changes of other processes are
// not told in another way.
const watchEvery = 100 * time.Millisecond

// Watch implements checkpointer.Watcher by looking ten times a second. It yields once at
// the beginning, as soon as no later change can be missed.
func (s *Saver) Watch(ctx context.Context, thread string) iter.Seq2[checkpointer.Change, error] {
	return func(yield func(checkpointer.Change, error) bool) {
		const op = "watch"
		if err := record.CheckThread(thread); err != nil {
			yield(checkpointer.Change{}, record.Wrap(op, thread, err))
			return
		}
		poll := time.NewTicker(watchEvery)
		defer poll.Stop()
		var last version
		for first := true; ; first = false {
			now, err := s.version(ctx, op, thread)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				yield(checkpointer.Change{}, err)
				return
			}
			gone := last.tid != 0 && now.tid == 0
			if (first || now != last) && !yield(checkpointer.Change{Thread: thread, Deleted: gone}, nil) {
				return
			}
			last = now
			select {
			case <-poll.C:
			case <-s.done:
			case <-ctx.Done():
				return
			}
		}
	}
}

// version changes with every write to a thread; tid is 0 when there is none.
type version struct{ tid, changes int64 }

func (s *Saver) version(ctx context.Context, op, thread string) (v version, err error) {
	err = s.read(ctx, op, thread, func(q *tx) error {
		err := q.row("SELECT tid, changes FROM threads WHERE thread = ? AND (expires IS NULL OR expires > ?)",
			[]byte(thread), time.Now().UnixMilli()).Scan(&v.tid, &v.changes)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return v, err
}

// SetTTL implements checkpointer.Expirer. An expired thread is invisible at once and
// removed by a later put to any thread, or by the next Open.
func (s *Saver) SetTTL(ctx context.Context, thread string, ttl time.Duration) error {
	const op = "set TTL"
	if err := record.CheckTTL(thread, ttl); err != nil {
		return record.Wrap(op, thread, err)
	}
	return s.write(ctx, op, thread, func(q *tx) error {
		tid, err := findThread(q, thread)
		if err != nil {
			return err
		}
		ms := ttl.Milliseconds()
		if ttl > 0 {
			ms = max(ms, 1)
		}
		n, err := q.count("UPDATE threads SET ttl = ?1, expires = CASE WHEN ?1 > 0 THEN updated + ?1 END WHERE tid = ?2 AND last > 0", ms, tid)
		if err == nil && n == 0 {
			return checkpointer.ErrNotFound
		}
		return err
	})
}
