package checkpointer

import "context"

type fenceKey struct{ thread string }

// WithFence returns a context under which every write on thread carries the fencing
// token: it fails with [ErrFenced] when the store has seen a greater one. A write that
// succeeds with a token newer than the thread's fence makes it the fence, also when it
// found nothing to change (a repeated put, a prune that removes nothing); one that fails
// leaves the fence as it was. Every int64 is compared exactly, each thread has its own
// fence, and a store forgets one no sooner than a day after its last use. Tokens of
// several threads can stand in one context.
func WithFence(ctx context.Context, thread string, token int64) context.Context {
	return context.WithValue(ctx, fenceKey{thread}, token)
}

// Fence returns the token that ctx carries for thread.
func Fence(ctx context.Context, thread string) (token int64, ok bool) {
	token, ok = ctx.Value(fenceKey{thread}).(int64)
	return token, ok
}
