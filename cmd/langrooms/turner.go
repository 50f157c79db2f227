package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/consent"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/internal/telemetry"
	"github.com/langrooms/langrooms/langgraphapi"
	"github.com/langrooms/langrooms/nodes/leadnode"
	"github.com/langrooms/langrooms/nodes/roomnode"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

// turner takes the turns of a server's runs.
type turner struct {
	saver checkpointer.Saver
	nodes *graph
	desk  *consent.Desk        // where members ask leave; nil lets none ask
	seen  *telemetry.Telemetry // nil counts nothing
}

// turn takes a run's turn, and keeps what the room itself says to it.
func (t turner) turn(ctx context.Context, r runs.Run, in runs.Input, feed runs.Feed) (result langrooms.Result, err error) {
	var end func(langrooms.Result, error)
	ctx, feed.Events, end = t.seen.Turn(ctx, r.Thread, r.ID, feed.Events)
	defer func() { end(result, err) }()
	ctx = delegate.WithTrace(ctx, in.Trace)
	asking := ctx
	if t.desk != nil && in.Ask {
		var leave func()
		asking, leave = t.desk.InTurn(ctx, r.Thread, feed.Events)
		defer leave()
	}
	result, err = t.take(asking, r, in, feed)
	if err == nil && result.Aside != "" && !in.Incognito {
		err = t.note(ctx, r.Thread, in, result, feed)
	}
	return result, err
}

// note keeps the room's own words, behind the message that led to them where that is not on
// the thread itself.
func (t turner) note(ctx context.Context, id string, in runs.Input, result langrooms.Result, feed runs.Feed) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteBound)
	defer cancel()
	hold, err := exchange.Hold(ctx, t.saver, id)
	if err != nil {
		return err
	}
	var notes []langrooms.Message
	if result.Handled && result.Exchange == "" {
		notes = append(notes, langrooms.NewMessage(langrooms.RoleHuman, in.Text).As(in.Message))
	}
	notes = append(notes, thread.NewNote(result.Aside))
	checkpoint, err := thread.AddNotes(ctx, t.saver, hold, notes...)
	if err == nil {
		feed.Stored(checkpoint, notes)
	}
	return errors.Join(err, hold.End())
}

// noteBound is how long keeping the room's own words may take.
const noteBound = 15 * time.Second

func (t turner) take(ctx context.Context, r runs.Run, in runs.Input, feed runs.Feed) (langrooms.Result, error) {
	if err := t.start(ctx, r.Thread, in, feed); err != nil {
		return langrooms.Result{}, err
	}
	if in.Notice != "" {
		return t.nodes.lead.Run(ctx, leadnode.Input{Thread: r.Thread, Notice: in.Notice, Events: feed.Events, Stored: feed.Stored})
	}
	if in.Text == "" {
		return langrooms.Result{Thread: r.Thread}, nil // there is nothing to answer
	}
	if in.ToLead {
		return t.nodes.lead.Run(ctx, leadnode.Input{Thread: r.Thread, Text: in.Text, Said: in.Message, Events: feed.Events, Stored: feed.Stored})
	}
	handle := t.nodes.room.Handle
	if in.Answer {
		handle = t.nodes.room.Answer
	}
	result, err := handle(ctx, roomnode.Turn{Thread: r.Thread, Text: in.Text, Said: in.Message,
		Incognito: in.Incognito, Events: feed.Events, Stored: feed.Stored})
	if err != nil || result.Handled {
		return result, err
	}
	if in.Incognito {
		return result, errIncognito
	}
	return t.nodes.lead.Run(ctx, leadnode.Input{Thread: r.Thread, Text: in.Text, Said: in.Message, Events: feed.Events, Stored: feed.Stored})
}

// start puts the turn where it is to begin, and gives the thread what comes before it.
func (t turner) start(ctx context.Context, id string, in runs.Input, feed runs.Feed) error {
	if in.Checkpoint == "" && len(in.Before) == 0 {
		return nil
	}
	hold, err := exchange.Hold(ctx, t.saver, id)
	if err != nil {
		return err
	}
	hold.Observe(feed.Stored)
	err = t.place(ctx, hold, in)
	if err == nil && len(in.Before) > 0 {
		err = hold.Put(thread.Step{Source: "input", Messages: in.Before})
	}
	return errors.Join(err, hold.End())
}

func (t turner) place(ctx context.Context, hold *thread.Hold, in runs.Input) error {
	if in.Checkpoint == "" {
		return nil
	}
	if in.UpTo == nil {
		at, err := langgraphapi.AtHead(ctx, t.saver, hold.Thread(), in.Checkpoint)
		if err != nil || at {
			return err
		}
	}
	return hold.Branch(in.Checkpoint, in.UpTo)
}

// undo takes back what a run has written, by a branch from where it began.
func (t turner) undo(ctx context.Context, r runs.Run) error {
	if r.Base == "" {
		return fmt.Errorf("taking back what run %s wrote: it began on no thread", r.ID)
	}
	return t.branch(ctx, r.Thread, r.Base, &r.Length, nil)
}

// branch begins a branch at a checkpoint and changes its messages by entries; an empty
// checkpoint is the head.
func (t turner) branch(ctx context.Context, id, checkpoint string, upTo *int64, entries []checkpointer.Entry) error {
	hold, err := exchange.Hold(ctx, t.saver, id)
	if err != nil {
		return err
	}
	if checkpoint != "" {
		err = hold.Branch(checkpoint, upTo)
	}
	if err == nil && len(entries) > 0 {
		err = hold.Edit("update", entries)
	}
	return errors.Join(err, hold.End())
}
