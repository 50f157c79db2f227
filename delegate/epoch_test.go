package delegate_test

import (
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

// What was learnt in one epoch of a thread is not found in the next (spec: rooms, 7.3, 11).
func TestEpochsAreApart(t *testing.T) {
	c := delegate.NewEpochs(delegate.NewMemoryContinuity())
	key := delegate.ContextKey{Thread: "t", Delegate: "proto"}
	one, two := delegate.WithEpoch(t.Context(), "1"), delegate.WithEpoch(t.Context(), "2")
	if err := c.Learn(one, key, "c1"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ epoch, want string }{{"1", "c1"}, {"2", ""}, {"", ""}} {
		got, err := c.Get(delegate.WithEpoch(t.Context(), tt.epoch), key)
		if err != nil || got != tt.want {
			t.Errorf("in epoch %q: %q, %v; want %q", tt.epoch, got, err, tt.want)
		}
	}
	if err := c.Drop(two, key); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.Get(one, key); got != "c1" {
		t.Errorf("a drop in another epoch took it: %q", got)
	}
	if err := c.DropThread(two, "t"); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.Get(one, key); got != "" {
		t.Errorf("after DropThread: %q", got)
	}
}
