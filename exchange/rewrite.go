package exchange

import (
	"context"
	"errors"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// epochChannel names the present life of a thread's history. It is set with the first
// message and anew whenever history is erased, so that what a peer or a process remembers
// of an erased past is never continued (spec: rooms, 11).
const epochChannel = "room.epoch"

// sourceRewind marks the checkpoint that a rewind has put.
const sourceRewind = "rewind"

// Rewind makes the thread end with the message before position upTo: what follows is gone
// for every reader, older checkpoints included where the saver can prune. When the pruning
// fails the next turn does it.
func (t *Turn) Rewind(upTo int64) error {
	step := checkpointer.Step{ID: langrooms.NewID(), Fork: true, Truncate: &upTo,
		Metadata: checkpointer.Metadata{"source": sourceRewind}}
	if err := t.rewrite(step); err != nil {
		return err
	}
	t.length = min(t.length, upTo)
	if err := t.prune(); err != nil {
		return err
	}
	return t.checkErased()
}

// prune forgets every checkpoint but the newest, after a rewind.
func (t *Turn) prune() error {
	pruner, ok := t.saver.(checkpointer.Pruner)
	if !ok {
		return nil
	}
	if _, err := pruner.Prune(t.recordContext(), t.thread, checkpointer.Retention{Keep: 1}); err != nil {
		return fmt.Errorf("the thread %q is rewound, but what was erased is still in the store: %w", t.thread, err)
	}
	return nil
}

// ErrNotErased says that a rewind took place, and that an older checkpoint which the store
// keeps still shows what was erased.
var ErrNotErased = errors.New("what was erased can still be read at an older checkpoint that waits for an interrupt")

// checkErased looks whether a checkpoint was kept, as a prune does with one that has an
// open interrupt.
func (t *Turn) checkErased() error {
	if _, ok := t.saver.(checkpointer.Pruner); !ok {
		return nil
	}
	own := ""
	query := checkpointer.Query{Thread: t.thread, Namespace: &own, Limit: checkpointer.N(2)}
	for cp, err := range t.saver.List(t.recordContext(), query) {
		if err != nil {
			return fmt.Errorf("reading the thread %q: %w", t.thread, err)
		}
		if cp.Ref.ID != t.head.ID {
			return fmt.Errorf("the thread %q is rewound, but %w: %s", t.thread, ErrNotErased, cp.Ref.ID)
		}
	}
	return nil
}

// rewrite puts a step that erases history, and begins a new epoch with it.
func (t *Turn) rewrite(step checkpointer.Step) error {
	step.Channels = map[string][]byte{epochChannel: []byte(langrooms.NewID())}
	ref, err := t.retry(func(ctx context.Context) (checkpointer.Ref, error) {
		return t.saver.Put(ctx, t.head, step)
	})
	if err != nil {
		return fmt.Errorf("storing on the thread %q: %w", t.thread, err)
	}
	t.head = ref
	t.enter(string(step.Channels[epochChannel]))
	return nil
}

// recordContext carries the lease and does not end with the turn.
func (t *Turn) recordContext() context.Context { return context.WithoutCancel(t.ctx) }

// Delete removes the thread. The turn is over with it.
func (t *Turn) Delete() error {
	if err := t.saver.DeleteThread(t.recordContext(), t.thread); err != nil {
		return fmt.Errorf("deleting the thread %q: %w", t.thread, err)
	}
	t.head, t.length = checkpointer.Ref{Thread: t.thread}, 0
	return nil
}

// ErrNoAbility says that the store cannot do what was asked.
var ErrNoAbility = errors.New("the store cannot do this")

// Fork copies what the turn sees below position upTo to the thread of target, which must
// not exist yet; nil means all of it. When it fails nothing is left there.
func (t *Turn) Fork(upTo *int64, target *Turn) error {
	forker, ok := t.saver.(checkpointer.Forker)
	if !ok {
		return fmt.Errorf("%w: fork", ErrNoAbility)
	}
	if !t.Exists() {
		return fmt.Errorf("the thread %q: %w", t.thread, checkpointer.ErrNotFound)
	}
	ref, err := forker.Fork(target.recordContext(), t.head, upTo, target.thread)
	if err == nil {
		target.head = ref
		err = target.rewrite(checkpointer.Step{ID: langrooms.NewID(), Metadata: checkpointer.Metadata{"source": "fork"}})
		if err != nil {
			err = errors.Join(err, target.Delete())
		}
	}
	if err != nil {
		return fmt.Errorf("forking the thread %q to %q: %w", t.thread, target.thread, err)
	}
	return nil
}

// Compact puts summary in place of all but the keep newest messages.
func (t *Turn) Compact(summary langrooms.Message, keep int) error {
	compacter, ok := t.saver.(checkpointer.Compacter)
	if !ok {
		return fmt.Errorf("%w: compact", ErrNoAbility)
	}
	ref, err := compacter.Compact(t.recordContext(), t.head, summary, keep)
	if err != nil {
		return fmt.Errorf("compacting the thread %q: %w", t.thread, err)
	}
	t.head = ref
	return nil
}

// Exists reports whether the thread has been put to.
func (t *Turn) Exists() bool { return t.head.ID != "" }
