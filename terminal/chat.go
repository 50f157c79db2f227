package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/langrooms/langrooms"
)

// Input is one message of the operator.
type Input struct {
	Text string
	// Events receives what happens while the turn runs.
	Events langrooms.Sink
}

// Chat is a conversation with one thread.
type Chat struct {
	// Printer shows everything. Required.
	Printer *Printer
	// Turn takes one turn. It is called once at a time. Required.
	Turn func(ctx context.Context, in Input) (langrooms.Result, error)
	// Message is the only turn when OneTurn is set; otherwise the turns come from In.
	Message string
	OneTurn bool
	// In gives the turns, one a line; a terminal gives a conversation.
	In io.Reader
	// Arrivals are messages that land outside of a turn. They are shown between turns; one
	// with a notice then wakes the lead by Wake. Nil means that none come.
	Arrivals <-chan langrooms.Arrival
	Wake     func(ctx context.Context, notice string, events langrooms.Sink) (langrooms.Result, error)
	// Complete returns the names that can complete the last token of what stands before the
	// cursor (see room.Complete); nil completes nothing.
	Complete func(before string) []string

	interrupts <-chan os.Signal
}

// ErrTurn says that a turn failed on our side; Run has shown why.
var ErrTurn = errors.New("a turn failed")

// Run takes turns until the input or ctx ends. An interrupt (SIGINT) stops the running turn;
// between turns, and with OneTurn, it ends the chat. The error is ErrTurn when a turn failed,
// or why the input or output failed.
func (c *Chat) Run(ctx context.Context) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	c.interrupts = interrupts
	if c.OneTurn {
		err := c.take(ctx, c.turn(c.Message))
		return errors.Join(err, c.Printer.Err())
	}
	lines, stop := c.lines(ctx)
	defer stop()
	var failed error
	for {
		turn, shown, ok := c.next(ctx, lines)
		if !ok {
			break
		}
		if err := c.take(ctx, turn); err != nil {
			failed = err
		}
		shown()
		if err := c.Printer.Err(); err != nil {
			return fmt.Errorf("writing the answer: %w", err)
		}
	}
	return failed
}

type turnFunc = func(context.Context) (langrooms.Result, error)

func (c *Chat) turn(text string) turnFunc {
	return func(ctx context.Context) (langrooms.Result, error) {
		return c.Turn(ctx, Input{Text: text, Events: c.Printer.Event})
	}
}

// take runs one turn under its own interrupt.
func (c *Chat) take(ctx context.Context, turn turnFunc) error {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-c.interrupts:
			cancel()
		case <-over:
		}
	})
	result, err := turn(ctx)
	close(over)
	watcher.Wait()
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		result, err = stopped(result), nil
	}
	cancel()
	c.Printer.Done(result, err)
	if err != nil {
		return ErrTurn
	}
	return nil
}

// stopped is the result of a turn that was stopped before it had begun, such as one that
// was waiting for its thread.
func stopped(r langrooms.Result) langrooms.Result {
	r.Reason, r.Text = langrooms.ReasonStopped, "Stopped by the operator."
	r.Aside = r.Text
	return r
}

// next waits for the next turn; ok is false at the end. shown is called when the turn and
// all that it shows are over.
func (c *Chat) next(ctx context.Context, lines <-chan line) (turn turnFunc, shown func(), ok bool) {
	for {
		select {
		case <-ctx.Done():
			return nil, nil, false
		case <-c.interrupts:
			return nil, nil, false
		case a, ok := <-c.Arrivals:
			if !ok { // the program is ending
				return nil, nil, false
			}
			c.Printer.Event(langrooms.Event{Type: langrooms.EventMessage, Thread: a.Thread, Message: &a.Message})
			if a.Notice != "" {
				return func(ctx context.Context) (langrooms.Result, error) {
					return c.Wake(ctx, a.Notice, c.Printer.Event)
				}, func() {}, true
			}
		case l, ok := <-lines:
			switch {
			case !ok:
				return nil, nil, false
			case l.err != nil:
				return func(context.Context) (langrooms.Result, error) { return langrooms.Result{}, l.err }, l.done, true
			case strings.TrimSpace(l.text) != "":
				return c.turn(l.text), l.done, true
			}
			l.done()
		}
	}
}

// line is one line of input; done is called when its turn is over and shown, and lets a
// terminal show its prompt again.
type line struct {
	text string
	err  error
	done func()
}

// lines starts reading. stop ends it and waits, but not for a read that is under way: one
// from a terminal or an open pipe cannot be broken off, and ends with the program.
func (c *Chat) lines(ctx context.Context) (<-chan line, func()) {
	if f, ok := c.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) && !c.Printer.json {
		return c.converse(ctx, f)
	}
	return c.readLines(ctx)
}
