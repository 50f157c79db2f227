package exchange_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/delegatetool"
	"github.com/langrooms/langrooms/exchange"
)

// What a peer says of an incognito message, also when it fails, does not reach the lead
// through list_delegates, whose results are stored and exported.
func TestIncognitoFailureIsNotListed(t *testing.T) {
	a := &voice{"a", func(context.Context, delegate.Request) (delegate.Reply, error) {
		return delegate.Reply{}, &delegate.Error{Delegate: "a", Kind: delegate.KindFailed, Err: errors.New("not about the secret question")}
	}}
	r := roomOf(t, 1, a)
	r.Health = &delegate.HealthView{}
	asked := address("the secret question", "a")
	asked.Incognito = true
	if _, err := take(t.Context(), memory(t), "t", r, asked); err != nil {
		t.Fatal(err)
	}
	live := delegate.NewLive(r.Roster)
	defer live.Close()
	list, err := delegatetool.NewList(func() (exchange.Room, func()) {
		in, release := exchange.RoomOf(live)()
		in.Health = r.Health
		return in, release
	})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := list.Call(t.Context(), "{}"); strings.Contains(text, "secret") || !strings.Contains(text, "failed last: failed") {
		t.Errorf("list_delegates says:\n%s", text)
	}
}
