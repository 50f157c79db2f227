package thread

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// Step is one write: messages and channels together, or not at all.
type Step struct {
	// Source says who writes: LangGraph's metadata key "source".
	Source string
	// Messages are appended, in order.
	Messages []langrooms.Message
	// Set gives channels these values, Remove takes channels away. A channel must not be
	// in both.
	Set    map[string][]byte
	Remove []string
}

// Put makes the step one checkpoint. It does not end with the hold's context: what was
// heard is recorded, within a bounded time, although the operator has stopped the work. A
// failure of the store is retried. ErrFenced when another writer has the thread.
func (h *Hold) Put(step Step) error { return h.append(step, h.saver.Put) }

// PutLast is Put for the last step of a hold: where the store can it gives the thread back in the
// same round trip, unless it fails. [Hold.End] must be called all the same.
func (h *Hold) PutLast(step Step) error {
	if last, ok := h.lease.(checkpointer.LastPutter); ok {
		return h.append(step, last.PutLast)
	}
	return h.Put(step)
}

// putter is Saver.Put or what stands for it.
type putter = func(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error)

func (h *Hold) append(step Step, put putter) error {
	set := make(map[string][]byte, len(step.Set)+1)
	for name, value := range step.Set {
		set[name] = value
	}
	if string(h.channels[epochChannel]) != h.epoch {
		set[epochChannel] = []byte(h.epoch)
	}
	err := h.putBy(put, checkpointer.Step{
		ID:       langrooms.NewID(),
		Log:      checkpointer.Append(step.Messages...),
		Channels: set,
		Remove:   step.Remove,
		Metadata: checkpointer.Metadata{"source": step.Source},
	})
	if err != nil {
		return err
	}
	h.length += int64(len(step.Messages))
	if h.stored != nil && len(step.Messages) > 0 {
		h.stored(h.head.ID, step.Messages)
	}
	return nil
}

// put puts step after the head and follows it.
func (h *Hold) put(step checkpointer.Step) error { return h.putBy(h.saver.Put, step) }

func (h *Hold) putBy(put putter, step checkpointer.Step) error {
	ref, err := h.retry(func(ctx context.Context) (checkpointer.Ref, error) {
		return put(ctx, h.head, step)
	})
	if err != nil {
		return fmt.Errorf("storing on the thread %q: %w", h.id, err)
	}
	h.head, h.rewound = ref, false
	for name, value := range step.Channels {
		h.channels[name] = value
	}
	for _, name := range step.Remove {
		delete(h.channels, name)
	}
	return nil
}

// retry repeats a put while the store is unavailable: the step's ID makes that safe.
func (h *Hold) retry(put func(context.Context) (checkpointer.Ref, error)) (checkpointer.Ref, error) {
	ctx, done := h.outliving(stoppedBound)
	defer done()
	ctx, cancel := context.WithTimeout(ctx, recordBound)
	defer cancel()
	pause := 50 * time.Millisecond
	var away error
	for {
		ref, err := put(ctx)
		if err != nil && ctx.Err() != nil && away != nil {
			return ref, away // the end of the patience is not what is wrong
		}
		if !errors.Is(err, checkpointer.ErrUnavailable) {
			return ref, err
		}
		away = err
		select {
		case <-ctx.Done():
			return ref, err
		case <-time.After(pause):
			pause = min(2*pause, 2*time.Second)
		}
	}
}

// Edit changes the messages of the thread by entries of the log, as one checkpoint. What is
// replaced or removed a peer may still remember, so a new epoch begins.
func (h *Hold) Edit(source string, entries []checkpointer.Entry) error {
	err := h.rewrite(checkpointer.Step{ID: langrooms.NewID(), Log: entries, Metadata: checkpointer.Metadata{"source": source}})
	if err == nil {
		h.length += int64(len(entries))
	}
	return err
}
