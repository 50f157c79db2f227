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
	anchor := thread.Anchor{Exchange: late.Stamp.Exchange, Seq: late.Anchor, Epoch: late.Epoch}
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
	late.View.Reply.Usage = i.priced(late.Stamp.From, late.View.Reply.Usage)
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

// priced is what an answer of member's cost, as far as it is known.
func (i *Inbox) priced(member string, u *langrooms.Usage) *langrooms.Usage {
	if u = u.Plausible(); i.cfg.Price != nil {
		u = u.Priced(i.cfg.Price(member))
	}
	return u
}

// passed reports whether the member had nothing to add, where it had been offered to say so.
func (l result) passed() bool {
	return l.Result == endedAnswered && l.Silence && room.Silent(exchange.ReplyText(l.View.Reply))
}

// lateMessage is the record of a late answer, or of its failure.
func lateMessage(late result) langrooms.Message {
	var kind langrooms.ErrorKind
	var cause string
	switch late.Result {
	case endedAnswered, endedPaused:
		return lateReply(late.Stamp, late.View.Reply)
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
	return lateFailure(late.Stamp, kind, cause)
}

// lateReply makes the record of a reply; one that says nothing is recorded as failed.
func lateReply(s langrooms.Stamp, reply delegate.Reply) langrooms.Message {
	text := exchange.ReplyText(reply)
	if text == "" {
		return lateFailure(s, langrooms.ErrorFailed, "it answered without text")
	}
	s.Late, s.Usage = true, reply.Usage
	if reply.Paused {
		s.Task = reply.Task
	}
	m := room.NewReply(s, room.LateText(text))
	m.Parts = append(m.Parts, reply.Files...)
	return m
}

func lateFailure(s langrooms.Stamp, kind langrooms.ErrorKind, cause string) langrooms.Message {
	s.Late = true
	return room.NewFailure(s, kind, cause)
}
