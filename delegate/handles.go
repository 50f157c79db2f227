package delegate

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// MemoryHandles is a [HandleStore] in memory; it ends with the process.
type MemoryHandles struct {
	mu      sync.Mutex
	handles map[waiting]Handle
}

// waiting is what can be waited for once: a member's answer on a thread.
type waiting struct{ thread, delegate string }

func (h Handle) waiting() waiting { return waiting{h.Thread, h.Delegate} }

var _ HandleStore = (*MemoryHandles)(nil)

// NewMemoryHandles returns an empty store.
func NewMemoryHandles() *MemoryHandles {
	return &MemoryHandles{handles: make(map[waiting]Handle)}
}

// PutHandle stores h. The error is always nil.
func (m *MemoryHandles) PutHandle(_ context.Context, h Handle) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.handles[h.waiting()] = h
	return nil
}

// HasHandle reports whether h stands. The error is always nil.
func (m *MemoryHandles) HasHandle(_ context.Context, h Handle) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored, ok := m.handles[h.waiting()]
	return ok && stored.ID == h.ID, nil
}

// TakeHandle removes h and reports whether it stood. The error is always nil.
func (m *MemoryHandles) TakeHandle(_ context.Context, h Handle) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stored, ok := m.handles[h.waiting()]; !ok || stored.ID != h.ID {
		return false, nil
	}
	delete(m.handles, h.waiting())
	return true, nil
}

// Handles lists a thread's handles by delegate name. The error is always nil.
func (m *MemoryHandles) Handles(_ context.Context, thread string) ([]Handle, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []Handle
	for _, h := range m.handles {
		if h.Thread == thread {
			found = append(found, h)
		}
	}
	slices.SortFunc(found, func(a, b Handle) int { return strings.Compare(a.Delegate, b.Delegate) })
	return found, nil
}

// DropHandles removes all of a thread's handles. The error is always nil.
func (m *MemoryHandles) DropHandles(_ context.Context, thread string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for w := range m.handles {
		if w.thread == thread {
			delete(m.handles, w)
		}
	}
	return nil
}
