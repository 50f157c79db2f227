package delegate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// ContextKey says whose conversation with which peer a context id belongs to (spec:
// rooms, 7.1). A delegate that is renamed, pointed at another URL or given another
// credential has another key, so nothing of the old conversation is found under it.
type ContextKey struct {
	// Thread is the conversation key, the thread id.
	Thread string `json:"thread"`
	// Delegate is the roster's name.
	Delegate string `json:"delegate"`
	// URL is the peer's address as configured.
	URL string `json:"url"`
	// Credential is the [CredentialDigest] of the principal that the peer knows us by.
	Credential string `json:"credential"`
	// Epoch is the life of the thread's history that the id belongs to. When history is
	// erased the thread begins another one, and what anybody still remembers of the one
	// before is not found any more.
	Epoch string `json:"epoch,omitempty"`
}

// CredentialDigest stands for a credential in a [ContextKey] and in [Handle.Peer]: two
// credentials are the same when their digests are. The secret is not stored.
func CredentialDigest(scheme, token string) string {
	sum := sha256.Sum256([]byte(scheme + "\x00" + token))
	return hex.EncodeToString(sum[:16])
}

// Preambled returns k as it is for a delegate that opens each conversation with preamble: what
// was begun with other words is not gone on with. Without a preamble it is k.
func (k ContextKey) Preambled(preamble string) ContextKey {
	if preamble != "" {
		k.Credential = CredentialDigest("preamble", k.Credential+"\x00"+preamble)
	}
	return k
}

// Continuity remembers the context ids that peers assigned. A store in memory is
// [NewMemoryContinuity]; one that keeps them in the thread's own checkpointer can
// implement the same port.
//
// Implementations are safe for concurrent use and never invent an id.
type Continuity interface {
	// Get returns the id to echo, or "" when there is none.
	Get(ctx context.Context, key ContextKey) (string, error)
	// Learn remembers id, in place of an earlier one. An empty id changes nothing.
	Learn(ctx context.Context, key ContextKey, id string) error
	// Drop forgets what key has. Nothing there is no error.
	Drop(ctx context.Context, key ContextKey) error
	// DropThread forgets everything of a thread: a rewind that removed something, a
	// delete, being the target of a fork. Compaction does not call it.
	DropThread(ctx context.Context, thread string) error
}

// MaxContextID is the longest context id in bytes that is remembered. The conversation of
// a longer one cannot be continued. A peer's task ids have the same bound.
const MaxContextID = 1024

// Settle does with a conversation what an answered or failed Ask means for it (spec:
// rooms, 7.2 and 7.3). Words teach contextID; a pause, an answer without text, and every
// failure after the peer had accepted the message end the conversation. A peer that was
// unreachable or refused before it accepted has changed nothing, so the conversation
// stays. After a canceled Ask the caller passes a ctx that has not ended, or the store may
// keep what has to go.
func Settle(ctx context.Context, c Continuity, key ContextKey, contextID string, reply Reply, err error) error {
	switch {
	case err == nil && (reply.Paused || reply.Text == ""):
		return c.Drop(ctx, key)
	case err == nil && len(contextID) > MaxContextID:
		return c.Drop(ctx, key)
	case err == nil:
		return c.Learn(ctx, key, contextID)
	case keepsConversation(err):
		return nil
	default:
		return c.Drop(ctx, key)
	}
}

// keepsConversation reports whether err left the conversation at the peer as it was.
func keepsConversation(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case KindUnreachable:
		return true
	case KindRefused, KindFailed, KindProtocol:
		return !e.Accepted
	default:
		return false
	}
}
