package exchange

import (
	"context"
	"errors"
	"fmt"

	"github.com/langrooms/langrooms/checkpointer"
)

// Sweep closes, without a turn, what a dead process left open on a thread: each unanswered
// dispatch is recorded as failed (spec: rooms, 2.4). It returns the members it did so for;
// the thread's next turn tells its operator of them.
//
// A program calls it at its start for the thread it serves; otherwise the next turn there
// does the same. A thread with nothing open, or that does not exist, costs one read. On one
// with an open exchange Sweep waits for the lease until ctx ends, so an exchange that a
// living process is running is left to it; a killed process holds its lease for up to 20
// seconds, so a program with somebody waiting calls Sweep beside its other work.
func Sweep(ctx context.Context, saver checkpointer.Saver, id string) (interrupted []string, err error) {
	cp, err := saver.Get(ctx, checkpointer.Ref{Thread: id})
	if errors.Is(err, checkpointer.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the thread %q: %w", id, err)
	}
	if _, open := cp.Channels[openChannel]; !open {
		return nil, nil
	}
	t, err := Begin(ctx, saver, id)
	if err != nil {
		return nil, err
	}
	return t.Interrupted(), t.End()
}
