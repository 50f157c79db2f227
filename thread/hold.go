package thread

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// Hold is one writer's hold on a thread, from its lease to its release.
type Hold struct {
	saver  checkpointer.Saver
	id     string
	lease  checkpointer.Lease // nil when the saver has none to give
	ctx    context.Context
	caller context.Context // Begin's: it ends when the operator stops the work

	head     checkpointer.Ref
	length   int64
	channels map[string][]byte
	epoch    string
	// rewound says that nothing was put since a rewind, whose pruning may have failed.
	rewound bool

	stored func(checkpoint string, messages []langrooms.Message) // see Observe; nil tells nobody
}

// Opener looks at a thread under a fresh hold, before whoever asked for it: it finishes what
// an earlier writer left undone in the channels that are its own.
type Opener func(*Hold) error

// ErrBusy says that another writer holds the thread. Which one no store tells.
var ErrBusy = errors.New("the thread is in use by another writer")

// Begin waits for the thread's lease until ctx ends, reads its head, finishes a rewind whose
// pruning had failed, and runs the openers. End must be called. The thread need not exist.
//
// The hold's own context is derived from ctx: it ends with ctx, and with cause
// checkpointer.ErrFenced when the lease passes to another writer.
func Begin(ctx context.Context, saver checkpointer.Saver, id string, openers ...Opener) (*Hold, error) {
	if err := langrooms.CheckThreadID(id); err != nil {
		return nil, err
	}
	h := &Hold{saver: saver, id: id, ctx: ctx, caller: ctx}
	cp, err := h.lock(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.open(cp, openers); err != nil {
		return nil, errors.Join(err, h.End())
	}
	return h, nil
}

// lock waits for the lease and reads the head under it, in one round trip where the store can.
// A thread without a checkpoint has the zero one.
func (h *Hold) lock(ctx context.Context) (checkpointer.Checkpoint, error) {
	at := checkpointer.Ref{Thread: h.id}
	if locker, ok := h.saver.(checkpointer.HeadLocker); ok {
		lease, cp, _, err := locker.LockHead(ctx, at, checkpointer.Range{Limit: checkpointer.N(0)})
		if err != nil {
			return cp, fmt.Errorf("waiting for the thread %q: %w", h.id, err)
		}
		h.lease, h.ctx = lease, lease.Context()
		return cp, nil
	}
	if locker, ok := h.saver.(checkpointer.Locker); ok {
		lease, err := locker.Lock(ctx, h.id)
		if err != nil {
			return checkpointer.Checkpoint{}, fmt.Errorf("waiting for the thread %q: %w", h.id, err)
		}
		h.lease, h.ctx = lease, lease.Context()
	}
	cp, err := h.saver.Get(h.ctx, at)
	switch {
	case errors.Is(err, checkpointer.ErrNotFound):
		return checkpointer.Checkpoint{}, nil
	case err != nil:
		return cp, errors.Join(fmt.Errorf("reading the thread %q: %w", h.id, err), h.End())
	}
	return cp, nil
}

// tryBound is how long a lease that is free may take to be had.
const tryBound = time.Second

// Try is [Begin] without the waiting: ErrBusy when another writer has the thread. A store
// that does not answer within a second counts as busy too.
func Try(ctx context.Context, saver checkpointer.Saver, id string, openers ...Opener) (*Hold, error) {
	waiting, cancel := context.WithCancelCause(ctx)
	bound := time.AfterFunc(tryBound, func() { cancel(ErrBusy) })
	h, err := Begin(waiting, saver, id, append([]Opener{func(*Hold) error {
		bound.Stop() // the lease is there: what follows takes its time
		return nil
	}}, openers...)...)
	if err != nil {
		bound.Stop()
		if errors.Is(context.Cause(waiting), ErrBusy) {
			err = fmt.Errorf("%w: %q", ErrBusy, id)
		}
		cancel(nil)
		return nil, err
	}
	h.caller = ctx
	context.AfterFunc(h.ctx, func() { cancel(nil) })
	return h, nil
}

func (h *Hold) open(cp checkpointer.Checkpoint, openers []Opener) error {
	h.head, h.length, h.channels = cp.Ref, cp.Length, maps.Clone(cp.Channels)
	h.head.Thread = h.id
	if h.channels == nil {
		h.channels = map[string][]byte{}
	}
	h.rewound = cp.Metadata["source"] == sourceRewind
	h.enter()
	if h.rewound {
		if err := h.prune(); err != nil {
			return err
		}
	}
	for _, open := range openers {
		if err := open(h); err != nil {
			return err
		}
	}
	return nil
}

// enter makes the stored epoch the hold's, or a new one that the next put will store.
func (h *Hold) enter() {
	if h.epoch = string(h.channels[epochChannel]); h.epoch == "" {
		h.epoch = langrooms.NewID()
	}
}

// End gives the thread back. Idempotent.
func (h *Hold) End() error {
	if h.lease == nil {
		return nil
	}
	return h.lease.Release()
}

// Observe has stored called after each put of messages, with the checkpoint that they came
// with; a second call takes the place of the first.
func (h *Hold) Observe(stored func(checkpoint string, messages []langrooms.Message)) {
	h.stored = stored
}

// Context is the hold's context; see [Begin]. It carries the lease's fencing token.
func (h *Hold) Context() context.Context { return h.ctx }

// Thread returns the thread's id.
func (h *Hold) Thread() string { return h.id }

// Exists reports whether the thread has been put to.
func (h *Hold) Exists() bool { return h.head.ID != "" }

// Head is the thread's newest checkpoint; its ID is empty when the thread does not exist.
func (h *Hold) Head() checkpointer.Ref { return h.head }

// Length is the position of the next message.
func (h *Hold) Length() int64 { return h.length }

// Epoch names the present life of the thread's history: whenever history is erased a new one
// begins, so that what a peer or a process remembers of an erased past is never continued
// (spec: rooms, 11). On a thread that has none yet the next put stores it.
func (h *Hold) Epoch() string { return h.epoch }

// Channel returns the value of a channel; ok is false when there is none. The caller does
// not change it.
func (h *Hold) Channel(name string) (value []byte, ok bool) {
	value, ok = h.channels[name]
	return value, ok
}

// epochChannel holds what Epoch returns.
const epochChannel = "room.epoch"

// recordBound is how long the store is tried after it fails, or after the caller's end.
// What a delegate said is shown to the operator at the latest then, stored or not.
const recordBound = 12 * time.Second

// stoppedBound is the same once the operator has stopped the work.
const stoppedBound = 3 * time.Second

// outliving returns a context for a store call that must not end with the caller, but ends
// a grace after it: what was heard is recorded, what was begun to be erased is erased. It
// carries the lease. done must be called.
func (h *Hold) outliving(grace time.Duration) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.ctx))
	stop := context.AfterFunc(h.caller, func() { time.AfterFunc(grace, cancel) })
	return ctx, func() { stop(); cancel() }
}

// Outliving is for what is kept with the thread by others: it carries the lease, does not
// end with the caller, and has no deadline of its own, which whoever uses it sets.
func (h *Hold) Outliving() context.Context { return context.WithoutCancel(h.ctx) }
