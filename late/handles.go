package late

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/langrooms/langrooms/delegate"
)

// memoryHandles is a [delegate.HandleStore] in memory; it ends with the process.
type memoryHandles struct {
	mu      sync.Mutex
	handles map[waiting]delegate.Handle
}

// waiting is what can be waited for once: a member's answer on a thread.
type waiting struct{ thread, delegate string }

func waitingOf(h delegate.Handle) waiting { return waiting{h.Thread, h.Delegate} }

var _ delegate.HandleStore = (*memoryHandles)(nil)

// NewMemoryHandles returns an empty store of handles in memory.
func NewMemoryHandles() delegate.HandleStore {
	return &memoryHandles{handles: make(map[waiting]delegate.Handle)}
}

// PutHandle stores h. The error is always nil.
func (m *memoryHandles) PutHandle(_ context.Context, h delegate.Handle) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.handles[waitingOf(h)] = h
	return nil
}

// HasHandle reports whether h stands. The error is always nil.
func (m *memoryHandles) HasHandle(_ context.Context, h delegate.Handle) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored, ok := m.handles[waitingOf(h)]
	return ok && stored.ID == h.ID, nil
}

// TakeHandle removes h and reports whether it stood. The error is always nil.
func (m *memoryHandles) TakeHandle(_ context.Context, h delegate.Handle) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stored, ok := m.handles[waitingOf(h)]; !ok || stored.ID != h.ID {
		return false, nil
	}
	delete(m.handles, waitingOf(h))
	return true, nil
}

// Handles lists a thread's handles by delegate name. The error is always nil.
func (m *memoryHandles) Handles(_ context.Context, thread string) ([]delegate.Handle, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []delegate.Handle
	for _, h := range m.handles {
		if h.Thread == thread {
			found = append(found, h)
		}
	}
	slices.SortFunc(found, func(a, b delegate.Handle) int { return strings.Compare(a.Delegate, b.Delegate) })
	return found, nil
}

// DropHandles removes all of a thread's handles. The error is always nil.
func (m *memoryHandles) DropHandles(_ context.Context, thread string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for w := range m.handles {
		if w.thread == thread {
			delete(m.handles, w)
		}
	}
	return nil
}
