package exchange

import (
	"context"
	"errors"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/thread"
)

// Record puts what the answer leaves on the thread that h holds, behind what with writes in
// the same checkpoint, sees to it that a late answer is waited for, and tells Room.Events of
// the dispatch's end. An answer that leaves nothing puts with, if that is anything.
//
// That a record could not be stored is told in the outcome; the error is that the thread has
// passed to another writer.
func Record(h *thread.Hold, r Room, a *Answer, with thread.Step) error {
	anchor := h.Length() + int64(len(with.Messages))
	if a.Record != nil {
		with.Messages = append(with.Messages[:len(with.Messages):len(with.Messages)], *a.Record)
	}
	charge(h, &with, a.Outcome)
	if with.Source == "" {
		with.Source = sourceRoom
	}
	nothing := len(with.Messages) == 0 && len(with.Set) == 0 && len(with.Remove) == 0
	return a.settle(h.Outliving(), r, anchor, func() error {
		if nothing {
			return nil
		}
		return h.Put(with)
	})
}

// sourceRoom is the source of the room's own checkpoints.
const sourceRoom = "room"

// settle ends an answer: a late one is collected, anchored where its failure's record is
// about to stand, the record is put, and the end is told.
func (a *Answer) settle(ctx context.Context, r Room, anchor int64, put func() error) error {
	if a.Late != nil && r.Collect != nil {
		a.Late.Anchor = anchor
		waiting := r.Collect(ctx, *a.Late)
		a.Outcome.Collecting, a.Outcome.Kept = waiting == delegate.Waited, waiting == delegate.Kept
	}
	err := put()
	if a.Outcome.Unrecorded = err != nil; err != nil {
		if errors.Is(err, checkpointer.ErrFenced) {
			a.Outcome.UnrecordedCause = checkpointer.ErrFenced.Error()
		} else {
			a.Outcome.UnrecordedCause = delegate.Cause(errors.Unwrap(err)) // the note names the thread itself
			err = nil
		}
	}
	o := a.Outcome
	r.emit(a.thread, a.exchange, langrooms.Event{Type: langrooms.EventDispatchEnded, Member: o.Author, Round: o.Round, MessageID: a.id, Outcome: &o})
	return err
}

func (r Room) emit(thread, exchange string, e langrooms.Event) {
	e.Thread, e.Exchange = thread, exchange
	r.Events.Emit(e)
}
