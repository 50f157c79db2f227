package roomnode_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/nodes/roomnode"
)

func TestNewNamesTheBadField(t *testing.T) {
	tests := []struct {
		cfg   roomnode.Config
		field string
	}{
		{roomnode.Config{Room: exchange.RoomOf(delegate.NewLive(nil))}, "Config.Saver"},
		{roomnode.Config{Saver: memorysaver.New()}, "Config.Room"},
	}
	for _, tt := range tests {
		if _, err := roomnode.New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.field) {
			t.Errorf("want an error that names %s, got %v", tt.field, err)
		}
	}
}

// echo answers with the name and the prompt's last line.
func echo(name string) *listener {
	return &listener{name, func(req delegate.Request) string {
		return name + " heard " + req.Prompt[strings.LastIndexByte(req.Prompt, '\n')+1:]
	}}
}

// newNode returns a node with the default knobs and its store.
func newNode(t *testing.T, names ...string) (*roomnode.Node, checkpointer.Saver) {
	t.Helper()
	members := make([]delegate.Delegate, len(names))
	for i, name := range names {
		members[i] = echo(name)
	}
	roster, err := delegate.NewRegistry(members...)
	if err != nil {
		t.Fatal(err)
	}
	live := delegate.NewLive(roster)
	t.Cleanup(func() {
		if err := live.Close(); err != nil {
			t.Error(err)
		}
	})
	store := closed(t, memorysaver.New(), nil)
	node, err := roomnode.New(roomnode.Config{Saver: store, Room: exchange.RoomOf(live)})
	if err != nil {
		t.Fatal(err)
	}
	return node, store
}

// Bad input is a clear error of ours, and nothing is written.
func TestHandleRefuses(t *testing.T) {
	tests := []struct {
		rule, thread, text string
		want               error
	}{
		{"an empty thread id", "", "@a hi", langrooms.ErrThreadID},
		{"a thread id that is not UTF-8", "t\xff", "@a hi", langrooms.ErrThreadID},
		{"a thread id that is too long", strings.Repeat("t", 1025), "@a hi", langrooms.ErrThreadID},
		{"a text that is not UTF-8", "t", "@a hi\xff", langrooms.ErrText},
		{"a text of a million characters", "t", "@a " + strings.Repeat("ä", 1_000_000), langrooms.ErrText},
	}
	node, store := newNode(t, "a")
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			result, err := node.Handle(t.Context(), roomnode.Turn{Thread: tt.thread, Text: tt.text})
			if !errors.Is(err, tt.want) || result.Handled || len(err.Error()) > 2000 {
				t.Errorf("got %+v, error %v", result, err)
			}
		})
	}
	if _, err := store.Get(t.Context(), checkpointer.Ref{Thread: "t"}); !errors.Is(err, checkpointer.ErrNotFound) {
		t.Errorf("something was written: %v", err)
	}
}

// The longest message and the oddest thread id that are allowed work.
func TestHandleTakesTheLongest(t *testing.T) {
	node, _ := newNode(t, "a")
	text := "@a " + strings.Repeat("ä", langrooms.MaxText-3)
	result, err := node.Handle(t.Context(), roomnode.Turn{Thread: "line one\n{*}\x00", Text: text})
	if err != nil || !strings.HasPrefix(result.Text, "a heard ää") {
		t.Errorf("error %v, %d characters", err, len(result.Text))
	}
}

// A Node is safe for concurrent use: runs on one thread do not interleave, those on different
// threads are independent.
func TestHandleConcurrently(t *testing.T) {
	node, store := newNode(t, "a", "b")
	var turns sync.WaitGroup
	for i := range 40 {
		turns.Go(func() {
			name := fmt.Sprintf("thread %d", i%4)
			result, err := node.Handle(t.Context(), roomnode.Turn{Thread: name, Text: fmt.Sprintf("@a @b turn %d", i)})
			if err != nil || result.Reason != langrooms.ReasonCapped {
				t.Errorf("turn %d ended as %s, error %v", i, result.Reason, err)
			}
		})
	}
	turns.Wait()
	for i := range 4 {
		exchange, n := "", 0
		for m, err := range store.Messages(t.Context(), checkpointer.Ref{Thread: fmt.Sprintf("thread %d", i)}, checkpointer.Range{}) {
			if err != nil {
				t.Fatal(err)
			}
			if n%7 == 0 { // an address and three rounds of two
				exchange = m.Stamp.Exchange
			}
			if n++; m.Stamp.Exchange != exchange {
				t.Fatalf("thread %d: two runs interleave at message %d", i, n)
			}
		}
		if n != 70 {
			t.Errorf("thread %d has %d messages, want 70", i, n)
		}
	}
}
