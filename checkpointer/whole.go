package checkpointer

import (
	"context"
	"fmt"
	"iter"

	"github.com/langrooms/langrooms"
)

// Snapshotter reads a checkpoint and a piece of its messages at one moment.
type Snapshotter interface {
	// Snapshot returns what Get and Messages return for at, of the same moment, in one
	// round trip.
	Snapshot(ctx context.Context, at Ref, r Range) (Checkpoint, []langrooms.Message, error)
}

// ListAll lists the checkpoints of all threads: thread by thread, most recently put
// first, each as List does. q.Thread, q.Before and q.BeforeID must be empty and s a
// [Lister], else ErrInvalid. Threads that cannot be read are left out.
func ListAll(ctx context.Context, s Saver, q Query) iter.Seq2[Checkpoint, error] {
	return func(yield func(Checkpoint, error) bool) {
		lister, ok := s.(Lister)
		if !ok || q.Thread != "" || q.Before.ID != "" || q.BeforeID != "" || q.Limit != nil && *q.Limit < 0 {
			yield(Checkpoint{}, fmt.Errorf("list of all threads: %w: it takes no thread and no Before, and a store that lists threads", ErrInvalid))
			return
		}
		left := -1
		if q.Limit != nil {
			left = *q.Limit
		}
		for info, err := range lister.Threads(ctx) {
			if err != nil {
				yield(Checkpoint{}, err)
				return
			}
			if left == 0 {
				return
			}
			if info.Err != nil {
				continue
			}
			q.Thread = info.Thread
			if left > 0 {
				q.Limit = N(left)
			}
			for cp, err := range s.List(ctx, q) {
				if !yield(cp, err) || err != nil {
					return
				}
				left--
			}
		}
	}
}

// DeleteRun removes every checkpoint of a run, in all threads, and returns how many. The
// store must be a [Lister] and a [Pruner], else ErrInvalid. Breaking off with an error it
// may have removed some.
func DeleteRun(ctx context.Context, s Saver, runID string) (removed int, err error) {
	lister, lists := s.(Lister)
	pruner, prunes := s.(Pruner)
	if !lists || !prunes || runID == "" {
		return 0, fmt.Errorf("delete of run %q: %w: it takes a run, and a store that lists and prunes", runID, ErrInvalid)
	}
	for info, err := range lister.Threads(ctx) {
		if err != nil {
			return removed, err
		}
		if info.Err != nil {
			continue
		}
		n, err := pruner.Prune(ctx, info.Thread, Retention{RunID: runID})
		removed += n
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}
