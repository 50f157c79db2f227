package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/thread"
)

// Threads works on the threads of one store.
type Threads struct {
	// Saver holds them. Required.
	Saver checkpointer.Saver
	// Forget drops what is remembered of a thread whose history was erased: its peers'
	// conversations and the late answers waited for. Nil when nothing is.
	Forget func(ctx context.Context, thread string) error
	// Summarize writes the summary of a compaction that is given no text. Nil refuses
	// such a compaction. What was said incognito is not among the messages.
	Summarize func(ctx context.Context, messages []langrooms.Message) (string, error)
}

// ErrNoMessage says that a thread holds no message of the given id.
var ErrNoMessage = errors.New("no such message on the thread")

// hold begins a hold on a thread that must exist.
func (t *Threads) hold(ctx context.Context, id string) (*thread.Hold, error) {
	hold, err := exchange.Hold(ctx, t.Saver, id)
	if err != nil {
		return nil, err
	}
	if !hold.Exists() {
		return nil, errors.Join(fmt.Errorf("the thread %q: %w", id, checkpointer.ErrNotFound), hold.End())
	}
	return hold, nil
}

// with runs do while it holds the thread.
func (t *Threads) with(ctx context.Context, id string, do func(*thread.Hold) error) error {
	hold, err := t.hold(ctx, id)
	if err != nil {
		return err
	}
	return errors.Join(do(hold), hold.End())
}

// forget drops what is remembered of a thread. It is called while the thread is held.
func (t *Threads) forget(ctx context.Context, id string) error {
	if t.Forget == nil {
		return nil
	}
	return t.Forget(ctx, id)
}

// Rewind drops every message after the one of the given id, which stays, and returns how
// many were dropped. When none follows it nothing is changed. ErrNoMessage, ErrNotFound.
func (t *Threads) Rewind(ctx context.Context, id, message string) (removed int, err error) {
	err = t.with(ctx, id, func(hold *thread.Hold) error {
		at, after, err := find(hold, message)
		if err != nil || after == 0 {
			return err
		}
		if err := t.forget(hold.Context(), id); err != nil {
			return err
		}
		if err := hold.Rewind(at + 1); err != nil {
			return err
		}
		removed = after
		return nil
	})
	return removed, err
}

// find returns the position of a message and how many messages follow it.
func find(hold *thread.Hold, id string) (at int64, after int, err error) {
	messages, err := hold.History()
	if err != nil {
		return 0, 0, err
	}
	for i, m := range messages {
		if m.ID == id {
			return m.Seq, len(messages) - 1 - i, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: %q, thread %q", ErrNoMessage, id, hold.Thread())
}

// Delete removes a thread. ErrNotFound when there is none.
func (t *Threads) Delete(ctx context.Context, id string) error {
	return t.with(ctx, id, func(hold *thread.Hold) error {
		if err := t.forget(hold.Context(), id); err != nil {
			return err
		}
		return hold.Delete()
	})
}

// Fork begins the new thread to as a copy of thread, up to and with the message of the
// given id; empty means all of it. Nothing is remembered under the new name. ErrConflict
// when the thread to exists.
func (t *Threads) Fork(ctx context.Context, id, to, message string) error {
	if err := langrooms.CheckThreadID(to); err != nil {
		return err
	}
	if id == to {
		return fmt.Errorf("%w: the thread %q cannot be forked to itself", checkpointer.ErrInvalid, to)
	}
	return t.with(ctx, id, func(hold *thread.Hold) error {
		var upTo *int64
		if message != "" {
			at, _, err := find(hold, message)
			if err != nil {
				return err
			}
			at++
			upTo = &at
		}
		// A thread that exists is not waited for: its writer may be forking to this one.
		if err := t.absent(hold.Context(), to); err != nil {
			return err
		}
		target, err := exchange.Hold(ctx, t.Saver, to)
		if err != nil {
			return err
		}
		return errors.Join(t.forkTo(hold, upTo, target), target.End())
	})
}

// absent is ErrConflict when the thread exists.
func (t *Threads) absent(ctx context.Context, id string) error {
	_, err := t.Saver.Get(ctx, checkpointer.Ref{Thread: id})
	switch {
	case err == nil:
		return exists(id)
	case errors.Is(err, checkpointer.ErrNotFound):
		return nil
	}
	return fmt.Errorf("reading the thread %q: %w", id, err)
}

func exists(id string) error { return &existsError{id} }

// existsError is an ErrConflict in words that fit a thread which was to be new.
type existsError struct{ thread string }

func (e *existsError) Error() string { return fmt.Sprintf("the thread %q exists already", e.thread) }
func (e *existsError) Unwrap() error { return checkpointer.ErrConflict }

// forkTo forks while both threads are held.
func (t *Threads) forkTo(hold *thread.Hold, upTo *int64, target *thread.Hold) error {
	if target.Exists() {
		return exists(target.Thread())
	}
	if err := t.forget(target.Context(), target.Thread()); err != nil {
		return err
	}
	return hold.Fork(upTo, target)
}

// DefaultKeep is how many messages a compaction keeps unless told otherwise.
const DefaultKeep = 20

// Compact puts a summary in place of all but the keep newest messages and returns how many
// it replaced; 0 means that there was nothing to do. An empty text has the summary written by
// Summarize. Stamps, cast and each member's place in the conversation survive.
func (t *Threads) Compact(ctx context.Context, id string, keep int, text string) (replaced int, err error) {
	if keep < 0 {
		return 0, fmt.Errorf("%w: %d messages cannot be kept", checkpointer.ErrInvalid, keep)
	}
	if err := langrooms.CheckText(text); err != nil {
		return 0, fmt.Errorf("the summary: %w", err)
	}
	text = strings.TrimSpace(text)
	err = t.with(ctx, id, func(hold *thread.Hold) error {
		messages, err := hold.History()
		if err != nil {
			return err
		}
		cut := cutAt(messages, keep)
		if cut == 0 || cut == 1 && messages[0].Summary != nil {
			return nil
		}
		var meter exchange.Meter
		if text == "" {
			if text, err = t.summarize(exchange.WithMeter(ctx, &meter), messages[:cut], pieceTokens); err != nil {
				return errors.Join(err, meter.Charge(hold))
			}
		}
		if err := hold.Compact(summaryOf(messages[:cut], text), len(messages)-cut); err != nil {
			return errors.Join(err, meter.Charge(hold))
		}
		replaced = cut
		return meter.Charge(hold)
	})
	return replaced, err
}

// cutAt returns how many of the oldest messages are replaced. A tool's result is never
// parted from the call in front of it.
func cutAt(messages []langrooms.Message, keep int) int {
	cut := max(0, len(messages)-keep)
	for cut > 0 && cut < len(messages) && messages[cut].Role == langrooms.RoleTool {
		cut--
	}
	return cut
}
