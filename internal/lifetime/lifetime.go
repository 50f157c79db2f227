// Package lifetime is the one owned life of a part that starts goroutines: begun with the
// part, ended by its Close, which returns when they are gone.
//
// # Concurrency
//
// A [Life] is safe for concurrent use.
package lifetime

import (
	"context"
	"sync"
)

// Life owns goroutines. Make one with [New].
type Life struct {
	ctx  context.Context
	end  context.CancelFunc
	mu   sync.Mutex // guards closed against work
	shut bool
	work sync.WaitGroup
}

// New returns a life that has begun.
func New() *Life {
	l := &Life{}
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// Context ends when Close begins.
func (l *Life) Context() context.Context { return l.ctx }

// Go runs work on a goroutine of its own, which Close waits for. It reports false, and runs
// nothing, once Close has begun. Work ends soon after its context does, and does not call
// Close.
func (l *Life) Go(work func(ctx context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut {
		return false
	}
	l.work.Go(func() { work(l.ctx) })
	return true
}

// Close ends the context and waits for all work. It may be called from many goroutines and
// more than once; each call waits.
func (l *Life) Close() {
	l.mu.Lock()
	l.shut = true
	l.mu.Unlock()
	l.end()
	l.work.Wait()
}
