package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// others shows what other programs write on a thread while one chats there.
type others struct {
	c      *conversation
	thread string

	mu     sync.Mutex
	next   int64  // the first position that was not looked at
	asking string // the id of the message of a turn of our own that may still wait for the thread
	own    bool   // the thread is ours: what is written there is shown by the turn itself
}

// passBound is how long the end of a thread may take to be read.
const passBound = 5 * time.Second

// start passes over what stands on the thread.
func (o *others) start(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pass(ctx)
}

// pass ends within passBound, also when ctx does not: a store that hangs holds nobody up.
func (o *others) pass(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, passBound)
	defer cancel()
	last := checkpointer.Range{Backward: true, Limit: checkpointer.N(1)}
	for m, err := range o.c.app.Saver.Messages(ctx, checkpointer.Ref{Thread: o.thread}, last) {
		if err == nil {
			o.next = max(o.next, m.Seq+1)
		}
	}
}

// begin says that a turn of our own is asked for, by the message with this id; what it returns
// says that it has begun, and shows what was written before it.
func (o *others) begin(ctx context.Context, id string) (begun func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asking = id
	return func() {
		if o.c.live {
			o.show(ctx)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.own = true
	}
}

// show prints what is new.
func (o *others) show(ctx context.Context) {
	for _, m := range o.news(ctx) {
		o.c.printer.Said(m)
	}
}

// end says that it is over.
func (o *others) end(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.c.live {
		o.pass(context.WithoutCancel(ctx))
	}
	o.own, o.asking = false, ""
}

// follow shows what is written until ctx ends. A store that cannot watch shows nothing.
func (o *others) follow(ctx context.Context) {
	watcher, ok := o.c.app.Saver.(checkpointer.Watcher)
	if !ok {
		return
	}
	for _, err := range watcher.Watch(ctx, o.thread) {
		if err != nil {
			return
		}
		o.show(ctx)
	}
}

// news returns the words that others have written since the last look.
func (o *others) news(ctx context.Context) []langrooms.Message {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.own {
		return nil
	}
	var found []langrooms.Message
	for m, err := range o.c.app.Saver.Messages(ctx, checkpointer.Ref{Thread: o.thread}, checkpointer.Range{From: o.next}) {
		if err != nil {
			if errors.Is(err, checkpointer.ErrNotFound) {
				o.next = 0 // it was deleted
			}
			break
		}
		if m.ID == o.asking {
			o.own = true
			break
		}
		o.next = m.Seq + 1
		late := m.Stamp != nil && m.Stamp.Late // which comes as an arrival where it is waited for
		if !late && m.Role != langrooms.RoleTool && m.Text() != "" {
			found = append(found, m)
		}
	}
	return found
}
