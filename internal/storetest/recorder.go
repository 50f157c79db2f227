// Package storetest has stores for tests.
package storetest

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
)

// Recorder is a store in memory that remembers by name what it was asked for. It is safe for
// concurrent use.
type Recorder struct {
	*memorysaver.Saver
	mu    sync.Mutex
	calls []string
}

// NewRecorder returns an empty store; it is to be closed.
func NewRecorder() *Recorder { return &Recorder{Saver: memorysaver.New()} }

// Take returns the calls since the last Take, in order.
func (r *Recorder) Take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := slices.Clone(r.calls)
	r.calls = nil
	return calls
}

func (r *Recorder) note(call string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

// Get implements checkpointer.Saver.
func (r *Recorder) Get(ctx context.Context, at checkpointer.Ref) (checkpointer.Checkpoint, error) {
	r.note("Get")
	return r.Saver.Get(ctx, at)
}

// Messages implements checkpointer.Saver.
func (r *Recorder) Messages(ctx context.Context, at checkpointer.Ref, in checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	r.note("Messages")
	return r.Saver.Messages(ctx, at, in)
}

// List implements checkpointer.Saver.
func (r *Recorder) List(ctx context.Context, q checkpointer.Query) iter.Seq2[checkpointer.Checkpoint, error] {
	r.note("List")
	return r.Saver.List(ctx, q)
}

// Put implements checkpointer.Saver.
func (r *Recorder) Put(ctx context.Context, parent checkpointer.Ref, step checkpointer.Step) (checkpointer.Ref, error) {
	r.note("Put")
	return r.Saver.Put(ctx, parent, step)
}

// Lock implements checkpointer.Locker.
func (r *Recorder) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	r.note("Lock")
	return r.Saver.Lock(ctx, thread)
}

// LockHead implements checkpointer.HeadLocker.
func (r *Recorder) LockHead(ctx context.Context, at checkpointer.Ref, in checkpointer.Range) (checkpointer.Lease, checkpointer.Checkpoint, []langrooms.Message, error) {
	r.note("LockHead")
	return r.Saver.LockHead(ctx, at, in)
}

// Select implements checkpointer.Selector.
func (r *Recorder) Select(ctx context.Context, at checkpointer.Ref, sel checkpointer.Selection) (checkpointer.Checkpoint, error) {
	r.note("Select")
	return r.Saver.Select(ctx, at, sel)
}

// Snapshot implements checkpointer.Snapshotter.
func (r *Recorder) Snapshot(ctx context.Context, at checkpointer.Ref, in checkpointer.Range) (checkpointer.Checkpoint, []langrooms.Message, error) {
	r.note("Snapshot")
	return r.Saver.Snapshot(ctx, at, in)
}

// Threads implements checkpointer.Lister.
func (r *Recorder) Threads(ctx context.Context) iter.Seq2[checkpointer.ThreadInfo, error] {
	r.note("Threads")
	return r.Saver.Threads(ctx)
}

// Watch implements checkpointer.Watcher.
func (r *Recorder) Watch(ctx context.Context, thread string) iter.Seq2[checkpointer.Change, error] {
	r.note("Watch")
	return r.Saver.Watch(ctx, thread)
}
