package exchange_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
)

// One message from the keyboard to the thread, in the steps of docs/walkthrough.md. The store
// and the delegate say what they see.
func Example() {
	ctx := context.Background()
	store := &watched{Saver: memorysaver.New(), before: func(op string) error {
		fmt.Println("store:", op)
		return nil
	}}
	defer store.Saver.Close()
	proto := &voice{"proto", func(_ context.Context, req delegate.Request) (delegate.Reply, error) {
		fmt.Printf("proto is asked: %s\n", req.Prompt)
		return delegate.Reply{Text: "auth did"}, nil
	}}
	roster, err := delegate.NewRegistry(proto)
	if err != nil {
		fmt.Println(err)
		return
	}

	// 2. The thread is held, and its head read.
	turn, err := exchange.Begin(ctx, store, "main")
	if err != nil {
		fmt.Println(err)
		return
	}
	// 3 to 5. The address is stored, proto's window read, proto asked, its reply stored.
	result, err := turn.Address(ctx, exchange.Room{
		Roster:    roster,
		MaxRounds: 3,
		Events:    func(e langrooms.Event) { fmt.Println("event:", e.Type) },
	}, exchange.Address{From: room.Operator, To: []string{"proto"}, Message: "what broke the build?"})
	if err != nil {
		fmt.Println(err)
		return
	}
	// 5. The thread is given back, and the operator gets the answer.
	if err := turn.End(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("answer:", strings.TrimSpace(result.Text))

	// Output:
	// store: lock
	// store: get
	// store: put
	// store: messages
	// event: dispatch_started
	// proto is asked: what broke the build?
	// store: put
	// event: dispatch_ended
	// store: release
	// answer: auth did
}
