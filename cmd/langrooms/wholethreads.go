package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/sharedsession"
	"github.com/langrooms/langrooms/terminal"
	"github.com/langrooms/langrooms/thread"
)

// wholeThreads does over HTTP what `langrooms thread` does to whole threads.
type wholeThreads struct{ saver checkpointer.Saver }

// ours reports whether the id is one that has paths of its own, or none at all.
func ours(id string) bool { return sharedsession.Is(id) || runs.Internal(id) }

// found returns the threads, if id is one that the caller may use.
func (t wholeThreads) found(ctx context.Context, who httpapi.Caller, id string) (*lifecycle.Threads, error) {
	if ours(id) {
		return nil, thread.ErrNone
	}
	_, err := thread.Find(ctx, t.saver, id, thread.Caller{Name: who.Name, Admin: who.Admin})
	return threadsOf(t.saver), err
}

// nothingSaid makes a thread on which nothing has been said yet one that has nothing to show.
func nothingSaid(err error) error {
	if errors.Is(err, checkpointer.ErrNotFound) {
		return lifecycle.ErrNoMessage
	}
	return err
}

func (t wholeThreads) Rewind(ctx context.Context, who httpapi.Caller, id, message string) (int, error) {
	threads, err := t.found(ctx, who, id)
	if err != nil {
		return 0, err
	}
	n, err := threads.Rewind(ctx, id, message)
	return n, nothingSaid(err)
}

func (t wholeThreads) Uncompact(ctx context.Context, who httpapi.Caller, id string) (int, error) {
	threads, err := t.found(ctx, who, id)
	if err != nil {
		return 0, err
	}
	n, err := threads.Uncompact(ctx, id)
	if errors.Is(err, checkpointer.ErrNotFound) {
		return 0, nil
	}
	return n, err
}

func (t wholeThreads) Export(ctx context.Context, who httpapi.Caller, id string, format lifecycle.Format, w io.Writer) error {
	threads, err := t.found(ctx, who, id)
	if err != nil {
		return err
	}
	return nothingSaid(threads.Export(ctx, id, format, terminal.CleanWriter(w, format == lifecycle.JSON)))
}

// undoBound is how long it may take to take back the record of a thread that was not imported.
const undoBound = 10 * time.Second

// Import makes the thread the caller's before its messages are there: who else asks meanwhile
// sees none.
func (t wholeThreads) Import(ctx context.Context, who httpapi.Caller, id string, r io.Reader) (n int, err error) {
	if ours(id) {
		return 0, thread.ErrNone
	}
	if _, err := thread.Make(ctx, t.saver, id, thread.Caller{Name: who.Name}, nil); err != nil {
		return 0, err
	}
	if n, err = threadsOf(t.saver).Import(ctx, id, r); err != nil && !errors.Is(err, checkpointer.ErrConflict) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoBound)
		defer cancel()
		if _, none := t.saver.Get(ctx, checkpointer.Ref{Thread: id}); errors.Is(none, checkpointer.ErrNotFound) { // nobody has begun it since
			err = errors.Join(err, t.saver.DeleteThread(ctx, id))
		}
	}
	return n, err
}
