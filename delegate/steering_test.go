package delegate_test

import (
	"context"
	"slices"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

func TestSteering(t *testing.T) {
	var s delegate.Steering
	ctx := delegate.WithSteering(t.Context(), &s)
	why := langrooms.Stop{Kind: langrooms.ErrorStopped, By: "ann"}
	a, aDone := delegate.Steered(ctx, "a")
	b, bDone := delegate.Steered(ctx, "b")
	defer bDone()
	if got := s.Asked(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("asked: %v", got)
	}
	if got := s.Stop("c", why); got != nil || a.Err() != nil || b.Err() != nil {
		t.Errorf("a stop of c stopped %v", got)
	}
	if got := s.Stop("a", why); !slices.Equal(got, []string{"a"}) || context.Cause(a) != why || b.Err() != nil {
		t.Errorf("a stop of a stopped %v: %v, %v", got, context.Cause(a), b.Err())
	}
	aDone()
	if got := s.Stop("", why); !slices.Equal(got, []string{"b"}) || context.Cause(b) != why {
		t.Errorf("a stop of all stopped %v", got)
	}
	if ctx.Err() != nil {
		t.Error("the turn was stopped too")
	}
	plain, done := delegate.Steered(t.Context(), "a")
	if done(); plain.Err() != nil {
		t.Error("without a steering the context has ended")
	}
}
