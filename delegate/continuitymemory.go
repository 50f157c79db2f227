package delegate

import (
	"container/list"
	"context"
	"sync"
)

// maxContexts is how many context ids a [MemoryContinuity] keeps; the least recently used
// goes first (spec: rooms, 7.1).
const maxContexts = 512

// MemoryContinuity is a [Continuity] in memory; it ends with the process.
type MemoryContinuity struct {
	mu      sync.Mutex
	entries map[ContextKey]*list.Element
	recent  *list.List // of contextEntry, the most recently used in front
}

type contextEntry struct {
	key ContextKey
	id  string
}

var _ Continuity = (*MemoryContinuity)(nil)

// NewMemoryContinuity returns an empty store of at most 512 entries.
func NewMemoryContinuity() *MemoryContinuity {
	return &MemoryContinuity{entries: make(map[ContextKey]*list.Element), recent: list.New()}
}

// Get returns the id of key; that counts as a use. The error is always nil.
func (m *MemoryContinuity) Get(_ context.Context, key ContextKey) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[key]
	if !ok {
		return "", nil
	}
	m.recent.MoveToFront(e)
	return e.Value.(contextEntry).id, nil
}

// Learn remembers id; that counts as a use. The error is always nil.
func (m *MemoryContinuity) Learn(_ context.Context, key ContextKey, id string) error {
	if id == "" {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(key)
	m.entries[key] = m.recent.PushFront(contextEntry{key, id})
	if m.recent.Len() > maxContexts {
		m.drop(m.recent.Back().Value.(contextEntry).key)
	}
	return nil
}

// Drop forgets what key has. The error is always nil.
func (m *MemoryContinuity) Drop(_ context.Context, key ContextKey) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(key)
	return nil
}

// DropThread forgets everything of a thread. The error is always nil.
func (m *MemoryContinuity) DropThread(_ context.Context, thread string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.entries {
		if key.Thread == thread {
			m.drop(key)
		}
	}
	return nil
}

// DropDelegate forgets what the delegate of the given name has on a thread, under every url and
// credential. The error is always nil.
func (m *MemoryContinuity) DropDelegate(_ context.Context, thread, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.entries {
		if key.Thread == thread && key.Delegate == name {
			m.drop(key)
		}
	}
	return nil
}

func (m *MemoryContinuity) drop(key ContextKey) {
	if e, ok := m.entries[key]; ok {
		m.recent.Remove(e)
		delete(m.entries, key)
	}
}
