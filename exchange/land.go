package exchange

import (
	"context"
	"errors"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// Anchor is the record on a thread that a later message belongs to: the one at position
// Seq, of the exchange.
type Anchor struct {
	Exchange string
	Seq      int64
	// Epoch is the life of the thread's history that the record stands in; empty means any.
	Epoch string
}

// Land puts a message that arrived outside of a turn on its thread. It waits for the
// thread, and once it holds it looks whether the anchor still stands there, and asks
// claim. When either says no nothing is put and landed is false: history that was erased
// while the message was on its way stays erased, and nothing lands twice. The error of a
// message that has landed is that the thread could not be given back.
func Land(ctx context.Context, saver checkpointer.Saver, thread string, a Anchor, m langrooms.Message, claim func(context.Context) (bool, error)) (landed bool, err error) {
	err = hold(ctx, saver, thread, func(t *Turn) error {
		stands, err := t.stands(a) // before the claim, which cannot be taken back
		if err != nil {
			return err
		}
		if ok, err := claim(t.Context()); err != nil || !ok || !stands {
			return err
		}
		err = t.Put("room", m)
		landed = err == nil
		return err
	})
	return landed, err
}

// Standing calls do while it holds the thread, if the anchor still stands there. The
// context of do is the lease's.
func Standing(ctx context.Context, saver checkpointer.Saver, thread string, a Anchor, do func(context.Context) error) error {
	return hold(ctx, saver, thread, func(t *Turn) error {
		if ok, err := t.stands(a); err != nil || !ok {
			return err
		}
		return do(t.Context())
	})
}

func hold(ctx context.Context, saver checkpointer.Saver, thread string, do func(*Turn) error) error {
	t, err := Begin(ctx, saver, thread)
	if err != nil {
		return err
	}
	return errors.Join(do(t), t.End())
}

// stands reports whether the thread still holds the anchor's record, itself or as part of
// a summary.
func (t *Turn) stands(a Anchor) (bool, error) {
	if t.head.ID == "" || a.Epoch != "" && a.Epoch != t.epoch {
		return false, nil
	}
	for m, err := range t.saver.Messages(t.ctx, t.head, checkpointer.Range{From: a.Seq, Limit: checkpointer.N(1)}) {
		if err != nil {
			return false, fmt.Errorf("reading the thread %q: %w", t.thread, err)
		}
		own := m.Seq == a.Seq && m.Stamp != nil && m.Stamp.Exchange == a.Exchange
		return own || m.Summary != nil, nil
	}
	return false, nil
}
