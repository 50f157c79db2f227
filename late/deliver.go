package late

import (
	"context"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/thread"
)

// deliver writes what a collection brought. It is called on the collection's goroutine.
func (i *Inbox) deliver(ctx context.Context, late result) {
	anchor := thread.Anchor{Exchange: late.Exchange, Seq: late.Anchor, Epoch: late.Epoch}
	rejoin := func(h *thread.Hold) error { return late.Rejoin(h.Context(), h.Epoch()) }
	if late.passed() {
		err := exchange.Standing(ctx, i.cfg.Saver, late.Thread, anchor, func(h *thread.Hold) error {
			if stood, err := late.Claim(h.Context()); err != nil || !stood {
				return err
			}
			return rejoin(h)
		})
		if err != nil { // the handle stays, for Resume
			i.failed(fmt.Errorf("the late answer of @%s: %w", late.Delegate, err))
		}
		return
	}
	m := lateMessage(late)
	landed, err := i.land(ctx, late.Thread, anchor, m, func(h *thread.Hold) (bool, error) { return late.Claim(h.Context()) })
	if err != nil {
		i.failed(fmt.Errorf("the late answer of @%s: %w", late.Delegate, err))
	}
	if !landed {
		return
	}
	if !m.Stamp.Failed {
		if err := exchange.Standing(ctx, i.cfg.Saver, late.Thread, anchor, rejoin); err != nil {
			i.failed(fmt.Errorf("the conversation with @%s: %w", late.Delegate, err))
		}
	}
	i.arrive(late.Thread, m, late.Result == endedPaused)
}

// passed reports whether the member had nothing to add, where it had been offered to say so.
func (l result) passed() bool {
	return l.Result == endedAnswered && l.Silence && room.Silent(exchange.ReplyText(l.View.Reply))
}

// withoutText is why an answer that says nothing is recorded as failed.
const withoutText = "it answered without text"

// lateMessage is the record of a late answer, or of its failure.
func lateMessage(late result) langrooms.Message {
	rec := room.ReplyRecord{From: late.Delegate, Exchange: late.Exchange, Round: late.Round,
		Late: true, Incognito: late.Incognito, Seen: late.Seen}
	var kind langrooms.ErrorKind
	var cause string
	switch late.Result {
	case endedAnswered, endedPaused:
		if rec.Text = exchange.ReplyText(late.View.Reply); rec.Text == "" {
			kind, cause = langrooms.ErrorFailed, withoutText
		}
	case endedFailed:
		kind, cause = langrooms.ErrorFailed, "it failed and did not say why"
		if e := late.View.Err; e != nil && e.Cause() != "" {
			kind, cause = e.Kind, e.Cause()
		}
	case endedGaveUp:
		kind, cause = langrooms.ErrorStillRunning, "still running after an hour; the answer is not waited for any longer"
	default:
		kind, cause = langrooms.ErrorUnreachable, "lost touch while waiting for the late answer: "+delegate.Cause(late.Err)
	}
	return lateRecord(rec, kind, cause)
}

// lateRecord makes the record that rec is, of a failure when there is a kind of one.
func lateRecord(rec room.ReplyRecord, kind langrooms.ErrorKind, cause string) langrooms.Message {
	if kind != "" {
		rec.Failed, rec.Seen, rec.Text = true, 0, room.FailedText(kind, cause)
	}
	rec.Text = room.LateText(rec.Text)
	return room.NewReply(rec)
}
