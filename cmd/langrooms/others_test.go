package main

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/setup"
)

// hungReads is a store that answers no read before its context ends.
type hungReads struct{ *memorysaver.Saver }

func (hungReads) Messages(ctx context.Context, _ checkpointer.Ref, _ checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	return func(yield func(langrooms.Message, error) bool) {
		<-ctx.Done()
		yield(langrooms.Message{}, context.Cause(ctx))
	}
}

// A store that hangs keeps nobody from entering a thread or from ending a turn, though neither
// ends with the command that asked for it.
func TestAHungStoreHoldsNoChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &conversation{app: &setup.App{Saver: hungReads{memorysaver.New()}}, live: true}
		o := &others{c: c, thread: "t"}
		o.start(context.Background())
		o.own = true
		o.end(context.Background())
		if o.own {
			t.Error("the turn has not ended")
		}
	})
}
