package roomnode

import (
	"context"
	"errors"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
)

// Config wires a [Node].
type Config struct {
	// Saver holds the threads. Required.
	Saver checkpointer.Saver
	// Room is asked once at the start of each turn for what the turn keeps to its end, and
	// once more when it has waited for its thread; release is called at the end of either.
	// exchange.RoomOf makes one of a live roster. Required.
	Room func() (r exchange.Room, release func())
}

// Node is the room's graph node. Make one with [New].
type Node struct{ cfg Config }

// New returns a node. It does no I/O.
func New(cfg Config) (*Node, error) {
	switch {
	case cfg.Saver == nil:
		return nil, errors.New("roomnode: Config.Saver is nil")
	case cfg.Room == nil:
		return nil, errors.New("roomnode: Config.Room is nil")
	}
	return &Node{cfg}, nil
}

// Turn is one message of the operator.
type Turn struct {
	Thread string
	Text   string
	// Incognito keeps the content out of logs, traces, exports and summaries.
	Incognito bool
	// Said is the message as its sender's program knows it; see exchange.Address.
	Said langrooms.Message
	// Events receives what happens while the turn runs; nil drops it.
	Events langrooms.Sink
	// Stored is told of the messages of the turn once they stand on the thread, with the
	// checkpoint that they came with; nil tells nobody.
	Stored func(checkpoint string, messages []langrooms.Message)
}

// Handle takes a turn. Result.Handled is false when the text addresses nobody: the turn
// goes on to the lead and nothing was written. When ctx ends the member being asked is
// told to stop, which is recorded and returned as a result. The error is one of ours and
// comes with the result as far as it got.
func (n *Node) Handle(ctx context.Context, turn Turn) (langrooms.Result, error) {
	return n.take(ctx, turn, false)
}

// Answer takes a turn that answers the question of a member that waits, as "@proto main": the
// message goes straight to its parked task, without a window, in one round. It is recorded as
// any address is. An ordinary turn ([Node.Handle]) never does that (spec: rooms, 7.6). Where
// the member waits for nothing the result says so, with langrooms.ReasonNotWaiting.
func (n *Node) Answer(ctx context.Context, turn Turn) (langrooms.Result, error) {
	return n.take(ctx, turn, true)
}

func (n *Node) take(ctx context.Context, turn Turn, answer bool) (langrooms.Result, error) {
	if err := langrooms.CheckThreadID(turn.Thread); err != nil {
		return langrooms.Result{}, err
	}
	if err := langrooms.CheckText(turn.Text); err != nil {
		return langrooms.Result{Thread: turn.Thread}, err
	}
	r, release := n.cfg.Room()
	defer release()
	r.Events = turn.Events
	names := r.Roster.Names()
	address := room.Parse(turn.Text, names)
	switch kind := address.Kind; {
	case kind == room.UnknownDelegate:
		return aside(turn.Thread, langrooms.ReasonUnknown, room.UnknownText(address.Token, names, address.Near)), nil
	case kind == room.NoMessage:
		return aside(turn.Thread, langrooms.ReasonNoMessage, room.UsageText(address.To, address.Group)), nil
	case answer && len(address.To) != 1:
		return aside(turn.Thread, langrooms.ReasonNotWaiting, room.NotWaitingText(address.To)), nil
	case kind == room.Addressed:
		return n.run(ctx, turn, address, r, answer)
	}
	return langrooms.Result{Thread: turn.Thread}, nil
}

// aside answers with words of the room's own: nothing was dispatched, nothing recorded.
func aside(thread string, reason langrooms.Reason, text string) langrooms.Result {
	return langrooms.Result{Thread: thread, Handled: true, Reason: reason, Text: text, Aside: text}
}

func (n *Node) run(ctx context.Context, turn Turn, a room.Address, r exchange.Room, answer bool) (langrooms.Result, error) {
	hold, err := exchange.Begin(ctx, n.cfg.Saver, turn.Thread)
	if err != nil {
		return langrooms.Result{Thread: turn.Thread}, err
	}
	hold.Observe(turn.Stored)
	a, left, err := expand(hold, r, a)
	if err != nil {
		return langrooms.Result{Thread: turn.Thread}, errors.Join(err, hold.End())
	}
	if len(a.To) == 0 {
		text := room.UnknownText("@"+a.Group, r.Roster.Names(), "")
		return interrupted(aside(turn.Thread, langrooms.ReasonUnknown, text), hold), hold.End()
	}
	if gone, names := n.gone(a.To); gone != "" {
		return interrupted(aside(turn.Thread, langrooms.ReasonUnknown, room.UnknownText("@"+gone, names, "")), hold), hold.End()
	}
	address := exchange.Address{From: room.Operator, To: a.To, Group: a.Group, Left: left, Message: a.Message, Said: turn.Said, Incognito: turn.Incognito}
	if answer {
		address.Resume, err = hold.Parked(ctx, a.To[0])
		if d, _ := r.Roster.Get(a.To[0]); err != nil || address.Resume == "" || !d.Info().Resumable {
			text := room.NotWaitingText(a.To)
			return interrupted(aside(turn.Thread, langrooms.ReasonNotWaiting, text), hold), errors.Join(err, hold.End())
		}
		r.MaxRounds = 1
	}
	result, err := hold.Address(ctx, r, address)
	if rerr := hold.End(); err == nil {
		err = rerr
	}
	return result, err
}

// expand puts the members of a group in place of it.
func expand(hold *exchange.Turn, r exchange.Room, a room.Address) (room.Address, int, error) {
	if a.Group == "" {
		return a, 0, nil
	}
	cast, last, err := hold.Cast(r.Lead)
	if err != nil {
		return a, 0, err
	}
	expanded, left := a.Expand(r.Roster.Names(), cast, last)
	return expanded, left, nil
}

// interrupted tells of what Begin has closed beside an answer of the room's own.
func interrupted(r langrooms.Result, hold *exchange.Turn) langrooms.Result {
	r.Notes.Interrupted = hold.Interrupted()
	if note, _ := room.Compose(nil, nil, r.Notes); note != "" {
		r.Text += "\n\n" + note
		r.Aside = r.Text
	}
	return r
}

// gone returns the first of to that has left the roster while the turn waited for its
// thread, and who is on it now (spec: rooms, 1.6).
func (n *Node) gone(to []string) (name string, names []string) {
	now, release := n.cfg.Room()
	defer release()
	for _, name := range to {
		if _, ok := now.Roster.Get(name); !ok {
			return name, now.Roster.Names()
		}
	}
	return "", nil
}
