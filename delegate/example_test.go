package delegate_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/langrooms/langrooms/delegate"
)

// echo is the smallest delegate.
type echo struct{ name string }

func (e *echo) Info() delegate.Info { return delegate.Info{Name: e.name, Type: "echo"} }

func (e *echo) Ask(_ context.Context, req delegate.Request) (delegate.Reply, error) {
	if req.Conversation != "" {
		return delegate.Reply{}, &delegate.Error{Delegate: e.name, Kind: delegate.KindRefused, Err: errors.New("an echo remembers nothing")}
	}
	return delegate.Reply{Text: req.Prompt}, nil
}

func (e *echo) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }

func (e *echo) Close() error {
	fmt.Println(e.name, "is closed")
	return nil
}

// A failure has a kind to act on and a cause to show.
func ExampleError() {
	proto := &echo{"proto"}
	_, err := proto.Ask(context.Background(), delegate.Request{Prompt: "hi", Conversation: "main"})
	err = fmt.Errorf("round 1: %w", err)

	var failure *delegate.Error
	if errors.As(err, &failure) {
		fmt.Printf("%s %s: %s\n", failure.Delegate, failure.Kind, failure.Cause())
	}

	slow := &delegate.Error{Delegate: "reviewer", Kind: delegate.KindStillRunning,
		Err: errors.New("no answer within 30s"), Task: "task-7", Accepted: true}
	fmt.Println(slow)
	fmt.Println("its answer can be waited for:", slow.Working())
	// Output:
	// proto refused: an echo remembers nothing
	// Delegate @reviewer failed: no answer within 30s
	// its answer can be waited for: true
}

// A turn keeps the roster that it began with; what has left it is closed afterwards.
func ExampleLive() {
	first, err := delegate.NewRegistry(&echo{"proto"}, &echo{"reviewer"})
	if err != nil {
		fmt.Println(err)
		return
	}
	live := delegate.NewLive(first)

	roster, release := live.Acquire()
	live.Swap(nil) // the configuration changes in the middle of the turn
	proto, _ := roster.Get("proto")
	reply, err := proto.Ask(context.Background(), delegate.Request{Prompt: "still here?"})
	fmt.Println(reply.Text, err)
	_, err = proto.Ask(context.Background(), delegate.Request{Prompt: "hi", Conversation: "main"})
	fmt.Println(err)
	fmt.Println(len(live.Current().Names()), "delegates for the next turn")
	release()
	live.Close()
	// Unordered output:
	// still here? <nil>
	// Delegate @proto failed: an echo remembers nothing
	// 0 delegates for the next turn
	// proto is closed
	// reviewer is closed
}
