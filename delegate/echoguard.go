package delegate

import (
	"context"
	"sync"
)

// EchoGuard is a [Continuity] over another one that notices a peer which gives the same
// context id to two threads, or to two epochs of one: to such a peer two chats, or a chat
// and what was erased of it, are one conversation. From then on the id is not echoed to it
// any more, for no thread. It notices what passes through it, so over a store that several
// processes share each has its own view.
type EchoGuard struct {
	inner    Continuity
	onShared func(ContextKey)

	mu sync.Mutex
	// owners has who an id was first seen with, and shared the ids that others had too.
	owners map[peerContext]ContextKey
	shared map[peerContext]bool
	// said has the peers that onShared was told of.
	said map[peerContext]bool
}

// peerContext is an id at a peer, as far as the peer can tell us apart. The roster's name
// is not in it: two rows for one peer and credential are one principal there.
type peerContext struct{ url, credential, id string }

var _ Continuity = (*EchoGuard)(nil)

// NewEchoGuard returns a guard over inner. onShared, unless nil, is called once for each
// peer that shares an id between conversations, with the key that it was noticed on.
func NewEchoGuard(inner Continuity, onShared func(ContextKey)) *EchoGuard {
	return &EchoGuard{inner: inner, onShared: onShared, owners: make(map[peerContext]ContextKey),
		shared: make(map[peerContext]bool), said: make(map[peerContext]bool)}
}

// Get returns the id to echo: none when the peer has given it to two conversations.
func (g *EchoGuard) Get(ctx context.Context, key ContextKey) (string, error) {
	id, err := g.inner.Get(ctx, key)
	if err != nil || id == "" || g.admit(key, id) {
		return id, err
	}
	return "", g.inner.Drop(ctx, key)
}

// Learn remembers id unless the peer has given it to two conversations.
func (g *EchoGuard) Learn(ctx context.Context, key ContextKey, id string) error {
	if id == "" || g.admit(key, id) {
		return g.inner.Learn(ctx, key, id)
	}
	return g.inner.Drop(ctx, key)
}

// Drop forgets what key has.
func (g *EchoGuard) Drop(ctx context.Context, key ContextKey) error { return g.inner.Drop(ctx, key) }

// DropThread forgets everything of a thread, but not which ids its peers gave it: the
// peer still knows them, and giving one to another thread, or to this one's next epoch, would
// bring them along.
func (g *EchoGuard) DropThread(ctx context.Context, thread string) error {
	return g.inner.DropThread(ctx, thread)
}

// maxWatched bounds each of the guard's maps; beyond it, arbitrary entries go.
const maxWatched = 8 * maxContexts

// admit reports whether id belongs to key's thread and epoch alone, as far as was seen.
func (g *EchoGuard) admit(key ContextKey, id string) bool {
	at := peerContext{key.URL, key.Credential, id}
	peer := peerContext{key.URL, key.Credential, ""}
	g.mu.Lock()
	owner, known := g.owners[at]
	if !known {
		put(g.owners, at, key)
		owner = key
	}
	if owner.Thread != key.Thread || owner.Epoch != key.Epoch {
		put(g.shared, at, true)
	}
	shared := g.shared[at]
	tell := shared && !g.said[peer]
	if tell {
		put(g.said, peer, true)
	}
	g.mu.Unlock()
	if tell && g.onShared != nil {
		g.onShared(key)
	}
	return !shared
}

// put stores v and keeps m within its bound.
func put[V any](m map[peerContext]V, at peerContext, v V) {
	for other := range m {
		if len(m) < maxWatched {
			break
		}
		delete(m, other)
	}
	m[at] = v
}
