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

// Rewind makes the thread end with the message before position upTo: what follows is gone
// for every reader, older checkpoints included where the saver can prune.
func (t *Turn) Rewind(upTo int64) error {
	step := checkpointer.Step{ID: langrooms.NewID(), Fork: true, Truncate: &upTo,
		Metadata: map[string]string{"source": "rewind"}}
	if err := t.rewrite(step); err != nil {
		return err
	}
	t.length = min(t.length, upTo)
	if pruner, ok := t.saver.(checkpointer.Pruner); ok {
		if _, err := pruner.Prune(t.recordContext(), t.thread, 1, ""); err != nil {
			return fmt.Errorf("the thread %q is rewound, but what was erased is still in the store: %w", t.thread, err)
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
	t.head, t.epoch = ref, string(step.Channels[epochChannel])
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

// Fork copies what the turn sees below position upTo to the new thread to, under a lease of
// its own there. Nil means all of it.
func (t *Turn) Fork(ctx context.Context, upTo *int64, to string) error {
	forker, ok := t.saver.(checkpointer.Forker)
	if !ok {
		return fmt.Errorf("%w: fork", ErrNoAbility)
	}
	if t.head.ID == "" {
		return fmt.Errorf("the thread %q: %w", t.thread, checkpointer.ErrNotFound)
	}
	target, err := Begin(ctx, t.saver, to)
	if err != nil {
		return err
	}
	ref, err := forker.Fork(target.Context(), t.head, upTo, to)
	if err == nil {
		target.head = ref
		err = target.rewrite(checkpointer.Step{ID: langrooms.NewID(), Metadata: map[string]string{"source": "fork"}})
	}
	if err != nil {
		err = fmt.Errorf("forking the thread %q to %q: %w", t.thread, to, err)
	}
	return errors.Join(err, target.End())
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
