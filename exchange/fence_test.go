package exchange_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/durable"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
)

// learner is a delegate that remembers its conversation with the thread, although the
// thread was deleted while it answered.
type learner struct {
	saver *memorysaver.Saver
	err   error
}

func (l *learner) Info() delegate.Info {
	return delegate.Info{Name: "proto", Type: "fake", Conversational: true}
}

func (l *learner) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (l *learner) Close() error                                   { return nil }

func (l *learner) Ask(ctx context.Context, req delegate.Request) (delegate.Reply, error) {
	if err := l.saver.DeleteThread(context.Background(), req.Conversation); err != nil {
		return delegate.Reply{}, err
	}
	key := delegate.ContextKey{Thread: req.Conversation, Delegate: "proto"}
	l.err = durable.New(l.saver).Learn(context.WithoutCancel(ctx), key, "c1")
	return delegate.Reply{Text: "hello"}, nil
}

// What a delegate's adapter keeps with the thread is written under the turn's lease: a
// process that has lost the thread brings nothing of it back (spec: rooms, 11).
func TestDispatchCarriesTheLease(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	l := &learner{saver: saver}
	registry, err := delegate.NewRegistry(l)
	if err != nil {
		t.Fatal(err)
	}
	turn, err := exchange.Begin(t.Context(), saver, "t")
	if err != nil {
		t.Fatal(err)
	}
	defer turn.End()
	_, err = turn.Address(t.Context(), exchange.Room{Roster: registry},
		exchange.Address{From: room.Operator, To: []string{"proto"}, Message: "hello"})
	if !errors.Is(err, checkpointer.ErrFenced) {
		t.Errorf("the turn ends with %v", err)
	}
	if !errors.Is(l.err, checkpointer.ErrFenced) {
		t.Errorf("the conversation was kept: %v", l.err)
	}
	var threads []string
	for info, err := range saver.Threads(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		threads = append(threads, info.Thread)
	}
	if slices.Contains(threads, "t") {
		t.Error("the deleted thread is back")
	}
}
