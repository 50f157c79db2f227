package lifecycle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/thread"
)

// Shorten compacts a thread that is near a bound of the lead's history (see room.History) while
// others use it: Summarize works without a hold, and the summary is put under a short one. It replaces
// so much that a third of the bound is left. When the thread has been compacted or rewritten
// meanwhile nothing is done, and so it is where another process is at it already; replaced is 0 then.
func (t *Threads) Shorten(ctx context.Context, id string, tokens int) (replaced int, err error) {
	release, ok, err := t.alone(ctx, id)
	if err != nil || !ok {
		return 0, err
	}
	defer func() { err = errors.Join(err, release()) }()
	v, err := thread.Read(ctx, t.Saver, id)
	if err != nil || v.At.ID == "" {
		return 0, err
	}
	var messages []langrooms.Message
	for m, err := range t.Saver.Messages(ctx, v.At, checkpointer.Range{}) {
		if err != nil {
			return 0, fmt.Errorf("reading the thread %q: %w", id, err)
		}
		messages = append(messages, m)
	}
	if !room.Long(messages, tokens) {
		return 0, nil
	}
	cut := cutAt(messages, newest(messages, tokens/3))
	if cut == 0 || cut == 1 && messages[0].Summary != nil {
		return 0, nil
	}
	var meter exchange.Meter
	text, err := t.summarize(exchange.WithMeter(ctx, &meter), messages[:cut], min(pieceTokens, 3*tokens/4))
	if err != nil {
		return 0, err
	}
	return t.replace(ctx, id, messages[:cut], text, &meter)
}

// newest returns how many of the newest messages take no more than the given tokens.
func newest(messages []langrooms.Message, tokens int) int {
	sum := 0
	for n := range messages {
		if sum += room.Tokens(messages[len(messages)-1-n]); sum > tokens {
			return n
		}
	}
	return len(messages)
}

// replace puts a summary of old in their place if the thread still begins with them. What the
// summary cost is the thread's in either case.
func (t *Threads) replace(ctx context.Context, id string, old []langrooms.Message, text string, meter *exchange.Meter) (replaced int, err error) {
	hold, err := exchange.Hold(ctx, t.Saver, id)
	if err != nil {
		return 0, err
	}
	defer func() {
		if hold.Exists() { // else it was deleted meanwhile
			err = errors.Join(err, meter.Charge(hold))
		}
		err = errors.Join(err, hold.End())
	}()
	now, err := hold.History()
	if err != nil || len(now) < len(old) {
		return 0, err
	}
	for i, m := range old {
		if now[i].ID != m.ID || now[i].Seq != m.Seq {
			return 0, nil
		}
	}
	if err := hold.Compact(summaryOf(now[:len(old)], text), len(now)-len(old)); err != nil {
		return 0, err
	}
	return len(old), nil
}

// alone takes the lease that one process at a time shortens a thread under; ok is false where
// another one has it.
func (t *Threads) alone(ctx context.Context, id string) (release func() error, ok bool, err error) {
	hold, err := thread.Try(ctx, t.Saver, shortenLease(id))
	switch {
	case errors.Is(err, thread.ErrBusy):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	return hold.End, true, nil
}

// shortenLease names the lease. A thread's id may be as long as an id can be.
func shortenLease(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "\x1flangrooms\x1fshorten/" + hex.EncodeToString(sum[:])
}

// Uncompact puts what summaries replaced back in their place, as far back as the store has kept it,
// and returns how many messages that was. 0 means that the thread holds no summary. When nothing is
// kept of what the newest summary replaced the error is thread.ErrNotKept.
func (t *Threads) Uncompact(ctx context.Context, id string) (restored int, err error) {
	err = t.with(ctx, id, func(hold *thread.Hold) error {
		for {
			n, err := hold.Restore()
			if restored > 0 && errors.Is(err, thread.ErrNotKept) {
				return nil // that much is back
			}
			if err != nil || n == 0 {
				return err
			}
			restored += n
		}
	})
	return restored, err
}
