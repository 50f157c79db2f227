package setup

import (
	"context"
	"sync/atomic"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/durable"
)

// memory is continuity that ends with the process.
type memory struct {
	delegate.Continuity
	delegate.HandleStore
}

// store is where conversations and late answers are remembered.
type store interface {
	delegate.Continuity
	delegate.HandleStore
}

// switched is the store in force: the setting `continuity` can be reloaded. What one store
// remembers is not carried over to the other.
type switched struct{ current atomic.Pointer[store] }

func (s *switched) use(next store) { s.current.Store(&next) }
func (s *switched) now() store     { return *s.current.Load() }

func (s *switched) Get(ctx context.Context, k delegate.ContextKey) (string, error) {
	return s.now().Get(ctx, k)
}

func (s *switched) Learn(ctx context.Context, k delegate.ContextKey, id string) error {
	return s.now().Learn(ctx, k, id)
}

func (s *switched) Drop(ctx context.Context, k delegate.ContextKey) error {
	return s.now().Drop(ctx, k)
}

func (s *switched) DropThread(ctx context.Context, thread string) error {
	return s.now().DropThread(ctx, thread)
}

func (s *switched) PutHandle(ctx context.Context, h delegate.Handle) error {
	return s.now().PutHandle(ctx, h)
}

func (s *switched) HasHandle(ctx context.Context, h delegate.Handle) (bool, error) {
	return s.now().HasHandle(ctx, h)
}

func (s *switched) TakeHandle(ctx context.Context, h delegate.Handle) (bool, error) {
	return s.now().TakeHandle(ctx, h)
}

func (s *switched) Handles(ctx context.Context, thread string) ([]delegate.Handle, error) {
	return s.now().Handles(ctx, thread)
}

func (s *switched) DropHandles(ctx context.Context, thread string) error {
	return s.now().DropHandles(ctx, thread)
}

// remember makes the setting the one in force.
func (a *App) remember(setting string) {
	a.durable.Store(setting == "durable")
	if setting == "durable" {
		a.memory.use(durable.New(a.Saver))
		return
	}
	a.memory.use(memory{delegate.NewMemoryContinuity(), delegate.NewMemoryHandles()})
}
