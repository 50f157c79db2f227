package exchange

import (
	"context"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// Anchor is the record on a thread that a later message belongs to: the one at position
// Seq, of the exchange.
type Anchor struct {
	Exchange string
	Seq      int64
}

// Land puts a message that arrived outside of a turn on its thread. It waits for the
// thread, and once it holds it looks whether the anchor still stands there, and asks
// claim. When either says no nothing is put and landed is false: history that was erased
// while the message was on its way stays erased, and nothing lands twice.
func Land(ctx context.Context, saver checkpointer.Saver, thread string, a Anchor, m langrooms.Message, claim func(context.Context) (bool, error)) (landed bool, err error) {
	t, err := Begin(ctx, saver, thread)
	if err != nil {
		return false, err
	}
	defer func() {
		if rerr := t.End(); err == nil {
			err = rerr
		}
	}()
	stands, err := t.stands(a) // before the claim, which cannot be taken back
	if err != nil {
		return false, err
	}
	if ok, err := claim(t.Context()); err != nil || !ok || !stands {
		return false, err
	}
	if err := t.Put("room", m); err != nil {
		return false, err
	}
	return true, nil
}

// stands reports whether the thread still holds the anchor's record, itself or as part of
// a summary.
func (t *Turn) stands(a Anchor) (bool, error) {
	if t.head.ID == "" {
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
