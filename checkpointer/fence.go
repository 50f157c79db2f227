package checkpointer

import "context"

type fenceKey struct{ thread string }

// WithFence returns a context under which Put, PutWrites and DeleteThread on thread
// carry the fencing token: they fail with [ErrFenced] when the store has seen a greater
// one. A write that stores something with a token newer than the thread's fence makes
// it the fence; one that fails leaves the fence as it was. Tokens of several threads can
// stand in one context.
func WithFence(ctx context.Context, thread string, token int64) context.Context {
	return context.WithValue(ctx, fenceKey{thread}, token)
}

// Fence returns the token that ctx carries for thread.
func Fence(ctx context.Context, thread string) (token int64, ok bool) {
	token, ok = ctx.Value(fenceKey{thread}).(int64)
	return token, ok
}
