package exchange

import (
	"context"

	"github.com/langrooms/langrooms"
)

type turnKey struct{}

type turnAndEvents struct {
	turn   *Turn
	events langrooms.Sink
}

// NewContext returns a context that carries the turn a tool is called in, and where the
// turn's events go.
func NewContext(ctx context.Context, t *Turn, events langrooms.Sink) context.Context {
	return context.WithValue(ctx, turnKey{}, turnAndEvents{t, events})
}

// FromContext returns the turn that ctx carries; ok is false outside of one.
func FromContext(ctx context.Context) (t *Turn, events langrooms.Sink, ok bool) {
	v, ok := ctx.Value(turnKey{}).(turnAndEvents)
	return v.turn, v.events, ok
}
