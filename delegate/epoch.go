package delegate

import "context"

type epochKey struct{}

// WithEpoch returns a context for asks on a thread in the given life of its history. When
// history is erased the thread begins a new epoch, so that whatever a process still
// remembers of the old one is not continued.
func WithEpoch(ctx context.Context, epoch string) context.Context {
	return context.WithValue(ctx, epochKey{}, epoch)
}

// Epoch returns the epoch that ctx carries, or "".
func Epoch(ctx context.Context) string {
	epoch, _ := ctx.Value(epochKey{}).(string)
	return epoch
}

// Epochs is a [Continuity] over another one that keeps the epochs of a thread apart: it
// adds the context's epoch to every key.
type Epochs struct{ inner Continuity }

var _ Continuity = Epochs{}

// NewEpochs returns inner with the epochs kept apart.
func NewEpochs(inner Continuity) Epochs { return Epochs{inner} }

// Get returns the id that key has in the context's epoch.
func (e Epochs) Get(ctx context.Context, key ContextKey) (string, error) {
	key.Epoch = Epoch(ctx)
	return e.inner.Get(ctx, key)
}

// Learn remembers id for the context's epoch.
func (e Epochs) Learn(ctx context.Context, key ContextKey, id string) error {
	key.Epoch = Epoch(ctx)
	return e.inner.Learn(ctx, key, id)
}

// Drop forgets what key has in the context's epoch.
func (e Epochs) Drop(ctx context.Context, key ContextKey) error {
	key.Epoch = Epoch(ctx)
	return e.inner.Drop(ctx, key)
}

// DropThread forgets everything of a thread, in all epochs.
func (e Epochs) DropThread(ctx context.Context, thread string) error {
	return e.inner.DropThread(ctx, thread)
}
