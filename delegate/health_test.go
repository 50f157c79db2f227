package delegate

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestHealthView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b HealthView
		d := &fake{name: "proto"}
		down := &Error{Delegate: "proto", Kind: KindUnreachable, Err: errors.New("connection refused")}
		if b.Condition(d).Known {
			t.Error("known before anything was noted")
		}
		start := time.Now()
		for i, pause := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second} {
			b.Note(d, down)
			c := b.Condition(d)
			if !c.Known || c.OK || c.Failures != i+1 || !c.NextProbe.Equal(start.Add(pause)) {
				t.Errorf("after failure %d: %+v", i+1, c)
			}
		}
		before := b.Condition(d)
		b.Note(d, &Error{Kind: KindCanceled, Err: errors.New("stopped by the operator")})
		if b.Condition(d) != before {
			t.Error("a stop counted as something")
		}
		b.Note(d, nil)
		if c := b.Condition(d); !c.OK || c.Failures != 0 || c.Kind != "" || !c.LastFailure.Equal(start) || !c.NextProbe.Equal(start.Add(time.Minute)) {
			t.Errorf("after a success: %+v", c)
		}
		b.Note(d, errors.New("no delegate error"))
		if c := b.Condition(d); c.Kind != KindFailed || !c.LastOK.Equal(start) {
			t.Errorf("after another error: %+v", c)
		}
		b.Retain(roster(t, d))
		if !b.Condition(d).Known {
			t.Error("Retain forgot a delegate of the roster")
		}
		b.Retain(nil)
		if b.Condition(d).Known {
			t.Error("Retain kept a delegate that has left")
		}
	})
}

func TestBackOffIsBounded(t *testing.T) {
	for n, want := range map[int]time.Duration{1: 5 * time.Second, 7: 5 * time.Minute, 1_000_000: 5 * time.Minute} {
		if got := backOff(n); got != want {
			t.Errorf("backOff(%d) = %v, want %v", n, got, want)
		}
	}
}
