package exchange

import (
	"context"
	"errors"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/thread"
)

// Land puts a message that arrived outside of a turn on its thread. It waits for the
// thread, and once it holds it looks whether the anchor still stands there, and asks
// claim. When either says no nothing is put and landed is false: history that was erased
// while the message was on its way stays erased, and nothing lands twice. The error of a
// message that has landed is that the thread could not be given back.
func Land(ctx context.Context, saver checkpointer.Saver, id string, a thread.Anchor, m langrooms.Message, claim func(*thread.Hold) (bool, error)) (landed bool, err error) {
	err = withHold(ctx, saver, id, func(h *thread.Hold) error {
		stands, err := h.Stands(a) // before the claim, which cannot be taken back
		if err != nil {
			return err
		}
		if ok, err := claim(h); err != nil || !ok || !stands {
			return err
		}
		step := thread.Step{Source: sourceRoom, Messages: []langrooms.Message{m}}
		if m.Stamp != nil {
			charge(h, &step, langrooms.Outcome{Author: m.Stamp.From, ErrorKind: m.Stamp.ErrorKind, Usage: m.Stamp.Usage})
		}
		err = h.Put(step)
		landed = err == nil
		return err
	})
	return landed, err
}

// Standing calls do while it holds the thread, if the anchor still stands there.
func Standing(ctx context.Context, saver checkpointer.Saver, id string, a thread.Anchor, do func(*thread.Hold) error) error {
	return withHold(ctx, saver, id, func(h *thread.Hold) error {
		if ok, err := h.Stands(a); err != nil || !ok {
			return err
		}
		return do(h)
	})
}

func withHold(ctx context.Context, saver checkpointer.Saver, id string, do func(*thread.Hold) error) error {
	h, err := Hold(ctx, saver, id)
	if err != nil {
		return err
	}
	return errors.Join(do(h), h.End())
}
