package sqlitesaver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
)

// The times of a lease. A holder that is killed or stopped loses it leaseTTL after its
// last renewal; the same holds for a place in the queue.
const (
	leaseTTL   = 15 * time.Second
	renewEvery = 5 * time.Second
	pollEvery  = 25 * time.Millisecond
)

// Lock implements checkpointer.Locker, also between processes. Waiters take a ticket in
// the file and look every 25 ms whether it is their turn, and when this process gives the lease back. Times are those of the machine's
// clock: setting it forward can end leases early, which their holders are told.
func (s *Saver) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	const op = "lock"
	if err := record.CheckThread(thread); err != nil {
		return nil, record.Wrap(op, thread, err)
	}
	if err := s.enter(ctx); err != nil {
		return nil, record.Wrap(op, thread, err)
	}
	defer s.calls.Done()
	owner := langrooms.NewID()
	token, err := s.queue(ctx, thread, owner)
	select {
	case <-s.done: // a lease that Close has just freed is not for another waiter here
		err = checkpointer.ErrClosed
	default:
	}
	if err != nil {
		s.leaveQueue(ctx, owner)
		return nil, record.Wrap(op, thread, s.typed(err))
	}
	l := &lease{s: s, thread: thread, owner: owner, token: token, stop: make(chan struct{}), gone: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(checkpointer.WithFence(ctx, thread, token))
	s.held.Go(l.keep)
	return l, nil
}

// queue waits until the lease is this owner's and returns its token.
func (s *Saver) queue(ctx context.Context, thread, owner string) (token int64, err error) {
	waiter := s.waiters.Join(thread)
	defer waiter.Leave()
	ticket := time.Now()
	if token, err = s.tryLock(ctx, thread, owner); token != 0 || err != nil {
		return token, err
	}
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		select {
		case <-poll.C:
		case <-waiter.Woken():
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-s.done:
			return 0, checkpointer.ErrClosed
		}
		turn, err := s.turn(ctx, thread, owner)
		if err != nil {
			return 0, err
		}
		if !turn && time.Since(ticket) < renewEvery {
			continue
		}
		ticket = time.Now()
		if token, err = s.tryLock(ctx, thread, owner); token != 0 || err != nil {
			return token, err
		}
	}
}

// turn looks, without writing, whether the lease may be taken.
func (s *Saver) turn(ctx context.Context, thread, owner string) (turn bool, err error) {
	err = s.view(ctx, func(q *tx) error {
		return q.row(`SELECT
			NOT EXISTS (SELECT 1 FROM leases WHERE thread = ?1 AND owner <> '' AND expires > ?2) AND
			NOT EXISTS (SELECT 1 FROM tickets WHERE thread = ?1 AND expires > ?2
				AND number < (SELECT number FROM tickets WHERE owner = ?3))`,
			[]byte(thread), time.Now().UnixMilli(), owner).Scan(&turn)
	})
	return turn, err
}

// tryLock takes or renews a ticket, and the lease if it is free and this ticket the
// oldest. It returns the token, 0 when the owner has to wait.
func (s *Saver) tryLock(ctx context.Context, thread, owner string) (token int64, err error) {
	err = s.update(ctx, func(q *tx) error {
		now, name := time.Now(), []byte(thread)
		var fence int64
		var busy bool
		err := q.row(`SELECT coalesce((SELECT fence FROM leases WHERE thread = ?1), 0),
			EXISTS (SELECT 1 FROM leases WHERE thread = ?1 AND owner <> '') OR EXISTS (SELECT 1 FROM tickets WHERE thread = ?1)`,
			name).Scan(&fence, &busy)
		if err != nil {
			return err
		}
		if !busy { // mostly: no ticket is needed
			token, err = grant(q, name, owner, fence, now)
			return err
		}
		token, err = inLine(q, name, owner, now)
		return err
	})
	return token, err
}

// grant gives the lease to owner, under the next token.
func grant(q *tx, thread []byte, owner string, fence int64, now time.Time) (token int64, err error) {
	token = newToken(fence, now)
	return token, q.exec(`INSERT INTO leases (thread, fence, owner, expires) VALUES (?, ?, ?, ?)
		ON CONFLICT (thread) DO UPDATE SET fence = excluded.fence, owner = excluded.owner, expires = excluded.expires`,
		thread, token, owner, now.Add(leaseTTL).UnixMilli())
}

// inLine takes or renews owner's ticket, and the lease if it is free and this ticket the oldest.
func inLine(q *tx, thread []byte, owner string, now time.Time) (token int64, err error) {
	if err := cut(q, thread, now.Add(leaseTTL).UnixMilli()); err != nil {
		return 0, err
	}
	if err := q.exec("DELETE FROM tickets WHERE thread = ? AND expires <= ?", thread, now.UnixMilli()); err != nil {
		return 0, err
	}
	err = q.exec(`INSERT INTO tickets (thread, owner, expires) VALUES (?, ?, ?)
		ON CONFLICT (owner) DO UPDATE SET expires = excluded.expires`, thread, owner, now.Add(leaseTTL).UnixMilli())
	if err != nil {
		return 0, err
	}
	var first, holder string
	var fence, expires int64
	if err := q.row("SELECT owner FROM tickets WHERE thread = ? ORDER BY number LIMIT 1", thread).Scan(&first); err != nil {
		return 0, err
	}
	err = q.row("SELECT fence, owner, expires FROM leases WHERE thread = ?", thread).Scan(&fence, &holder, &expires)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	if first != owner || holder != "" && expires > now.UnixMilli() {
		return 0, nil
	}
	if token, err = grant(q, thread, owner, fence, now); err != nil {
		return 0, err
	}
	return token, q.exec("DELETE FROM tickets WHERE owner = ?", owner)
}

// cut shortens what lasts longer than can have been given: the clock was set back.
func cut(q *tx, thread []byte, end int64) error {
	if err := q.exec("UPDATE leases SET expires = ?1 WHERE thread = ?2 AND owner <> '' AND expires > ?1", end, thread); err != nil {
		return err
	}
	return q.exec("UPDATE tickets SET expires = ?1 WHERE thread = ?2 AND expires > ?1", end, thread)
}

// leaveQueue takes back the ticket, and the lease if it was granted as the wait ended. If
// that fails both run out by themselves.
func (s *Saver) leaveQueue(ctx context.Context, owner string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.BusyTimeout)
	defer cancel()
	_ = s.update(ctx, func(q *tx) error {
		if err := q.exec("DELETE FROM tickets WHERE owner = ?", owner); err != nil {
			return err
		}
		return q.exec("UPDATE leases SET owner = '', expires = ? WHERE owner = ?", time.Now().UnixMilli(), owner)
	})
}

// lease is a held lease, kept by one goroutine.
type lease struct {
	s             *Saver
	thread, owner string
	token         int64
	ctx           context.Context
	cancel        context.CancelCauseFunc
	given         atomic.Bool // back, with a put
	stopOnce      sync.Once
	stop          chan struct{} // closed by Release
	gone          chan struct{} // closed when keep has returned
	err           error         // of giving it back; read after gone
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
	ref, err := l.s.put(checkpointer.WithFence(ctx, l.thread, l.token), parent, step, l.free)
	if err == nil {
		l.given.Store(true)
		l.end()
		<-l.gone
	}
	return ref, err
}

// Context implements checkpointer.Lease.
func (l *lease) Context() context.Context { return l.ctx }

// Release implements checkpointer.Lease. It fails when the store does; the lease then
// runs out by itself.
func (l *lease) Release() error {
	l.end()
	<-l.gone
	return l.err
}

func (l *lease) end() { l.stopOnce.Do(func() { close(l.stop) }) }

// keep renews the lease until it is released, lost or the saver closed.
func (l *lease) keep() {
	defer close(l.gone)
	defer l.s.waiters.Wake(l.thread)
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	renewed := time.Now()
	for {
		select {
		case <-l.stop:
			l.cancel(nil)
			l.err = record.Wrap("release", l.thread, l.s.typed(l.giveBack()))
			return
		case <-l.s.done:
			l.cancel(checkpointer.ErrClosed)
			l.err = record.Wrap("release", l.thread, l.s.typed(l.giveBack()))
			return
		case <-tick.C:
		}
		held, err := l.renew()
		switch {
		case err == nil && held:
			renewed = time.Now()
		case err == nil:
			l.cancel(fmt.Errorf("lease of thread %q: %w", l.thread, checkpointer.ErrFenced))
			return
		case time.Since(renewed) >= leaseTTL:
			l.cancel(fmt.Errorf("lease of thread %q could not be renewed: %w: %w: %v", l.thread, checkpointer.ErrFenced, checkpointer.ErrUnavailable, err))
			return
		}
	}
}

// renew prolongs the lease and reports whether it is still held.
func (l *lease) renew() (held bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), renewEvery)
	defer cancel()
	err = l.s.update(ctx, func(q *tx) error {
		n, err := q.count("UPDATE leases SET expires = ? WHERE thread = ? AND owner = ? AND fence = ?",
			time.Now().Add(leaseTTL).UnixMilli(), []byte(l.thread), l.owner, l.token)
		held = n > 0
		return err
	})
	return held, err
}

// giveBack frees the lease for the next one; if it was lost it frees nothing.
func (l *lease) giveBack() error {
	ctx, cancel := context.WithTimeout(context.Background(), l.s.cfg.BusyTimeout)
	defer cancel()
	if l.given.Load() {
		return nil
	}
	return l.s.update(ctx, l.free)
}

// free frees the lease if it is still this owner's.
func (l *lease) free(q *tx) error {
	return q.exec("UPDATE leases SET owner = '', expires = ? WHERE thread = ? AND owner = ?",
		time.Now().UnixMilli(), []byte(l.thread), l.owner)
}
