package setup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/durable"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/late"
)

// store is where conversations and late answers are remembered.
type store interface {
	delegate.Continuity
	delegate.HandleStore
	// DropDelegate forgets the contexts that a member has on a thread.
	DropDelegate(ctx context.Context, thread, name string) error
}

// memory is a store that ends with the process.
type memory struct {
	*delegate.MemoryContinuity
	delegate.HandleStore
}

// switched is the store in force: the setting `continuity` can be reloaded. Conversations
// are not carried over, they begin anew. What is waited for was promised, so it is found
// in the store before too.
type switched struct {
	saver       checkpointer.Saver // for the durable one
	now, before atomic.Pointer[store]
	durable     atomic.Bool // the setting
	removed     sync.Map    // of *removal, by the names that have left the roster
}

// removal is a member that has left the roster while this process was there to see it.
type removal struct {
	mu sync.Mutex
	// cleared are the threads on which what it had has been dropped since.
	cleared map[string]bool
}

// remove has the conversations of a member that leaves the roster dropped, each before its
// name is used again on its thread: which threads it has been on, nobody knows.
func (s *switched) remove(name string) {
	s.removed.Store(name, &removal{cleared: make(map[string]bool)})
}

// clear drops what a member of the same name had on the thread of k.
func (s *switched) clear(ctx context.Context, k delegate.ContextKey) error {
	found, ok := s.removed.Load(k.Delegate)
	if !ok {
		return nil
	}
	r := found.(*removal)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cleared[k.Thread] {
		return nil
	}
	err := s.each(func(st store) error { return st.DropDelegate(ctx, k.Thread, k.Delegate) })
	r.cleared[k.Thread] = err == nil
	return err
}

// left returns the names that the file had and has no more. An entry that is refused for now
// is there.
func left(before, now *hotreload.Snapshot) (names []string) {
	for _, d := range before.Config.Delegates {
		there := slices.ContainsFunc(now.Config.Delegates, func(n hotreload.Delegate) bool { return n.Name == d.Name })
		refused := slices.ContainsFunc(now.Findings, func(f hotreload.Finding) bool {
			return f.Severity == hotreload.Error && (f.Key == "delegates."+d.Name || strings.HasPrefix(f.Key, "delegates."+d.Name+"."))
		})
		if !there && !refused {
			names = append(names, d.Name)
		}
	}
	return names
}

// newSwitched returns the store that setting names.
func newSwitched(saver checkpointer.Saver, setting string) *switched {
	s := &switched{saver: saver}
	s.remember(setting)
	return s
}

// remember makes the setting the one in force.
func (s *switched) remember(setting string) {
	durably := setting == "durable"
	if s.now.Load() != nil && s.durable.Load() == durably {
		return
	}
	var next store = memory{delegate.NewMemoryContinuity(), late.NewMemoryHandles()}
	if durably {
		next = durable.New(s.saver)
	}
	s.durable.Store(durably)
	s.before.Store(s.now.Load())
	s.now.Store(&next)
}

// stores returns the store in force, and then the one before it, if there was one.
func (s *switched) stores() []store {
	stores := []store{*s.now.Load()}
	if before := s.before.Load(); before != nil {
		stores = append(stores, *before)
	}
	return stores
}

// each calls do with each store.
func (s *switched) each(do func(store) error) error {
	var errs []error
	for _, st := range s.stores() {
		errs = append(errs, do(st))
	}
	return errors.Join(errs...)
}

// Get implements delegate.Continuity.
func (s *switched) Get(ctx context.Context, k delegate.ContextKey) (string, error) {
	if err := s.clear(ctx, k); err != nil {
		return "", err
	}
	return s.stores()[0].Get(ctx, k)
}

// Learn implements delegate.Continuity. An older conversation is not gone back to.
func (s *switched) Learn(ctx context.Context, k delegate.ContextKey, id string) error {
	if err := s.clear(ctx, k); err != nil {
		return err
	}
	stores := s.stores()
	for _, before := range stores[1:] {
		if err := before.Drop(ctx, k); err != nil {
			return err
		}
	}
	return stores[0].Learn(ctx, k, id)
}

// Drop implements delegate.Continuity.
func (s *switched) Drop(ctx context.Context, k delegate.ContextKey) error {
	return s.each(func(st store) error { return st.Drop(ctx, k) })
}

// DropThread implements delegate.Continuity.
func (s *switched) DropThread(ctx context.Context, thread string) error {
	return s.each(func(st store) error { return st.DropThread(ctx, thread) })
}

// PutHandle implements delegate.HandleStore.
func (s *switched) PutHandle(ctx context.Context, h delegate.Handle) error {
	stores := s.stores()
	for _, before := range stores[1:] {
		older, err := before.Handles(ctx, h.Thread)
		if err != nil {
			return err
		}
		for _, o := range older {
			if o.Delegate != h.Delegate {
				continue
			}
			if _, err := before.TakeHandle(ctx, o); err != nil {
				return err
			}
		}
	}
	return stores[0].PutHandle(ctx, h)
}

// HasHandle implements delegate.HandleStore.
func (s *switched) HasHandle(ctx context.Context, h delegate.Handle) (has bool, err error) {
	return s.first(func(st store) (bool, error) { return st.HasHandle(ctx, h) })
}

// TakeHandle implements delegate.HandleStore.
func (s *switched) TakeHandle(ctx context.Context, h delegate.Handle) (bool, error) {
	return s.first(func(st store) (bool, error) { return st.TakeHandle(ctx, h) })
}

// first asks the stores until one says yes.
func (s *switched) first(ask func(store) (bool, error)) (bool, error) {
	for _, st := range s.stores() {
		if ok, err := ask(st); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// Handles implements delegate.HandleStore.
func (s *switched) Handles(ctx context.Context, thread string) ([]delegate.Handle, error) {
	var all []delegate.Handle
	for _, st := range s.stores() {
		handles, err := st.Handles(ctx, thread)
		if err != nil {
			return nil, err
		}
		all = append(all, handles...)
	}
	slices.SortStableFunc(all, func(a, b delegate.Handle) int { return strings.Compare(a.Delegate, b.Delegate) })
	return all, nil
}

// DropHandles implements delegate.HandleStore.
func (s *switched) DropHandles(ctx context.Context, thread string) error {
	return s.each(func(st store) error { return st.DropHandles(ctx, thread) })
}
