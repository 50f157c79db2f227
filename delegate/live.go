package delegate

import (
	"errors"
	"fmt"
	"sync"
)

// Live is the roster in use. It is swapped whole: a turn acquires one snapshot and keeps
// it to its end, and a delegate that has left the roster is closed after the last turn
// that could use it.
//
// Live owns every delegate that was ever in it. Delegates are told apart by identity, so
// their types must be comparable, as pointers are; a delegate that has left must not be
// put back once no turn uses it, because it is closed by then.
type Live struct {
	mu       sync.Mutex
	current  *Registry
	uses     map[Delegate]int // turns under way, by the delegates in their snapshot
	closed   bool
	closings sync.WaitGroup
	failures []error // of closings since Close began
}

// NewLive returns a roster in use that starts as first. Nil is an empty roster.
func NewLive(first *Registry) *Live {
	if first == nil {
		first = &Registry{}
	}
	return &Live{current: first, uses: make(map[Delegate]int)}
}

// Acquire returns the present roster for one turn. The turn calls release when it is
// over; calling it again does nothing. After Close the roster is empty.
func (l *Live) Acquire() (roster *Registry, release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	roster = l.current
	for _, d := range roster.order {
		l.uses[d]++
	}
	return roster, sync.OnceFunc(func() { l.release(roster) })
}

// Current returns the present roster to look at: names, descriptions. Its delegates may
// be closed at any time; to ask one, [Live.Acquire] it.
func (l *Live) Current() *Registry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current
}

// Swap makes next the roster of every later Acquire. Delegates that next no longer holds
// are closed in the background, each after the last turn that uses it has released. Nil
// is an empty roster. After Close, Swap closes what next holds before it returns.
func (l *Live) Swap(next *Registry) {
	if next == nil {
		next = &Registry{}
	}
	l.mu.Lock()
	closed := l.closed
	if !closed {
		last := l.current
		l.current = next
		l.retire(last)
	}
	l.mu.Unlock()
	if closed {
		for _, d := range next.order {
			l.end(d)
		}
	}
}

// Close empties the roster, closes every delegate that is still open, also those that a
// turn is using (its Asks end with an error), and waits for all of them. It returns what
// failed in that, each delegate named. Idempotent and safe from many goroutines; a
// repeated call waits too.
func (l *Live) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		for d := range l.uses {
			l.close(d)
		}
		for _, d := range l.current.order {
			if _, used := l.uses[d]; !used {
				l.close(d)
			}
		}
		clear(l.uses)
		l.current = &Registry{}
	}
	l.mu.Unlock()
	l.closings.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.failures...)
}

// release ends one turn's use of roster.
func (l *Live) release(roster *Registry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	for _, d := range roster.order {
		l.uses[d]--
	}
	l.retire(roster)
}

// retire closes what only roster held. l.mu is held.
func (l *Live) retire(roster *Registry) {
	for _, d := range roster.order {
		if l.uses[d] > 0 {
			continue
		}
		delete(l.uses, d)
		if !l.current.holds(d) {
			l.close(d)
		}
	}
}

// close ends d in the background. l.mu is held.
func (l *Live) close(d Delegate) {
	l.closings.Go(func() { l.end(d) })
}

// end closes d. l.mu is free.
func (l *Live) end(d Delegate) {
	info := d.Info()
	err := d.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && l.closed {
		l.failures = append(l.failures, fmt.Errorf("closing delegate %q: %w", info.Name, err))
	}
}

// holds reports whether d itself, not another one of its name, is in r.
func (r *Registry) holds(d Delegate) bool {
	if r == nil {
		return false
	}
	for _, own := range r.order {
		if own == d {
			return true
		}
	}
	return false
}
