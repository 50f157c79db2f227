package delegate

import (
	"sync"
	"time"
)

// Condition is what the last asks and probes of a delegate showed.
type Condition struct {
	// Known is false until something has been noted.
	Known bool
	// OK says that the last outcome was a success. Otherwise Kind is the last failure's. Its
	// words are not kept: they may be a peer's, about an incognito message.
	OK   bool
	Kind Kind
	// LastOK and LastFailure are zero when there was none.
	LastOK      time.Time
	LastFailure time.Time
	// Failures counts the failures in a row.
	Failures int
	// NextProbe is when another probe is worth its while: a minute after a success, and
	// after the nth failure in a row 5 s doubled n-1 times, at most 5 minutes.
	NextProbe time.Time
}

// The rhythm of probes.
const (
	probeAfterOK     = time.Minute
	probeAfterFailed = 5 * time.Second
	probeLongest     = 5 * time.Minute
)

// HealthView is what is known of the health of a roster. It never keeps anyone from asking a delegate: its
// back-off is for those who probe without being told to. The zero value is ready, and safe
// for concurrent use.
type HealthView struct {
	mu         sync.Mutex
	conditions map[Delegate]Condition
}

// Note records how an ask or a probe of d ended; nil is a success. An error of kind
// [KindCanceled] is neither success nor failure: somebody stopped it.
func (v *HealthView) Note(d Delegate, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	c := v.conditions[d]
	if err == nil {
		c.Known, c.OK, c.Kind, c.Failures = true, true, "", 0
		c.LastOK, c.NextProbe = now, now.Add(probeAfterOK)
		v.set(d, c)
		return
	}
	e := AsError(d.Info().Name, err)
	if e.Kind == KindCanceled {
		return
	}
	c.Known, c.OK, c.Kind = true, false, e.Kind
	c.Failures++
	c.LastFailure, c.NextProbe = now, now.Add(backOff(c.Failures))
	v.set(d, c)
}

// Condition returns what is known of d.
func (v *HealthView) Condition(d Delegate) Condition {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.conditions[d]
}

// Retain forgets every delegate that roster does not hold.
func (v *HealthView) Retain(roster *Registry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for d := range v.conditions {
		if !roster.holds(d) {
			delete(v.conditions, d)
		}
	}
}

func (v *HealthView) set(d Delegate, c Condition) {
	if v.conditions == nil {
		v.conditions = make(map[Delegate]Condition)
	}
	v.conditions[d] = c
}

// backOff is the time to the next probe after n failures in a row.
func backOff(n int) time.Duration {
	pause := probeAfterFailed
	for range n - 1 {
		if pause >= probeLongest {
			break
		}
		pause *= 2
	}
	return min(pause, probeLongest)
}
