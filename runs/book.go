package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// Namespace is where a thread keeps the records of its runs.
const Namespace = "langrooms.runs"

// book keeps the records: a log of its own namespace, an entry a run, replaced as it goes on.
type book struct{ saver checkpointer.Saver }

// put stores the record of r: new, or in place of its older self.
func (b book) put(ctx context.Context, r Run, op checkpointer.Op) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("the record of run %s: %w", r.ID, err)
	}
	m := langrooms.Message{ID: r.ID, Time: r.Created, Role: langrooms.RoleSystem, Parts: []langrooms.Part{langrooms.TextPart(string(data))}}
	step := checkpointer.Step{ID: langrooms.NewID(), Log: []checkpointer.Entry{{Op: op, Message: m}}}
	return b.change(ctx, r.Thread, step)
}

// remove takes the record of a run out.
func (b book) remove(ctx context.Context, thread, id string) error {
	return b.change(ctx, thread, checkpointer.Step{ID: langrooms.NewID(), Log: []checkpointer.Entry{{Op: checkpointer.OpRemove, ID: id}}})
}

// change puts step after whatever is newest.
func (b book) change(ctx context.Context, thread string, step checkpointer.Step) error {
	return b.behind(ctx, thread, step, func(checkpointer.Ref) error { return nil })
}

// behind puts step after whatever is newest, where may has nothing against it.
func (b book) behind(ctx context.Context, thread string, step checkpointer.Step, may func(newest checkpointer.Ref) error) error {
	at := checkpointer.Ref{Thread: thread, Namespace: Namespace}
	err := checkpointer.GiveWay(func() error {
		cp, err := b.saver.Get(ctx, at)
		if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
			return err
		}
		parent := at
		parent.ID = cp.Ref.ID
		if err := may(parent); err != nil {
			return err
		}
		_, err = b.saver.Put(ctx, parent, step)
		return err
	})
	if err != nil {
		return fmt.Errorf("the runs of the thread %q: %w", thread, err)
	}
	return nil
}

// list returns the newest records, newest first, at most limit (0 for all), of those that
// keep says yes to.
func (b book) list(ctx context.Context, thread string, limit int, keep func(Run) bool) ([]Run, error) {
	var found []Run
	at := checkpointer.Ref{Thread: thread, Namespace: Namespace}
	for m, err := range b.saver.Messages(ctx, at, checkpointer.Range{Backward: true}) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the runs of the thread %q: %w", thread, err)
		}
		r, err := parse(thread, m)
		if err != nil {
			return nil, err
		}
		if keep != nil && !keep(r) {
			continue
		}
		if found = append(found, r); limit > 0 && len(found) == limit {
			break
		}
	}
	return found, nil
}

func parse(thread string, m langrooms.Message) (Run, error) {
	var r Run
	if err := json.Unmarshal([]byte(m.Text()), &r); err != nil {
		return Run{}, fmt.Errorf("%w: the record of run %s on the thread %q: %w", checkpointer.ErrFormat, m.ID, thread, err)
	}
	r.ID, r.Thread = m.ID, thread
	return r, nil
}

// get returns one record.
func (b book) get(ctx context.Context, thread, id string) (Run, error) {
	found, err := b.list(ctx, thread, 1, func(r Run) bool { return r.ID == id })
	switch {
	case err != nil:
		return Run{}, err
	case len(found) == 0:
		return Run{}, fmt.Errorf("%w: %s on the thread %q", ErrUnknown, id, thread)
	}
	return found[0], nil
}

// storeBound is how long a record or a page of events may take to be written once the run is
// under way.
const storeBound = 15 * time.Second
