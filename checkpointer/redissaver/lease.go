package redissaver

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
	"github.com/langrooms/langrooms/checkpointer/internal/waiters"
)

//go:embed lua/lock.lua
var luaLock string

//go:embed lua/renew.lua
var luaRenew string

//go:embed lua/release.lua
var luaRelease string

//go:embed lua/lockhead.lua
var luaLockHead string

//go:embed lua/putlast.lua
var luaPutLast string

//go:embed lua/fastlock.lua
var luaFastLock string

var (
	lockHeadScript = quickly(source(luaToken, luaLib, luaLog, luaLease, luaState, luaPending, luaRead, luaLockHead), leaseTimes+luaFastRead+luaFastLock)
	putLastScript  = quickly(source(luaToken, luaLib, luaFence, luaLog, luaEdit, luaLease, luaPut, luaPutLast), "local FIRST, OWNER = 1, ARGV[1]\n"+luaFastPut)

	lockScript    = script(luaToken, luaLease, luaLock)
	renewScript   = script(luaToken, luaLease, luaRenew)
	releaseScript = script(luaToken, luaLease, luaRelease)
)

const (
	leaseTime  = 15 * time.Second
	renewEvery = 5 * time.Second
	// renewAgain follows a renewal that did not reach the server.
	renewAgain = 500 * time.Millisecond
	// placeTime is how long a waiter that no longer asks keeps its place. A killed
	// holder with a killed waiter behind it is gone after leaseTime + placeTime.
	placeTime = 3 * time.Second
	// A waiter asks every pollStep times its place in the line, at most pollMost.
	pollStep = 25 * time.Millisecond
	pollMost = 200 * time.Millisecond
)

// Lock implements [checkpointer.Locker].
func (s *Saver) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	const op = "lock"
	if err := record.CheckThread(thread); err != nil {
		return nil, record.Wrap(op, thread, err)
	}
	lease, _, err := s.acquire(ctx, op, thread, func(id string) request {
		return request{op: op, thread: thread, script: lockScript, write: true, keys: []string{s.fenceKey(thread)}, args: []any{id}}
	})
	return lease, err
}

// LockHead implements [checkpointer.HeadLocker].
func (s *Saver) LockHead(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) (checkpointer.Lease, checkpointer.Checkpoint, []langrooms.Message, error) {
	const op = "lock"
	err := record.CheckHead(at, r)
	if err != nil {
		return nil, checkpointer.Checkpoint{}, nil, record.Wrap(op, at.Thread, err)
	}
	sp, err := spanOf(r, limitedPage)
	if err != nil {
		return nil, checkpointer.Checkpoint{}, nil, record.Wrap(op, at.Thread, err)
	}
	sp.sel = checkpointer.Selection{Writes: true}
	read := s.readArgs(at, sp)
	lease, out, err := s.acquire(ctx, op, at.Thread, func(id string) request {
		return request{op: op, thread: at.Thread, script: lockHeadScript, write: true,
			keys: append(s.threadKeys(at.Thread), s.fenceKey(at.Thread)), args: append([]any{id}, read...)}
	})
	if err != nil {
		return nil, checkpointer.Checkpoint{}, nil, err
	}
	c, messages, err := s.head(lease.Context(), op, at.Thread, sp, out)
	if err != nil {
		_ = lease.Release() // it ends by itself
		return nil, checkpointer.Checkpoint{}, nil, err
	}
	return lease, c, messages, nil
}

// head reads what lua/lockhead.lua has found under the lease.
func (s *Saver) head(ctx context.Context, op, thread string, sp span, out []any) (checkpointer.Checkpoint, []langrooms.Message, error) {
	var list []any
	if len(out) > 0 {
		list, _ = out[0].([]any)
	}
	list, err := answer(list)
	if errors.Is(err, checkpointer.ErrNotFound) {
		return checkpointer.Checkpoint{}, nil, nil
	}
	if err != nil {
		return checkpointer.Checkpoint{}, nil, record.Wrap(op, thread, err)
	}
	first, err := parsePage(thread, sp.sel, list[1:])
	if err != nil {
		return checkpointer.Checkpoint{}, nil, record.Wrap(op, thread, err)
	}
	messages, err := s.rest(ctx, op, first, sp)
	return first.checkpoint, messages, err
}

// acquire waits for the lease. ask makes the request for an id of the one who waits; what is
// answered beside the token is returned.
func (s *Saver) acquire(ctx context.Context, op, thread string, ask func(id string) request) (checkpointer.Lease, []any, error) {
	id := langrooms.NewID()
	waiter := s.waiters.Join(thread)
	defer waiter.Leave()
	for {
		asked := time.Now()
		out, err := s.eval(ctx, ask(id))
		if err == nil && out[0] == "OK" {
			r := &reply{items: out[1:]}
			lease, err := s.hold(ctx, thread, id, asked, r)
			return lease, r.items, err
		}
		if err == nil {
			err = s.pause(ctx, op, waiter, thread, &reply{items: out[1:]})
		}
		if err != nil {
			if !errors.Is(err, checkpointer.ErrClosed) {
				s.leave(ctx, thread, id)
			}
			return nil, nil, err
		}
	}
}

// pause waits before a waiter asks again, for less when the lease is given back by this process.
func (s *Saver) pause(ctx context.Context, op string, waiter *waiters.Waiter, thread string, r *reply) error {
	place := r.int()
	if r.bad || place < 1 {
		return record.Wrap(op, thread, malformed("a reply"))
	}
	timer := time.NewTimer(min(pollStep*time.Duration(min(place, 100)), pollMost))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-waiter.Woken():
		return nil
	case <-ctx.Done():
		return record.Wrap(op, thread, ended(ctx))
	case <-s.stop:
		return record.Wrap(op, thread, checkpointer.ErrClosed)
	}
}

// leave gives back the place in the line of a waiter that gives up, or what it was
// granted in that moment. Where the server cannot be reached both end by themselves, so
// one attempt is enough.
func (s *Saver) leave(ctx context.Context, thread, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	r := s.releaseRequest(thread, id)
	r.write, r.once = false, true
	_, _ = s.eval(ctx, r)
}

func (s *Saver) releaseRequest(thread, id string) request {
	return request{op: "release", thread: thread, script: releaseScript, write: true, keys: []string{s.fenceKey(thread)}, args: []any{id}}
}

// lease is a held lock. Its goroutine renews it until Release, loss or Close.
type lease struct {
	saver      *Saver
	thread, id string
	token      int64
	ctx        context.Context
	cancel     context.CancelCauseFunc
	given      atomic.Bool // it was given back with the last put
	once       sync.Once
	stop, done chan struct{}
	err        error // of the release; set before done is closed
}

func (s *Saver) hold(ctx context.Context, thread, id string, asked time.Time, r *reply) (checkpointer.Lease, error) {
	l := &lease{saver: s, thread: thread, id: id, token: r.number(), stop: make(chan struct{}), done: make(chan struct{})}
	if r.bad {
		return nil, record.Wrap("lock", thread, malformed("a reply"))
	}
	if err := s.enter(); err != nil {
		// Closed between the grant and here. The grant ends by itself, since the
		// client may be closed already.
		return nil, record.Wrap("lock", thread, err)
	}
	l.ctx, l.cancel = context.WithCancelCause(checkpointer.WithFence(ctx, thread, l.token))
	go l.keep(asked)
	return l, nil
}

func (l *lease) Context() context.Context { return l.ctx }

// PutLast implements [checkpointer.LastPutter].
func (l *lease) PutLast(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	if parent.Thread != l.thread {
		return checkpointer.Ref{}, record.Wrap("put", parent.Thread, fmt.Errorf("%w: the lease is on thread %q", checkpointer.ErrInvalid, l.thread))
	}
	ref, err := l.saver.put(checkpointer.WithFence(ctx, l.thread, l.token), parent, step, putLastScript, l.id)
	if err != nil {
		return ref, err
	}
	l.given.Store(true)
	return ref, l.Release()
}

func (l *lease) Release() error {
	l.once.Do(func() { close(l.stop) })
	<-l.done
	return l.err
}

// keep renews the lease and, at the end, gives it back. It counts as work of the saver,
// so Close waits for it; its own requests therefore go past the closed gate.
func (l *lease) keep(renewed time.Time) {
	defer l.saver.work.Done()
	defer close(l.done)
	defer l.saver.waiters.Wake(l.thread)
	work := context.WithoutCancel(l.ctx)
	timer := time.NewTimer(renewEvery)
	defer timer.Stop()
	for {
		select {
		case <-l.stop:
			l.cancel(context.Canceled)
		case <-l.saver.stop:
			l.cancel(checkpointer.ErrClosed)
		case <-timer.C:
			asked := time.Now()
			err := l.renew(work)
			switch {
			case err == nil:
				renewed = asked
				timer.Reset(renewEvery)
				continue
			case !errors.Is(err, checkpointer.ErrFenced) && time.Since(renewed) < leaseTime:
				timer.Reset(renewAgain)
				continue
			}
			// Of a server that cannot be reached nobody knows whether another has the lease.
			l.cancel(errors.Join(checkpointer.ErrFenced, err))
		}
		if l.given.Load() {
			return
		}
		ctx, cancel := context.WithTimeout(work, writeLimit)
		defer cancel()
		_, l.err = l.saver.past(ctx, l.saver.releaseRequest(l.thread, l.id))
		return
	}
}

func (l *lease) renew(work context.Context) error {
	ctx, cancel := context.WithTimeout(work, writeLimit)
	defer cancel()
	_, err := l.saver.past(ctx, request{op: "renew", thread: l.thread, script: renewScript, keys: []string{l.saver.fenceKey(l.thread)},
		args: []any{l.id, l.token}})
	return err
}
