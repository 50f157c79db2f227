package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// ErrKeyReused: the request's key was that of another request.
var ErrKeyReused = errors.New("the idempotency key was used for another request")

// keysWithin bounds how far back a key is looked for, in runs of the thread.
const keysWithin = 100

// same reports whether r is what a request with this key has asked for before.
func (r Run) same(key, digest string) (bool, error) {
	switch {
	case key == "" || r.Key != key:
		return false, nil
	case r.Digest != digest:
		return true, fmt.Errorf("%w: run %s on the thread %q", ErrKeyReused, r.ID, r.Thread)
	}
	return true, nil
}

// again finds the run that a request has asked for before, as of a checkpoint of the book; none is
// the zero Run.
func (b book) again(ctx context.Context, at checkpointer.Ref, key, digest string) (Run, error) {
	looked := 0
	for m, err := range b.saver.Messages(ctx, at, checkpointer.Range{Backward: true, Limit: checkpointer.N(keysWithin)}) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			return Run{}, nil
		}
		if err != nil {
			return Run{}, fmt.Errorf("the runs of the thread %q: %w", at.Thread, err)
		}
		r, err := parse(at.Thread, m)
		if err != nil {
			return Run{}, err
		}
		if found, err := r.same(key, digest); found {
			return r, err
		}
		if looked++; looked == keysWithin {
			break
		}
	}
	return Run{}, nil
}

// add stores the record of a new run, unless its key has one already, which is returned then. Of
// several that add at once, in whatever process, one is first: the others come behind its record.
func (b book) add(ctx context.Context, r Run) (earlier Run, err error) {
	data, err := json.Marshal(r)
	if err != nil {
		return Run{}, fmt.Errorf("the record of run %s: %w", r.ID, err)
	}
	m := langrooms.Message{ID: r.ID, Time: r.Created, Role: langrooms.RoleSystem, Parts: []langrooms.Part{langrooms.TextPart(string(data))}}
	step := checkpointer.Step{ID: langrooms.NewID(), Log: []checkpointer.Entry{{Op: checkpointer.OpAppend, Message: m}}}
	err = b.behind(ctx, r.Thread, step, func(newest checkpointer.Ref) (err error) {
		if r.Key == "" || newest.ID == "" {
			return nil
		}
		if earlier, err = b.again(ctx, newest, r.Key, r.Digest); err == nil && earlier.ID != "" {
			err = errEarlier
		}
		return err
	})
	if errors.Is(err, errEarlier) {
		return earlier, nil
	}
	return Run{}, err
}

// errEarlier ends an add that has found its key.
var errEarlier = errors.New("the key has a run")
