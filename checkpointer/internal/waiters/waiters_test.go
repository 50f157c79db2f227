package waiters

import "testing"

func woken(w *Waiter) bool {
	select {
	case <-w.Woken():
		return true
	default:
		return false
	}
}

// The first in the line of the thread is woken; one that leaves without having heard it passes
// it on; nothing is kept of a line that is over.
func TestLines(t *testing.T) {
	var l Lines
	l.Wake("t") // nobody waits
	a, b, other := l.Join("t"), l.Join("t"), l.Join("u")
	l.Wake("t")
	l.Wake("t")
	if !woken(a) || woken(a) || woken(b) || woken(other) {
		t.Error("not the first alone was woken, once")
	}
	l.Wake("t")
	a.Leave()
	if !woken(b) {
		t.Error("what the first has not heard did not reach the second")
	}
	b.Leave()
	other.Leave()
	if len(l.lines) != 0 {
		t.Errorf("%d lines are left", len(l.lines))
	}
}
