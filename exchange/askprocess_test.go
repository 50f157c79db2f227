package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/thread"
)

// runAsker asks one member, which says "done asked" and answers at the end of this process's
// input, and records the answer under a short hold.
func runAsker(store, id, member string) int {
	ctx := context.Background()
	s, err := openStore(ctx, store)
	if err == nil {
		err = errors.Join(askAndRecord(ctx, s, id, member), s.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func askAndRecord(ctx context.Context, s checkpointer.Saver, id, member string) error {
	roster, err := delegate.NewRegistry(&voice{member, func(context.Context, delegate.Request) (delegate.Reply, error) {
		fmt.Println("done asked")
		_, err := io.Copy(io.Discard, os.Stdin)
		return delegate.Reply{Text: "I am " + member}, err
	}})
	if err != nil {
		return err
	}
	view, err := thread.Read(ctx, s, id)
	if err != nil {
		return err
	}
	r := exchange.Room{Roster: roster}
	a, err := exchange.Ask(ctx, r, view, exchange.Question{Exchange: "x", Round: 1, Member: member, Message: "who are you?"})
	if err != nil {
		return err
	}
	h, err := exchange.Hold(ctx, s, id)
	if err != nil {
		return err
	}
	return errors.Join(exchange.Record(h, r, &a, thread.Step{}), h.End())
}

// Two processes ask a member each on one thread, and a third writes there while both are at
// work: all records land, in the order in which they came.
func TestAskInTwoProcesses(t *testing.T) {
	url := redisURL(t)
	s, err := openStore(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	post(t, s, room.NewAddress(langrooms.Operator, []string{"a", "b"}, "x", "who are you?", false))
	children := map[string]*child{}
	for _, member := range []string{"a", "b"} {
		children[member] = startChild(t, url, "t", 0, "EXCHANGE_CHILD_MEMBER="+member)
	}
	for _, c := range children {
		c.next(t) // it is being asked
	}
	post(t, s, langrooms.NewMessage(langrooms.RoleHuman, "meanwhile"))
	for _, member := range []string{"b", "a"} {
		if err := children[member].wait(); err != nil {
			t.Errorf("%v: %s", err, children[member].stderr.String())
		}
	}
	var got []string
	for _, m := range messages(t, s, "t") {
		got = append(got, m.Text())
	}
	if want := []string{"who are you?", "meanwhile", "I am b", "I am a"}; !slices.Equal(got, want) {
		t.Errorf("the thread is %q, want %q", got, want)
	}
}
