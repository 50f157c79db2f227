package exchange_test

import (
	"context"
	"errors"
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

// Each ask is noted in the health view; a stop by the operator is neither success nor failure.
func TestHealth(t *testing.T) {
	down := &voice{"down", func(context.Context, delegate.Request) (delegate.Reply, error) {
		return delegate.Reply{}, &delegate.Error{Delegate: "down", Kind: delegate.KindUnreachable, Err: errors.New("connection refused")}
	}}
	ctx, stop := context.WithCancel(t.Context())
	stopped := &voice{"stopped", func(ctx context.Context, _ delegate.Request) (delegate.Reply, error) {
		stop()
		return delegate.Reply{}, errors.New("the connection was closed") // a stop that is not said to be one
	}}
	up := says("up", "yes")
	r := roomOf(t, 1, up, down, stopped)
	r.Health = &delegate.HealthView{}
	if _, err := take(ctx, memory(t), "t", r, address("hello", "up", "down", "stopped")); err != nil {
		t.Fatal(err)
	}
	if c := r.Health.Condition(up); !c.OK {
		t.Errorf("up: %+v", c)
	}
	if c := r.Health.Condition(down); !c.Known || c.OK || c.Kind != delegate.KindUnreachable || c.Failures != 1 {
		t.Errorf("down: %+v", c)
	}
	if c := r.Health.Condition(stopped); c.Known {
		t.Errorf("stopped: %+v", c)
	}
}
