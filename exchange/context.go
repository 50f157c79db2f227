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

type roomKey struct{}

// WithRoom returns a context that carries the room a turn has fixed at its start: roster,
// limits and the lead's name stay what they were, whatever is reloaded meanwhile. Whoever
// fixes it keeps the roster acquired until the turn's end.
func WithRoom(ctx context.Context, r Room) context.Context {
	return context.WithValue(ctx, roomKey{}, r)
}

// RoomFromContext returns the room that ctx carries; ok is false when the turn has fixed
// none.
func RoomFromContext(ctx context.Context) (r Room, ok bool) {
	r, ok = ctx.Value(roomKey{}).(Room)
	return r, ok
}
