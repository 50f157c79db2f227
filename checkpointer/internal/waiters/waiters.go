// Package waiters wakes those of one process who wait for a lease that another one of the same
// process gives back: they need not wait until they look at the store again. Whose turn it is
// the store alone decides; a waiter that is woken asks it.
package waiters

import (
	"slices"
	"sync"
)

// Lines are the waiters of a process by thread, each in order of arrival. The zero value is
// empty. It is safe for concurrent use.
type Lines struct {
	mu    sync.Mutex
	lines map[string][]*Waiter
}

// Waiter is one who waits. Leave must be called.
type Waiter struct {
	lines  *Lines
	thread string
	woken  chan struct{}
}

// Join adds a waiter for a thread's lease.
func (l *Lines) Join(thread string) *Waiter {
	w := &Waiter{l, thread, make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines == nil {
		l.lines = make(map[string][]*Waiter)
	}
	l.lines[thread] = append(l.lines[thread], w)
	return w
}

// Woken has a value once a lease has been given back that the waiter may be next for.
func (w *Waiter) Woken() <-chan struct{} { return w.woken }

// Leave takes the waiter out of the line. A waking that it has not heard goes to the next one.
func (w *Waiter) Leave() {
	l := w.lines
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := slices.DeleteFunc(l.lines[w.thread], func(o *Waiter) bool { return o == w })
	if l.lines[w.thread] = rest; len(rest) == 0 {
		delete(l.lines, w.thread)
	}
	select {
	case <-w.woken:
		l.wake(w.thread)
	default:
	}
}

// Wake wakes the first in the thread's line.
func (l *Lines) Wake(thread string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake(thread)
}

func (l *Lines) wake(thread string) {
	if line := l.lines[thread]; len(line) > 0 {
		select {
		case line[0].woken <- struct{}{}:
		default:
		}
	}
}
