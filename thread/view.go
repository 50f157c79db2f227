package thread

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// View is a position that a thread is read from: what a checkpoint shows, and behind it
// messages that are not stored yet. It needs no hold and stays what it is while others
// write.
type View struct {
	// Thread is the thread's id, and Epoch the life of its history; see [Hold.Epoch].
	Thread, Epoch string
	// At is the checkpoint; its ID is empty on a thread that does not exist.
	At checkpointer.Ref
	// Length is the position behind the checkpoint's messages.
	Length int64
	// Unsaved are messages behind it, in order, each with the position it will have; Next
	// is the position behind them.
	Unsaved []langrooms.Message
	Next    int64

	saver checkpointer.Saver
}

// Read returns the view of the thread's newest checkpoint.
func Read(ctx context.Context, saver checkpointer.Saver, id string) (View, error) {
	v := View{Thread: id, At: checkpointer.Ref{Thread: id}, saver: saver}
	cp, err := saver.Get(ctx, v.At)
	if errors.Is(err, checkpointer.ErrNotFound) {
		return v, nil
	}
	if err != nil {
		return View{}, fmt.Errorf("reading the thread %q: %w", id, err)
	}
	v.At, v.Length, v.Next, v.Epoch = cp.Ref, cp.Length, cp.Length, string(cp.Channels[epochChannel])
	return v, nil
}

// View returns what the hold sees now.
func (h *Hold) View() View {
	return View{Thread: h.id, Epoch: h.epoch, At: h.head, Length: h.length, Next: h.length, saver: h.saver}
}

// With returns the view with messages behind it that are not stored yet.
func (v View) With(messages ...langrooms.Message) View {
	v.Unsaved = slices.Clone(v.Unsaved)
	for _, m := range messages {
		m.Seq = v.Next
		v.Unsaved = append(v.Unsaved, m)
		v.Next++
	}
	return v
}

// NewestFirst yields the messages of the view backwards; stored ones are read a page at a
// time.
func (v View) NewestFirst(ctx context.Context, page int) iter.Seq2[langrooms.Message, error] {
	return func(yield func(langrooms.Message, error) bool) {
		for _, m := range slices.Backward(v.Unsaved) {
			if !yield(m, nil) {
				return
			}
		}
		if v.At.ID == "" {
			return
		}
		to := int64(0)
		for {
			read := 0
			for m, err := range v.saver.Messages(ctx, v.At, checkpointer.Range{To: to, Limit: &page, Backward: true}) {
				if !yield(m, err) || err != nil {
					return
				}
				read, to = read+1, m.Seq
			}
			if read < page || to == 0 {
				return
			}
		}
	}
}

// History returns all stored messages as the hold sees them, oldest first.
func (h *Hold) History() ([]langrooms.Message, error) {
	if !h.Exists() {
		return nil, nil
	}
	var messages []langrooms.Message
	for m, err := range h.saver.Messages(h.ctx, h.head, checkpointer.Range{}) {
		if err != nil {
			return nil, fmt.Errorf("reading the thread %q: %w", h.id, err)
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// Anchor is the record on a thread that a later message belongs to: the one at position
// Seq, of the exchange.
type Anchor struct {
	Exchange string
	Seq      int64
	// Epoch is the life of the thread's history that the record stands in; empty means any.
	Epoch string
}

// Stands reports whether the thread still holds the anchor's record, itself or as part of
// a summary.
func (h *Hold) Stands(a Anchor) (bool, error) {
	if !h.Exists() || a.Epoch != "" && a.Epoch != h.epoch {
		return false, nil
	}
	for m, err := range h.saver.Messages(h.ctx, h.head, checkpointer.Range{From: a.Seq, Limit: checkpointer.N(1)}) {
		if err != nil {
			return false, fmt.Errorf("reading the thread %q: %w", h.id, err)
		}
		own := m.Seq == a.Seq && m.Stamp != nil && m.Stamp.Exchange == a.Exchange
		return own || m.Summary != nil, nil
	}
	return false, nil
}
