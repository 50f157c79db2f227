package exchange

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/room"
)

// dispatch asks one member and records what came of it; rest are the members still to be
// asked in this round. The error is one of ours.
func (x *run) dispatch(member string, rest []string) (langrooms.Outcome, error) {
	if err := x.announce(member, rest); err != nil {
		return langrooms.Outcome{}, err
	}
	window, seen, err := x.window(member)
	if err != nil && x.ctx.Err() == nil {
		return langrooms.Outcome{}, err
	}
	o := langrooms.Outcome{Author: member, Round: x.plan.Round(), CaughtUp: len(window.Lines),
		Truncated: window.Truncated, Started: time.Now().UTC()}
	x.emit(langrooms.Event{Type: langrooms.EventDispatchStarted, Member: member, Round: o.Round})
	reply, err := x.ask(member, window)
	o.Duration = time.Since(o.Started)
	record := x.judge(&o, reply, err, seen)
	err = x.keep(&o, record, rest)
	x.outcomes = append(x.outcomes, o)
	x.emit(langrooms.Event{Type: langrooms.EventDispatchEnded, Member: member, Round: o.Round, Outcome: &o})
	return o, err
}

// keep puts the record of a dispatch, if it leaves one. What cannot be stored is told in
// the outcome; the error is that the thread has passed to another writer.
func (x *run) keep(o *langrooms.Outcome, record *langrooms.Message, rest []string) error {
	x.plan = x.plan.Record(*o)
	if record == nil {
		return nil
	}
	var open *openExchange
	if !x.stopped(*o) {
		open = x.upcoming(rest)
	}
	err := x.record(*record, open)
	switch {
	case errors.Is(err, checkpointer.ErrFenced):
		o.Unrecorded = checkpointer.ErrFenced.Error()
		return err
	case err != nil:
		o.Unrecorded = delegate.Cause(errors.Unwrap(err)) // the note names the thread itself
	}
	return nil
}

// announce sees to it that the thread says who is being asked. The put of the address, or
// of the reply before, has usually said so already.
func (x *run) announce(member string, rest []string) error {
	if x.staging || x.open != nil && x.open.Running == member && x.open.Round == x.plan.Round() {
		return nil
	}
	return x.put("room", nil, x.opening(member, rest))
}

// window reads what member has not been shown, and the position at which that ends. Who
// resumes a task is shown nothing.
func (x *run) window(member string) (room.Window, int64, error) {
	if x.address.Resume != "" {
		return room.Window{}, 0, nil
	}
	page := x.room.Limits.Clamp().Messages + windowSlack
	w, err := room.ReadWindow(x.newestFirst(page), room.WindowQuery{
		Member: member, Lead: x.room.Lead, Exchange: x.exchange, Limits: x.room.Limits})
	if lost := context.Cause(x.Turn.ctx); err != nil && errors.Is(lost, checkpointer.ErrFenced) {
		err = lost
	}
	if err != nil {
		return room.Window{}, 0, fmt.Errorf("reading the window of @%s on the thread %q: %w", member, x.thread, err)
	}
	return w, x.Next(), nil
}

// windowSlack is how many entries more than the window's limit one page holds: the
// member's own messages, and one to tell whether something was left out.
const windowSlack = 8

// ask dispatches to the member, unless the run has been stopped.
func (x *run) ask(member string, window room.Window) (delegate.Reply, error) {
	if err := x.ctx.Err(); err != nil {
		return delegate.Reply{}, err
	}
	d, _ := x.room.Roster.Get(member)
	req := delegate.Request{
		Prompt: room.Prompt(room.PromptInput{Member: member, Message: x.address.Message,
			Window: window, MultiRound: x.plan.MultiRound()}),
		Timeout: x.address.Timeout,
		Progress: func(p langrooms.Progress) {
			x.emit(langrooms.Event{Type: langrooms.EventProgress, Member: member, Round: x.plan.Round(), Progress: &p})
		},
	}
	switch {
	case x.address.Resume != "":
		req.ResumeTask, req.Prompt = x.address.Resume, x.address.Message
	case d.Info().Conversational:
		req.Conversation = x.thread
	}
	reply, err := d.Ask(x.ctx, req)
	if x.room.Health != nil && (err == nil || x.ctx.Err() == nil) { // a stop is no failure of the delegate's
		x.room.Health.Note(d, err)
	}
	return reply, err
}

// judge fills in the outcome and returns the record that it leaves on the thread, or nil.
func (x *run) judge(o *langrooms.Outcome, reply delegate.Reply, err error, seen int64) *langrooms.Message {
	rec := room.ReplyRecord{From: o.Author, Exchange: x.exchange, Round: o.Round,
		Incognito: x.address.Incognito, Seen: seen}
	switch {
	case err != nil && x.ctx.Err() != nil:
		o.Error, o.ErrorKind = x.stopWords(), string(delegate.KindCanceled)
		rec.Failed, rec.Seen, rec.Text = true, 0, "("+o.Error+")"
	case err != nil:
		e := delegate.AsError(o.Author, err)
		o.Error, o.ErrorKind = e.Cause(), string(e.Kind)
		if e.Working() {
			o.Task = e.Task
		}
		waiting := x.collect(e, o, seen)
		o.Collecting, o.Kept = waiting == delegate.Waited, waiting == delegate.Kept
		rec.Failed, rec.Seen, rec.Text = true, 0, room.FailedText(o.Error)
	default:
		o.OK, o.Usage, o.Reply = true, reply.Usage, ReplyText(reply)
		o.NewConversation = reply.NewConversation
		if o.Silent = x.plan.MultiRound() && room.Silent(o.Reply); o.Silent {
			o.Reply = ""
		}
		if o.Reply == "" {
			return nil
		}
		rec.Text = o.Reply
	}
	m := room.NewReply(rec)
	return &m
}

// stopWords says why the run was stopped.
func (x *run) stopWords() string {
	if errors.Is(context.Cause(x.ctx), checkpointer.ErrFenced) {
		return "stopped: the hold on the thread was lost"
	}
	return room.StoppedCause
}

func (x *run) collect(e *delegate.Error, o *langrooms.Outcome, seen int64) delegate.Waiting {
	if !e.Working() || x.room.Collect == nil {
		return delegate.NotWaited
	}
	return x.room.Collect(x.recordContext(), delegate.Handle{Epoch: x.epoch, Thread: x.thread, Delegate: o.Author, Task: e.Task,
		Exchange: x.exchange, Round: o.Round, Seen: seen, Incognito: x.address.Incognito, Silence: x.plan.MultiRound(),
		Anchor: x.Next()}) // where the record of this failure is about to stand
}

// ReplyText is what is recorded of a reply: its words, and that they were cut short.
func ReplyText(r delegate.Reply) string {
	text := strings.TrimSpace(strings.ToValidUTF8(r.Text, "\uFFFD"))
	if text != "" && r.Incomplete != "" {
		text += "\n\n(The answer is incomplete: " + delegate.OneLine(r.Incomplete, delegate.MaxCause) + ")"
	}
	return text
}

func (x *run) emit(e langrooms.Event) {
	e.Thread, e.Exchange = x.thread, x.exchange
	x.room.Events.Emit(e)
}
