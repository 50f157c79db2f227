package delegatetool

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
)

// Job is a delegation in the background: its answer comes later, as the member's own
// message.
type Job struct {
	Thread, Target, Query string
	// Exchange is the id of the address that has been recorded, at position Anchor; the
	// answer will be stamped with it.
	Exchange string
	Anchor   int64
	// Epoch is the life of the thread's history that it was recorded in.
	Epoch string
	// Timeout is a hard bound; 0 means the delegate's own.
	Timeout time.Duration
	// Trace names the installations that the message has come through, this one last.
	Trace delegate.Trace
}

// Config wires the tools.
type Config struct {
	// Room is whom the tool's description offers, at each time it is asked for; a call works
	// in the room of its turn (exchange.NewContext). Required.
	Room func() (r exchange.Room, release func())
	// Claim withdraws the collection of a task whose outcome the lead has got itself, so
	// that it does not come twice; nil where nothing is collected. It is called while the
	// turn holds the thread.
	Claim func(thread, target, task string)
	// Background runs a job, and reports why it cannot; nil offers no background.
	Background func(Job) error
}

// DelegateTo is the tool delegate_to. Make one with [New].
type DelegateTo struct{ cfg Config }

// New returns the tool. It does no I/O.
func New(cfg Config) (*DelegateTo, error) {
	if cfg.Room == nil {
		return nil, errors.New("delegatetool: Config.Room is nil")
	}
	return &DelegateTo{cfg}, nil
}

// Name returns "delegate_to".
func (d *DelegateTo) Name() string { return "delegate_to" }

// Description says what the tool does, with which arguments, and whom it reaches now.
func (d *DelegateTo) Description() string {
	r, release := d.cfg.Room()
	defer release()
	return "Ask another agent and get its answer. It takes part in this chat: it is told what was said since it last spoke, " +
		"and its answer is recorded under its own name. The input is a JSON object: " + shape + ".\n" + roster(r.Roster, func(delegate.Delegate) string { return "" })
}

// maxShown bounds what a line of the roster says of one thing, in code points.
const maxShown = 300

// roster lists the delegates for a model, a line each, with what more says at its end.
func roster(r *delegate.Registry, more func(delegate.Delegate) string) string {
	if len(r.Names()) == 0 {
		return "No delegate is configured."
	}
	var b strings.Builder
	b.WriteString("Delegates:")
	for _, d := range r.All() {
		info := d.Info()
		fmt.Fprintf(&b, "\n- %s (%s)", info.Name, info.Type)
		if info.Description != "" {
			b.WriteString(": " + delegate.OneLine(info.Description, maxShown))
		}
		b.WriteString(more(d))
	}
	return b.String()
}

// Definition is what the model is offered.
func (d *DelegateTo) Definition() llms.Tool {
	text := func(help string) map[string]any { return map[string]any{"type": "string", "description": help} }
	properties := map[string]any{
		"target":         text("The delegate's name, without the @."),
		"query":          text("What to ask, complete in itself."),
		"summary":        text("A few words on what this is for."),
		"resume_task_id": text("The id of a parked task to answer, or of a running one to wait for."),
		"timeout": map[string]any{"type": "number", "minimum": 0,
			"description": "Seconds to wait at most; 0 for the configured bound."},
	}
	if d.cfg.Background != nil {
		properties["background"] = map[string]any{"type": "boolean",
			"description": "Do not wait: the answer arrives on a later turn."}
	}
	return llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
		Name: d.Name(), Description: d.Description(),
		Parameters: map[string]any{"type": "object", "properties": properties, "required": []string{"target", "query"}},
	}}
}

// Call does what [DelegateTo.Run] does for an agent of langchaingo's, whose run ends at a
// tool's error: a failure is a result too, which begins with "Error: ".
func (d *DelegateTo) Call(ctx context.Context, input string) (string, error) {
	result, err := d.Run(ctx, input)
	if err != nil {
		return "Error: " + err.Error(), nil
	}
	return result, nil
}

// Run delegates. It needs the turn and the room that ctx carries (exchange.NewContext), and
// returns the delegate's words. Every failure is an error that names the delegate and that the model
// can act on.
func (d *DelegateTo) Run(ctx context.Context, input string) (string, error) {
	turn, r, ok := exchange.FromContext(ctx)
	if !ok {
		return "", errors.New("delegate_to can only be called in a turn")
	}
	a, err := readArguments(input)
	if err != nil {
		return "", err
	}
	r.MaxRounds = 1
	target, err := check(&a, r.Roster)
	if err != nil {
		return "", err
	}
	if err := turn.Afford(r); err != nil {
		return "", fmt.Errorf("delegate @%s was not asked: %w", a.Target, err)
	}
	timeout := time.Duration(math.Ceil(a.Timeout * float64(time.Second)))
	if a.Background {
		return d.background(turn, speaker(r), Job{Thread: turn.Thread(), Target: a.Target, Query: a.Query, Timeout: timeout,
			Trace: delegate.TraceOf(delegate.Through(ctx, r.Self))})
	}
	if a.ResumeTask != "" && !target.Info().Resumable {
		return "", fmt.Errorf("delegate @%s is of type %s, which cannot resume a task", a.Target, target.Info().Type)
	}
	given, err := turn.Given(ctx)
	if err != nil {
		return "", err
	}
	result, err := turn.Address(ctx, r, exchange.Address{Files: given,
		From: room.Speaker{Kind: room.SpeakerLead, Name: speaker(r)}, To: []string{a.Target}, Message: a.Query, Timeout: timeout, Resume: a.ResumeTask})
	if err != nil {
		return "", err
	}
	outcome := result.Outcomes[0]
	if a.ResumeTask != "" && d.cfg.Claim != nil && settled(outcome) {
		d.cfg.Claim(turn.Thread(), a.Target, a.ResumeTask)
	}
	return answer(outcome)
}

// settled reports whether o is the end of the task that was resumed. A peer that could not
// be asked, or is still at it, leaves the task where it was, and its collection too.
func settled(o langrooms.Outcome) bool {
	if o.Collecting || o.Kept {
		return false
	}
	switch o.ErrorKind {
	case delegate.KindUnreachable, delegate.KindRefused, delegate.KindTimeout, delegate.KindStillRunning, delegate.KindProtocol:
		return false
	}
	return true
}

// maxTimeout bounds what a model may ask for, in seconds.
const maxTimeout = 24 * 60 * 60

// check resolves the target and refuses what cannot be dispatched.
func check(a *arguments, registry *delegate.Registry) (delegate.Delegate, error) {
	a.Query = strings.TrimSpace(a.Query)
	names := registry.Names()
	address := resolve(a.Target, names)
	switch {
	case len(names) == 0:
		return nil, errors.New("no delegate is configured")
	case len(address.To) != 1:
		return nil, errors.New(room.UnknownText("@"+strings.TrimPrefix(strings.TrimSpace(a.Target), "@"), names, address.Near))
	case a.Query == "" && a.ResumeTask == "":
		return nil, fmt.Errorf("the query to @%s is empty", address.To[0])
	case a.Background && a.ResumeTask != "":
		return nil, fmt.Errorf("a task of @%s cannot be resumed in the background", address.To[0])
	case a.Timeout < 0 || a.Timeout > maxTimeout:
		return nil, fmt.Errorf("the timeout is %g seconds, it must be 0 to %d", a.Timeout, maxTimeout)
	}
	if err := langrooms.CheckText(a.Query); err != nil {
		return nil, fmt.Errorf("the query to @%s: %w", address.To[0], err)
	}
	a.Target = address.To[0]
	target, _ := registry.Get(a.Target)
	return target, nil
}

// speaker is who an address of the lead is from.
func speaker(r exchange.Room) string {
	if r.Lead != "" {
		return r.Lead
	}
	return langrooms.Assistant
}

// background hands the job over. The address is recorded with this turn, so that the answer
// has something to belong to; the answer waits for the turn's end.
func (d *DelegateTo) background(turn *exchange.Turn, from string, job Job) (string, error) {
	if d.cfg.Background == nil {
		return "", errors.New("this program runs no delegations in the background")
	}
	job.Exchange, job.Anchor, job.Epoch = langrooms.NewID(), turn.Next(), turn.Epoch()
	if err := d.cfg.Background(job); err != nil {
		return "", fmt.Errorf("delegating to @%s in the background: %w", job.Target, err)
	}
	turn.Stage(room.NewAddress(from, []string{job.Target}, job.Exchange, job.Query, false))
	return fmt.Sprintf("Delegated to @%s in the background. The answer will arrive on a later turn, as @%s's own message. "+
		"Do not wait for it and do not delegate it again.", job.Target, job.Target), nil
}

// answer is the result of a foreground delegation.
func answer(o langrooms.Outcome) (string, error) {
	state := "failed"
	running := o.ErrorKind == langrooms.ErrorStillRunning
	if running {
		state = "is still working"
	}
	failure := fmt.Sprintf("delegate @%s %s: %s", o.Author, state, o.Error)
	switch {
	case o.OK && o.Reply == "":
		return fmt.Sprintf("@%s answered without text.", o.Author), nil
	case o.Paused && o.Task != "":
		return fmt.Sprintf("%s\n\nTo answer it, call delegate_to with target %q, the answer as query, and resume_task_id %q.", o.Reply, o.Author, o.Task), nil
	case o.OK || o.Incomplete: // stopped, and its words say so
		return o.Reply, nil
	case o.Collecting:
		return "", errors.New(failure + ". The answer is being waited for in the background and will be " +
			"delivered on a later turn if it comes: do not delegate it again and do not report it as lost")
	case o.Kept:
		return "", errors.New(failure + ". Nobody waits for the answer now; the next turn on this thread begins by " +
			"looking for it: do not delegate it again and do not report it as lost")
	case o.Task != "":
		return "", fmt.Errorf("%s. The answer will not come by itself: to wait for it, call delegate_to with "+
			"target %q and resume_task_id %q", failure, o.Author, o.Task)
	case running:
		return "", errors.New(failure + ". The answer will not come by itself")
	}
	return "", errors.New(failure)
}
