package exchange

import (
	"context"

	"github.com/langrooms/langrooms/delegate"
)

// RoomOf returns the source of a room that has a live roster and the defaults, and collects
// no late answers: each call takes one snapshot of the roster, which release gives back.
func RoomOf(live *delegate.Live) func() (r Room, release func()) {
	return func() (Room, func()) {
		roster, release := live.Acquire()
		return Room{Roster: roster}, release
	}
}

type turnKey struct{}

type turnInRoom struct {
	turn *Turn
	room Room
}

// NewContext returns a context that carries the turn a tool is called in, and the room that
// the turn has fixed at its start: roster, limits and the lead's name stay what they were,
// whatever is reloaded meanwhile. Whoever fixes it keeps the roster acquired until the
// turn's end.
func NewContext(ctx context.Context, t *Turn, r Room) context.Context {
	return context.WithValue(ctx, turnKey{}, turnInRoom{t, r})
}

// FromContext returns the turn that ctx carries, and its room; ok is false outside of one.
func FromContext(ctx context.Context) (t *Turn, r Room, ok bool) {
	v, ok := ctx.Value(turnKey{}).(turnInRoom)
	return v.turn, v.room, ok
}
