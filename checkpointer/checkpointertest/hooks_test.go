package checkpointertest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
)

// full is a saver with every ability.
type full interface {
	checkpointer.Saver
	checkpointer.Locker
	checkpointer.Lister
	checkpointer.Forker
	checkpointer.Pruner
	checkpointer.Compacter
	checkpointer.Expirer
	checkpointer.Watcher
	checkpointer.Snapshotter
	checkpointer.HeadLocker
	checkpointer.Copier
	checkpointer.Logger
	checkpointer.Selector
	checkpointer.Walker
}

// broken is a defect and the rules that must find it.
type broken struct {
	name, rules string
	// breakIt replaces some methods of a sound store.
	breakIt func(h *hooks)
	// reopen, if set, is what a second handle is taken from.
	reopen func(h *hooks) full
}

// store returns how the broken store is opened and configured.
func (b broken) store() (open func(t testing.TB) checkpointer.Saver, cfg Config) {
	hooked := func(t testing.TB, base full) *hooks {
		h := newHooks(newHandle(base))
		b.breakIt(h)
		t.Cleanup(func() { h.full.Close() })
		return h
	}
	cfg = Config{Abilities: AllAbilities(), SmallOnly: true, Contains: func(_ testing.TB, s checkpointer.Saver, text string) bool {
		return Holds(s.(*hooks).full.(*handle).full, text)
	}, Reopen: func(t testing.TB, s checkpointer.Saver) checkpointer.Saver {
		h := s.(*hooks)
		base := h.full.(*handle).full
		if b.reopen != nil {
			base = b.reopen(h)
		}
		return hooked(t, base)
	}}
	return func(t testing.TB) checkpointer.Saver {
		base := memorysaver.New()
		t.Cleanup(func() { base.Close() })
		return hooked(t, base)
	}, cfg
}

// handle is one of several handles on a store in memory: closing it ends its leases and
// its own use only.
type handle struct {
	full
	once sync.Once
	done chan struct{}
	ctx  context.Context
	end  context.CancelCauseFunc
	mu   sync.Mutex
	held []checkpointer.Lease
}

func newHandle(base full) *handle {
	h := &handle{full: base, done: make(chan struct{})}
	h.ctx, h.end = context.WithCancelCause(context.Background())
	return h
}

func (h *handle) Close() error {
	h.once.Do(func() {
		h.end(checkpointer.ErrClosed)
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, l := range h.held {
			_ = l.Release()
		}
	})
	return nil
}

func (h *handle) err() error { return context.Cause(h.ctx) }

func (h *handle) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	if err := h.err(); err != nil {
		return checkpointer.Ref{}, err
	}
	return h.full.Put(ctx, parent, step)
}

func (h *handle) PutWrites(ctx context.Context, at checkpointer.Ref, task checkpointer.Task, w []checkpointer.Write) error {
	if err := h.err(); err != nil {
		return err
	}
	return h.full.PutWrites(ctx, at, task, w)
}

func (h *handle) Get(ctx context.Context, at checkpointer.Ref) (checkpointer.Checkpoint, error) {
	if err := h.err(); err != nil {
		return checkpointer.Checkpoint{}, err
	}
	return h.full.Get(ctx, at)
}

func failing[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) { yield(*new(T), err) }
}

func (h *handle) List(ctx context.Context, q checkpointer.Query) iter.Seq2[checkpointer.Checkpoint, error] {
	if err := h.err(); err != nil {
		return failing[checkpointer.Checkpoint](err)
	}
	return h.full.List(ctx, q)
}

func (h *handle) Messages(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	if err := h.err(); err != nil {
		return failing[langrooms.Message](err)
	}
	return h.full.Messages(ctx, at, r)
}

func (h *handle) DeleteThread(ctx context.Context, thread string) error {
	if err := h.err(); err != nil {
		return err
	}
	return h.full.DeleteThread(ctx, thread)
}

func (h *handle) Threads(ctx context.Context) iter.Seq2[checkpointer.ThreadInfo, error] {
	if err := h.err(); err != nil {
		return failing[checkpointer.ThreadInfo](err)
	}
	return h.full.Threads(ctx)
}

func (h *handle) Fork(ctx context.Context, at checkpointer.Ref, upTo *int64, to string) (checkpointer.Ref, error) {
	if err := h.err(); err != nil {
		return checkpointer.Ref{}, err
	}
	return h.full.Fork(ctx, at, upTo, to)
}

func (h *handle) Prune(ctx context.Context, thread string, keep checkpointer.Retention) (int, error) {
	if err := h.err(); err != nil {
		return 0, err
	}
	return h.full.Prune(ctx, thread, keep)
}

func (h *handle) Compact(ctx context.Context, at checkpointer.Ref, m langrooms.Message, keep int) (checkpointer.Ref, error) {
	if err := h.err(); err != nil {
		return checkpointer.Ref{}, err
	}
	return h.full.Compact(ctx, at, m, keep)
}

func (h *handle) SetTTL(ctx context.Context, thread string, ttl time.Duration) error {
	if err := h.err(); err != nil {
		return err
	}
	return h.full.SetTTL(ctx, thread, ttl)
}

func (h *handle) Watch(ctx context.Context, thread string) iter.Seq2[checkpointer.Change, error] {
	if err := h.err(); err != nil {
		return failing[checkpointer.Change](err)
	}
	return h.full.Watch(ctx, thread)
}

func (h *handle) Snapshot(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) (checkpointer.Checkpoint, []langrooms.Message, error) {
	if err := h.err(); err != nil {
		return checkpointer.Checkpoint{}, nil, err
	}
	return h.full.Snapshot(ctx, at, r)
}

// Lock ends its wait when the handle is closed.
func (h *handle) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	if err := h.err(); err != nil {
		return nil, err
	}
	both, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(h.ctx, func() { cancel(checkpointer.ErrClosed) })
	lease, err := h.full.Lock(both, thread)
	if err != nil {
		stop()
		cancel(nil)
		if h.err() != nil {
			err = checkpointer.ErrClosed
		}
		return nil, err
	}
	if h.err() != nil { // Close has just freed what this waiter got
		return nil, errors.Join(checkpointer.ErrClosed, lease.Release())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = slices.Clip(append(h.held, lease))
	return lease, nil
}

// hooks is a store whose methods can be replaced. A replacement is a function of the same
// arguments; the sound method is reached through h.full.
type hooks struct {
	full
	put      func(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error)
	writes   func(ctx context.Context, at checkpointer.Ref, task checkpointer.Task, w []checkpointer.Write) error
	get      func(ctx context.Context, at checkpointer.Ref) (checkpointer.Checkpoint, error)
	list     func(ctx context.Context, q checkpointer.Query) iter.Seq2[checkpointer.Checkpoint, error]
	messages func(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error]
	remove   func(ctx context.Context, thread string) error
	close    func() error
	lock     func(ctx context.Context, thread string) (checkpointer.Lease, error)
	threads  func(ctx context.Context) iter.Seq2[checkpointer.ThreadInfo, error]
	fork     func(ctx context.Context, at checkpointer.Ref, upTo *int64, to string) (checkpointer.Ref, error)
	prune    func(ctx context.Context, thread string, keep checkpointer.Retention) (int, error)
	compact  func(ctx context.Context, at checkpointer.Ref, m langrooms.Message, keep int) (checkpointer.Ref, error)
	ttl      func(ctx context.Context, thread string, ttl time.Duration) error
	watch    func(ctx context.Context, thread string) iter.Seq2[checkpointer.Change, error]
	snapshot func(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) (checkpointer.Checkpoint, []langrooms.Message, error)
	newer
}

func newHooks(f full) *hooks {
	return &hooks{full: f, put: f.Put, writes: f.PutWrites, get: f.Get, list: f.List, messages: f.Messages,
		remove: f.DeleteThread, close: f.Close, lock: f.Lock, threads: f.Threads, fork: f.Fork, prune: f.Prune,
		compact: f.Compact, ttl: f.SetTTL, watch: f.Watch, snapshot: f.Snapshot, newer: newNewer(f)}
}

func (h *hooks) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	return h.put(ctx, parent, step)
}

func (h *hooks) PutWrites(ctx context.Context, at checkpointer.Ref, task checkpointer.Task, w []checkpointer.Write) error {
	return h.writes(ctx, at, task, w)
}

func (h *hooks) Get(ctx context.Context, at checkpointer.Ref) (checkpointer.Checkpoint, error) {
	return h.get(ctx, at)
}

func (h *hooks) List(ctx context.Context, q checkpointer.Query) iter.Seq2[checkpointer.Checkpoint, error] {
	return h.list(ctx, q)
}

func (h *hooks) Messages(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	return h.messages(ctx, at, r)
}

func (h *hooks) DeleteThread(ctx context.Context, thread string) error { return h.remove(ctx, thread) }
func (h *hooks) Close() error                                          { return h.close() }

func (h *hooks) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	return h.lock(ctx, thread)
}

func (h *hooks) Threads(ctx context.Context) iter.Seq2[checkpointer.ThreadInfo, error] {
	return h.threads(ctx)
}

func (h *hooks) Fork(ctx context.Context, at checkpointer.Ref, upTo *int64, to string) (checkpointer.Ref, error) {
	return h.fork(ctx, at, upTo, to)
}

func (h *hooks) Prune(ctx context.Context, thread string, keep checkpointer.Retention) (int, error) {
	return h.prune(ctx, thread, keep)
}

func (h *hooks) Compact(ctx context.Context, at checkpointer.Ref, m langrooms.Message, keep int) (checkpointer.Ref, error) {
	return h.compact(ctx, at, m, keep)
}

func (h *hooks) SetTTL(ctx context.Context, thread string, ttl time.Duration) error {
	return h.ttl(ctx, thread, ttl)
}

func (h *hooks) Watch(ctx context.Context, thread string) iter.Seq2[checkpointer.Change, error] {
	return h.watch(ctx, thread)
}

func (h *hooks) Snapshot(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) (checkpointer.Checkpoint, []langrooms.Message, error) {
	return h.snapshot(ctx, at, r)
}
