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
	"sync/atomic"

	"golang.org/x/term"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
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
	// Commands are what the operator can type with a slash in front, beside /help, /stop,
	// /now and /quit. They are for a person at a terminal: a line from elsewhere, and the
	// message of OneTurn, is a message whatever it begins with.
	Commands []Command
	// Opening is shown to a person at the start, before who can be addressed.
	Opening string
	// History is the file that keeps what was typed at a terminal; empty keeps nothing
	// beyond the chat. Its folder is made when needed.
	History string

	interrupts <-chan os.Signal
	leaving    chan struct{}
	leftOnce   sync.Once
	editing    atomic.Bool // the person's own editor has the terminal

	mu      sync.Mutex
	running func() // stops what runs; nil when nothing does

	steering delegate.Steering // of the turn that runs
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
	c.interrupts, c.leaving = interrupts, make(chan struct{})
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
	var result langrooms.Result
	var err error
	c.Printer.begin()
	c.interruptible(ctx, func(ctx context.Context) {
		result, err = turn(delegate.WithSteering(ctx, &c.steering))
		if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
			result, err = stopped(ctx, result), nil
		}
	})
	c.Printer.Done(result, err)
	if err != nil {
		return ErrTurn
	}
	return nil
}

// interruptible runs do with a context that ends at an interrupt.
func (c *Chat) interruptible(ctx context.Context, do func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-c.interrupts:
			cancel()
		case <-over:
		}
	})
	c.runs(cancel)
	do(ctx)
	c.runs(nil)
	close(over)
	watcher.Wait()
}

func (c *Chat) runs(stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = stop
}

// interrupt stops what runs. It reports whether something did.
func (c *Chat) interrupt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		return false
	}
	c.running()
	return true
}

// leave ends the chat, and what runs in it.
func (c *Chat) leave() {
	c.interrupt()
	c.leftOnce.Do(func() { close(c.leaving) })
}

// stopped is the result of a turn that was stopped before it had begun, such as one that
// was waiting for its thread.
func stopped(ctx context.Context, r langrooms.Result) langrooms.Result {
	stop := langrooms.StopOf(ctx)
	r.Reason, r.Stopped, r.Text, r.Aside = langrooms.ReasonStopped, &stop, stop.Sentence(), stop.Sentence()
	return r
}

// next waits for the next turn; ok is false at the end. shown is called when the turn and
// all that it shows are over.
func (c *Chat) next(ctx context.Context, lines <-chan line) (turn turnFunc, shown func(), ok bool) {
	for {
		select {
		case <-ctx.Done():
			return nil, nil, false
		case <-c.leaving:
			return nil, nil, false
		case <-c.interrupts:
			if !c.editing.Load() { // where it is for the editor
				return nil, nil, false
			}
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
			case strings.TrimSpace(l.text) == "":
			default:
				if turn := c.turnOf(ctx, l); turn != nil {
					return turn, l.done, true
				}
			}
			l.done()
		}
	}
}

// turnOf returns the turn that a line is. A command is run instead, and may have one.
func (c *Chat) turnOf(ctx context.Context, l line) turnFunc {
	name, args, ok := slash(l.text)
	if !l.typed || !ok {
		return c.turn(l.text)
	}
	if cmd, _ := c.command(name); cmd.Turn != nil {
		return func(ctx context.Context) (langrooms.Result, error) {
			return cmd.Turn(ctx, Input{Text: args, Events: c.Printer.Event})
		}
	}
	var reply Reply
	c.interruptible(ctx, func(ctx context.Context) { reply = c.perform(ctx, name, args) })
	if reply.Draft != "" && l.draft != nil {
		l.draft(reply.Draft)
	}
	if reply.Send == "" {
		return nil
	}
	c.Printer.echo(reply.Send)
	return c.turn(reply.Send)
}

// line is one line of input, or what stands for one; done is called when its turn is over
// and shown.
type line struct {
	text  string
	err   error
	typed bool              // by a person, who has commands
	draft func(text string) // puts text before the person's cursor; nil where that cannot be
	done  func()
}

// lines starts reading. stop ends it and waits, but not for a read that is under way: one
// from an open pipe cannot be broken off, and ends with the program.
func (c *Chat) lines(ctx context.Context) (<-chan line, func()) {
	f, ok := c.In.(*os.File)
	if !ok || c.Printer.json || !term.IsTerminal(int(f.Fd())) {
		return c.readLines(ctx, false)
	}
	if _, out, ok := screenOf(c.In, c.Printer.out); ok {
		return c.converse(ctx, f, out)
	}
	c.Printer.watched(nil, false)
	c.open()
	return c.readLines(ctx, true)
}

// screenOf returns the two sides of a screen, when in and out are one.
func screenOf(in, out any) (f, w *os.File, ok bool) {
	f, reads := in.(*os.File)
	w, writes := out.(*os.File)
	ok = reads && writes && term.IsTerminal(int(f.Fd())) && term.IsTerminal(int(w.Fd())) &&
		os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != ""
	return f, w, ok
}

// open shows what a person sees first.
func (c *Chat) open() {
	if c.Opening != "" {
		c.Printer.Notice(c.Opening)
	}
	c.Printer.Notice(c.greeting())
}
