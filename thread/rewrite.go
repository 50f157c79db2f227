package thread

import (
	"errors"
	"fmt"
	"maps"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// sourceRewind marks the checkpoint that a rewind has put.
const sourceRewind = "rewind"

// Rewind makes the thread end with the message before position upTo: what follows is gone
// for every reader, older checkpoints included where the saver can prune. When the pruning
// fails the next hold does it.
func (h *Hold) Rewind(upTo int64) error {
	step := checkpointer.Step{ID: langrooms.NewID(), Fork: true, Truncate: &upTo,
		Metadata: checkpointer.Metadata{"source": sourceRewind}}
	if err := h.rewrite(step); err != nil {
		return err
	}
	h.length = min(h.length, upTo)
	if err := h.prune(); err != nil {
		return err
	}
	return h.checkErased()
}

// CostsChannel holds what was spent on a thread. It belongs to the thread as a whole: a rewind
// and a branch leave it as it is, and a fork begins without it.
const CostsChannel = "room.costs"

// prune forgets every checkpoint but the newest, after a rewind.
func (h *Hold) prune() error {
	pruner, ok := h.saver.(checkpointer.Pruner)
	if !ok {
		return nil
	}
	ctx, done := h.outliving(recordBound)
	defer done()
	if _, err := pruner.Prune(ctx, h.id, checkpointer.Retention{Keep: 1}); err != nil {
		return fmt.Errorf("the thread %q is rewound, but what was erased is still in the store: %w", h.id, err)
	}
	return nil
}

// ErrNotErased says that a rewind took place, and that an older checkpoint which the store
// keeps still shows what was erased.
var ErrNotErased = errors.New("what was erased can still be read at an older checkpoint that waits for an interrupt")

// checkErased looks whether a checkpoint was kept, as a prune does with one that has an
// open interrupt.
func (h *Hold) checkErased() error {
	if _, ok := h.saver.(checkpointer.Pruner); !ok {
		return nil
	}
	ctx, done := h.outliving(recordBound)
	defer done()
	own := ""
	query := checkpointer.Query{Thread: h.id, Namespace: &own, Limit: checkpointer.N(2)}
	for cp, err := range h.saver.List(ctx, query) {
		if err != nil {
			return fmt.Errorf("reading the thread %q: %w", h.id, err)
		}
		if cp.Ref.ID != h.head.ID {
			return fmt.Errorf("the thread %q is rewound, but %w: %s", h.id, ErrNotErased, cp.Ref.ID)
		}
	}
	return nil
}

// rewrite puts a step that erases history, and begins a new epoch with it.
func (h *Hold) rewrite(step checkpointer.Step) error {
	if step.Channels == nil {
		step.Channels = map[string][]byte{}
	}
	step.Channels[epochChannel] = []byte(langrooms.NewID())
	if err := h.put(step); err != nil {
		return err
	}
	h.enter()
	return nil
}

// Delete removes the thread. The hold is over with it.
func (h *Hold) Delete() error {
	ctx, done := h.outliving(recordBound)
	defer done()
	if err := h.saver.DeleteThread(ctx, h.id); err != nil {
		return fmt.Errorf("deleting the thread %q: %w", h.id, err)
	}
	h.head, h.length, h.channels = checkpointer.Ref{Thread: h.id}, 0, map[string][]byte{}
	h.enter()
	return nil
}

// ErrNoAbility says that the store cannot do what was asked.
var ErrNoAbility = errors.New("the store cannot do this")

// Fork copies what the hold sees below position upTo to the thread of target, which must
// not exist yet; nil means all of it. When it fails nothing is left there.
func (h *Hold) Fork(upTo *int64, target *Hold) error {
	forker, ok := h.saver.(checkpointer.Forker)
	if !ok {
		return fmt.Errorf("%w: fork", ErrNoAbility)
	}
	if !h.Exists() {
		return fmt.Errorf("the thread %q: %w", h.id, checkpointer.ErrNotFound)
	}
	ctx, done := target.outliving(recordBound)
	defer done()
	ref, err := forker.Fork(ctx, h.head, upTo, target.id)
	if err == nil {
		target.head, target.length, target.channels = ref, h.length, maps.Clone(h.channels)
		if upTo != nil {
			target.length = min(target.length, *upTo)
		}
		step := checkpointer.Step{ID: langrooms.NewID(), Metadata: checkpointer.Metadata{"source": "fork"}}
		if _, ok := target.channels[CostsChannel]; ok {
			step.Remove = []string{CostsChannel}
		}
		err = target.rewrite(step)
		if err != nil {
			err = errors.Join(err, target.Delete())
		}
	}
	if err != nil {
		return fmt.Errorf("forking the thread %q to %q: %w", h.id, target.id, err)
	}
	return nil
}

// BeforeChannel holds the id of the checkpoint before the newest compaction, which still sees what
// was replaced, as long as the store keeps it; that checkpoint's own has the one before, and so on.
const BeforeChannel = "thread.before_compaction"

// Compact puts summary in place of all but the keep newest messages. What it replaces stays readable
// at an older checkpoint, see [Whole], until that is pruned.
func (h *Hold) Compact(summary langrooms.Message, keep int) error {
	compacter, ok := h.saver.(checkpointer.Compacter)
	if !ok {
		return fmt.Errorf("%w: compact", ErrNoAbility)
	}
	before := checkpointer.Step{ID: langrooms.NewID(), Channels: map[string][]byte{BeforeChannel: []byte(h.head.ID)},
		Metadata: checkpointer.Metadata{"source": sourceCompact}}
	if err := h.put(before); err != nil {
		return err
	}
	ctx, done := h.outliving(recordBound)
	defer done()
	ref, err := compacter.Compact(ctx, h.head, summary, keep)
	if err != nil {
		return fmt.Errorf("compacting the thread %q: %w", h.id, err)
	}
	h.head = ref
	return nil
}

// SourceFork marks the checkpoint with which a branch begins.
const SourceFork = "fork"

// Branch begins a branch of the thread at an older checkpoint, which keeps what that sees below
// position upTo, or all with nil. Unlike [Hold.Rewind] nothing is erased: the other branch stays
// where it is. The branch has an epoch of its own, because a peer remembers what it does not
// hold. ErrNotFound when there is no such checkpoint.
func (h *Hold) Branch(checkpoint string, upTo *int64) error {
	at, err := h.saver.Get(h.ctx, checkpointer.Ref{Thread: h.id, ID: checkpoint})
	if err != nil {
		return fmt.Errorf("the checkpoint %q of the thread %q: %w", checkpoint, h.id, err)
	}
	length := at.Length
	if upTo != nil {
		length = min(length, *upTo)
	}
	costs, spent := h.channels[CostsChannel]
	h.head, h.channels = at.Ref, maps.Clone(at.Channels)
	if h.channels == nil {
		h.channels = map[string][]byte{}
	}
	step := checkpointer.Step{ID: langrooms.NewID(), Fork: true, Truncate: &length, Metadata: checkpointer.Metadata{"source": SourceFork}}
	for name := range h.channels {
		if name != epochChannel && name != BeforeChannel && !(spent && name == CostsChannel) {
			step.Remove = append(step.Remove, name) // what was under way there is not under way here
		}
	}
	if spent {
		step.Channels = map[string][]byte{CostsChannel: costs}
	}
	err = h.rewrite(step)
	if err == nil {
		h.length = length
	}
	return err
}
