package consent_test

import (
	"context"
	"fmt"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/consent"
	"github.com/langrooms/langrooms/delegate"
)

func Example() {
	var desk consent.Desk
	// Whoever sees the question may answer it; here it is the sink itself, in another goroutine.
	ctx, end := desk.InTurn(context.Background(), "thread-1", func(e langrooms.Event) {
		switch q := e.Question; e.Type {
		case langrooms.EventQuestion:
			fmt.Println(e.Member, "asks:", q.Title, q.Choices)
			go desk.Answer("thread-1", q.ID, consent.ChoiceOnce, "operator")
		case langrooms.EventAnswered:
			fmt.Println(q.By, "says:", q.Answer)
		}
	})
	defer end()
	fmt.Println(desk.Permission(ctx, delegate.PermissionRequest{Delegate: "proto", Title: "go test ./...", Kind: "execute"}))
	// Output:
	// proto asks: go test ./... [once conversation no]
	// operator says: once
	// once
}
