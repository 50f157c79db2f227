package exchange_test

import (
	"context"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
)

// stateless is a delegate without a conversation that wants to be shown its own words.
type stateless struct {
	*voice
	own bool
}

func (f stateless) Info() delegate.Info {
	return delegate.Info{Name: f.name, Type: "script", OwnReplies: f.own}
}

// A member whose entry has own_replies is shown what it said itself, as its own.
func TestOwnRepliesArePassedOn(t *testing.T) {
	for _, own := range []bool{true, false} {
		var prompts []string
		member := stateless{&voice{"proto", func(_ context.Context, r delegate.Request) (delegate.Reply, error) {
			prompts = append(prompts, r.Prompt)
			return delegate.Reply{Text: "it was auth"}, nil
		}}, own}
		roster, err := delegate.NewRegistry(member)
		if err != nil {
			t.Fatal(err)
		}
		s, r := memory(t), exchange.Room{Roster: roster, MaxRounds: 1}
		for _, message := range []string{"what broke?", "what did you just tell me?"} {
			if _, err := take(t.Context(), s, "t", r, address(message, "proto")); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(prompts[1], "[proto (you)] it was auth") != own || strings.Contains(prompts[0], "(you)") {
			t.Errorf("with own_replies %v the prompts are\n%s", own, strings.Join(prompts, "\n---\n"))
		}
	}
}

// What a member asks leave for reaches the room's person, by every road.
func TestPermissionIsPassedOn(t *testing.T) {
	member := &voice{"proto", func(ctx context.Context, r delegate.Request) (delegate.Reply, error) {
		return delegate.Reply{Text: "told " + string(r.Permission(ctx, delegate.PermissionRequest{Delegate: "proto", Title: "go test"}))}, nil
	}}
	r := roomOf(t, 1, member)
	r.Permission = func(_ context.Context, q delegate.PermissionRequest) delegate.PermissionAnswer {
		return delegate.PermissionAnswer("yes to " + q.Title)
	}
	result, err := take(t.Context(), memory(t), "t", r, address("repair it", "proto"))
	if err != nil || !strings.Contains(result.Text, "told yes to go test") {
		t.Errorf("%q, %v", result.Text, err)
	}
}
