package setup_test

import (
	"errors"
	"testing"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/nodes/roomnode"
)

// The health view has what a turn's asks showed, and forgets a delegate that has left.
func TestHealth(t *testing.T) {
	a, f := openFile(t, base+"delegates:\n  - { name: a, type: openai, url: \"http://127.0.0.1:1/v1\", model: m }\n")
	d := a.delegate("a")
	node, err := roomnode.New(roomnode.Config{Saver: a.Saver, Room: a.Room})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := node.Handle(t.Context(), roomnode.Turn{Thread: "t", Text: "@a hello"}); err != nil {
		t.Fatal(err)
	}
	c := a.Health.Condition(d)
	expect(t, "kind", delegate.KindUnreachable, c.Kind)
	expect(t, "failures", 1, c.Failures)
	f.write(base)
	eventually(t, func() error {
		if a.Health.Condition(d).Known {
			return errors.New("a delegate that left is still in the health view")
		}
		return nil
	})
}
