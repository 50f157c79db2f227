package roomnode_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/nodes/roomnode"
)

// recordReader keeps what it is sent.
type recordReader struct{ prompts []string }

func (l *recordReader) Info() delegate.Info { return delegate.Info{Name: "proto", Type: "test"} }

func (l *recordReader) Ask(_ context.Context, req delegate.Request) (delegate.Reply, error) {
	l.prompts = append(l.prompts, req.Prompt)
	return delegate.Reply{Text: "yes"}, nil
}

func (l *recordReader) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (l *recordReader) Close() error                                   { return nil }

// A turn of the program's own agent stands in a member's next window.
func TestRecordedTurnIsSeen(t *testing.T) {
	l := &recordReader{}
	registry, err := delegate.NewRegistry(l)
	if err != nil {
		t.Fatal(err)
	}
	live := delegate.NewLive(registry)
	defer live.Close()
	saver := memorysaver.New()
	defer saver.Close()
	node, err := roomnode.New(roomnode.Config{Saver: saver, Room: exchange.RoomOf(live)})
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Record(t.Context(), "main", "what is it?", "A parser."); err != nil {
		t.Fatal(err)
	}
	if err := node.Record(t.Context(), "main", "anything else?", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Handle(t.Context(), roomnode.Turn{Thread: "main", Text: "@proto do you agree?"}); err != nil {
		t.Fatal(err)
	}
	const want = "[operator] what is it?\n[assistant] A parser.\n[operator] anything else?\n"
	if !strings.Contains(l.prompts[0], want) {
		t.Errorf("the member was shown %q, want in it %q", l.prompts[0], want)
	}
	for what, err := range map[string]error{
		"a thread without a name": node.Record(t.Context(), "", "q", "a"),
		"a text that is none":     node.Record(t.Context(), "main", "q", "a\xff"),
	} {
		if err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	if err := node.Record(t.Context(), "main", "q", "a\xff"); !errors.Is(err, langrooms.ErrText) {
		t.Errorf("an invalid text: %v", err)
	}
}
