package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/nodes/leadnode"
	"github.com/langrooms/langrooms/nodes/roomnode"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/terminal"
)

// conversation is the chat's side of one thread at a time.
type conversation struct {
	app       *setup.App
	nodes     *graph
	printer   *terminal.Printer
	incognito bool
	live      bool // shows what others write

	arrivals chan langrooms.Arrival
	failed   atomic.Bool // a delegate did not answer

	attached attached // what goes with the next message

	mu     sync.Mutex
	thread string
	leave  func() // the thread
	others *others
}

func newConversation(app *setup.App, nodes *graph, printer *terminal.Printer, p *program) *conversation {
	return &conversation{app: app, nodes: nodes, printer: printer, incognito: p.incognito,
		live: !p.json && isTerminal(p.in), arrivals: make(chan langrooms.Arrival), leave: func() {}}
}

// enter goes over to a thread: what arrives there, and what others write, is shown from now on.
func (c *conversation) enter(ctx context.Context, thread string) {
	c.close()
	arriving, unsubscribe := c.app.Inbox.Arrivals(thread) // before anything can arrive
	ctx, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { c.forward(ctx, arriving) })
	o := &others{c: c, thread: thread}
	if c.live {
		o.start(ctx)
		beside.Go(func() { o.follow(ctx) })
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.thread, c.others = thread, o
	c.leave = func() {
		cancel()
		unsubscribe()
		beside.Wait()
	}
}

// close leaves the thread.
func (c *conversation) close() {
	c.mu.Lock()
	leave := c.leave
	c.leave = func() {}
	c.mu.Unlock()
	leave()
}

// forward hands on what arrives; the end of the arrivals is the end of the program.
func (c *conversation) forward(ctx context.Context, arriving <-chan langrooms.Arrival) {
	for {
		select {
		case a, ok := <-arriving:
			if !ok {
				return
			}
			select {
			case c.arrivals <- a:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (c *conversation) current() (string, *others) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.thread, c.others
}

// quiet is how long a turn may show nothing before the operator is told that it waits.
const quiet = time.Second

// turn takes one turn.
func (c *conversation) turn(ctx context.Context, in terminal.Input) (langrooms.Result, error) {
	return c.take(ctx, in, c.nodes.turn)
}

// answer takes a turn that answers a member's question.
func (c *conversation) answer(ctx context.Context, in terminal.Input) (langrooms.Result, error) {
	return c.take(ctx, in, c.nodes.room.Answer)
}

func (c *conversation) take(ctx context.Context, in terminal.Input, by func(context.Context, roomnode.Turn) (langrooms.Result, error)) (langrooms.Result, error) {
	thread, o := c.current()
	files := c.attached.take()
	said := langrooms.Message{ID: langrooms.NewID(), Parts: files}
	own := sync.OnceFunc(o.begin(ctx, said.ID))
	waits := time.AfterFunc(quiet, func() {
		c.printer.Doing("waiting: another program is using the thread " + shownID(thread))
	})
	events := func(e langrooms.Event) {
		waits.Stop()
		own()
		in.Events.Emit(e)
	}
	result, err := by(ctx, roomnode.Turn{Thread: thread, Text: in.Text, Said: said, Incognito: c.incognito, Events: events})
	waits.Stop()
	o.end(ctx)
	if result.Handled && result.Exchange == "" {
		c.attached.put(files) // nothing was sent
	}
	for _, outcome := range result.Outcomes {
		if !outcome.OK {
			c.failed.Store(true)
		}
	}
	return result, err
}

// wake has the lead take in what has arrived.
func (c *conversation) wake(ctx context.Context, notice string, events langrooms.Sink) (langrooms.Result, error) {
	thread, o := c.current()
	o.begin(ctx, "")()
	defer o.end(ctx)
	return c.nodes.lead.Run(ctx, leadnode.Input{Thread: thread, Notice: notice, Events: events})
}

// openingMessages is how many messages of a thread are shown at first.
const openingMessages = 6

// opening says where one is, and what was said last.
func (c *conversation) opening(ctx context.Context) string {
	thread, _ := c.current()
	config := c.app.Config()
	head := fmt.Sprintf("thread %s · %s · lead %s", shownID(thread), config.Checkpointer, config.Model)
	var last []string
	read := checkpointer.Range{Backward: true, Limit: checkpointer.N(openingMessages)}
	for m, err := range c.app.Saver.Messages(ctx, checkpointer.Ref{Thread: thread}, read) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			return head + " (new)"
		}
		if err != nil {
			return head + "\n" + err.Error()
		}
		last = append([]string{spoken(m)}, last...)
	}
	return strings.Join(append([]string{head}, last...), "\n")
}

// maxSpoken bounds how much of an earlier message is shown, in characters.
const maxSpoken = 160

// spoken is a message on one line.
func spoken(m langrooms.Message) string {
	l := lineOf(m)
	text := []rune(strings.Join(strings.Fields(l.Text), " "))
	if len(text) > maxSpoken {
		text = append(text[:maxSpoken], '…')
	}
	return speaker(l) + ": " + string(text)
}
