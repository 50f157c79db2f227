package exchange

import (
	"context"
	"errors"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/room"
)

// Room is what one run keeps fixed: the roster and the knobs it started with.
type Room struct {
	Roster *delegate.Registry
	// Limits bound each member's catch-up window; see room.Limits.Clamp.
	Limits room.Limits
	// MaxRounds is room.max_rounds; see room.ClampRounds.
	MaxRounds int
	// Parallel has the members of the first round asked at once, over one window (spec: rooms,
	// 4.8), and not one after the other.
	Parallel bool
	// Lead is the lead's name in windows, which no delegate may have; empty means "assistant".
	Lead string
	// Collect takes over a task that its member is still working on and reports what
	// becomes of the answer; nil waits for none.
	Collect func(ctx context.Context, h delegate.Handle) delegate.Waiting
	// Health is told how each ask ended; nil keeps no health view.
	Health *delegate.HealthView
	// Permission decides what a member asks for leave to do; nil refuses. See
	// [delegate.Request.Permission].
	Permission func(context.Context, delegate.PermissionRequest) delegate.PermissionAnswer
	// Price is what a member's tokens cost, the lead's under its own name, for those that tell
	// tokens alone; nil, and a nil answer, mean that it is not known.
	Price func(member string) *langrooms.Price
	// MaxCostUSD is room.max_cost_usd: once a turn has cost as much, as far as that is known,
	// no further member is asked in it. 0 means no bound.
	MaxCostUSD float64
	// Events receives what happens, in order; nil drops it.
	Events langrooms.Sink
	// Self names this installation in the trace of what is asked; see delegate.Trace. Empty
	// adds nothing to it.
	Self string
}

// Address is one message to one or more members.
type Address struct {
	// From is the speaker; its name stands on the record.
	From room.Speaker
	// To are roster names, each once, in written order.
	To []string
	// Group is the group that the address named, whose members are in To, and Left how many of
	// them are not; see room.Address.Expand. The result says so.
	Group   string
	Left    int
	Message string
	// Said is the message as its sender's program knows it: the record takes its id, where
	// set, its parts beside the text, and its Extra.
	Said langrooms.Message
	// Files go with the message beside those of Said, and are not stored with it: they stand on the
	// thread already; see [Turn.Given].
	Files []langrooms.Part
	// Incognito keeps the content out of logs, traces, exports and summaries.
	Incognito bool
	// Timeout is a hard bound for each dispatch; 0 means the delegate's own.
	Timeout time.Duration
	// Resume is the id of a task at the one addressee to go on with. The message is then
	// sent as it is, without a window and without a conversation key: it goes straight to
	// that task.
	Resume string
}

// ErrNoMember says that an addressee is not on the roster, or that there is none.
var ErrNoMember = errors.New("no such delegate on the roster")
