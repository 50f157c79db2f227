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
	"time"
)

// Life owns goroutines. Make one with [New].
type Life struct {
	ctx  context.Context
	end  context.CancelCauseFunc
	why  error      // nil is context.Canceled
	mu   sync.Mutex // guards closed against work
	shut bool
	work sync.WaitGroup
}

// New returns a life that has begun. The cause of its end, which its contexts give, is why; nil
// is context.Canceled.
func New(why error) *Life {
	l := Within(context.Background())
	l.why = why
	return l
}

// Within returns a life whose contexts end with ctx too. It is to be closed all the same.
func Within(ctx context.Context) *Life {
	l := &Life{}
	l.ctx, l.end = context.WithCancelCause(ctx)
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

// Enter lets a call of the caller's own goroutine in, which Close waits for: until it leaves
// its context ends with ctx or when Close begins, whichever is first. ok is false, and there is
// nothing to leave, once Close has begun.
func (l *Life) Enter(ctx context.Context) (_ context.Context, leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut {
		return nil, nil, false
	}
	l.work.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	detach := context.AfterFunc(l.ctx, func() { cancel(context.Cause(l.ctx)) })
	return ctx, func() {
		detach()
		cancel(nil)
		l.work.Done()
	}, true
}

// Sleep waits for d, and reports false when ctx ended first. It is for a life's work.
func Sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Close ends the context and waits for all work, and for clearing, which is begun once and
// beside what still ends. It may be called from many goroutines and more than once; each call
// waits.
func (l *Life) Close(clearing ...func()) {
	l.mu.Lock()
	if !l.shut {
		l.shut = true
		l.end(l.why)
		for _, do := range clearing {
			l.work.Go(do)
		}
	}
	l.mu.Unlock()
	l.work.Wait()
}
