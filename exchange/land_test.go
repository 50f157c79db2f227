package exchange_test

import (
	"context"
	"errors"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/thread"
)

// A message that arrives outside of a turn lands when the record that it belongs to still
// stands and its claim is granted, and not otherwise.
func TestLand(t *testing.T) {
	errClaim := errors.New("the claim cannot be read")
	grant := func(ok bool, err error) func(*thread.Hold) (bool, error) {
		return func(*thread.Hold) (bool, error) { return ok, err }
	}
	tests := []struct {
		rule   string
		change func(t *testing.T, s checkpointer.Saver)
		claim  func(*thread.Hold) (bool, error)
		landed bool
		err    error
	}{
		{"the record stands and the claim is granted", nil, grant(true, nil), true, nil},
		{"the claim is refused", nil, grant(false, nil), false, nil},
		{"the claim cannot be read", nil, grant(false, errClaim), false, errClaim},
		{"the thread was deleted", func(t *testing.T, s checkpointer.Saver) {
			if err := s.DeleteThread(t.Context(), "t"); err != nil {
				t.Fatal(err)
			}
		}, grant(true, nil), false, nil},
		{"the record was rewound and others stand in its place", func(t *testing.T, s checkpointer.Saver) {
			if err := s.DeleteThread(t.Context(), "t"); err != nil {
				t.Fatal(err)
			}
			if _, err := take(t.Context(), s, "t", roomOf(t, 1, says("a", "hello")), address("hi", "a")); err != nil {
				t.Fatal(err)
			}
		}, grant(true, nil), false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			s := memory(t)
			var handle delegate.Handle
			r := roomOf(t, 1, &voice{"slow", func(context.Context, delegate.Request) (delegate.Reply, error) {
				return delegate.Reply{}, &delegate.Error{Delegate: "slow", Kind: delegate.KindStillRunning, Task: "task-1", Err: errors.New("still running")}
			}})
			r.Collect = func(_ context.Context, h delegate.Handle) delegate.Waiting { handle = h; return delegate.Waited }
			if _, err := take(t.Context(), s, "t", r, address("work", "slow")); err != nil {
				t.Fatal(err)
			}
			if tt.change != nil {
				tt.change(t, s)
			}
			before := len(messages(t, s, "t"))
			late := room.NewReply(langrooms.Stamp{From: "slow", Exchange: handle.Stamp.Exchange, Round: handle.Stamp.Round,
				Late: true, Seen: handle.Stamp.Seen}, room.LateText("done"))
			landed, err := exchange.Land(t.Context(), s, "t", thread.Anchor{Exchange: handle.Stamp.Exchange, Seq: handle.Anchor}, late, tt.claim)
			if landed != tt.landed || !errors.Is(err, tt.err) {
				t.Errorf("landed %t, error %v", landed, err)
			}
			added := messages(t, s, "t")[before:]
			if landed != (len(added) == 1) {
				t.Errorf("added %q", lines(added))
			}
			if landed && added[0].Text() != "(This arrived after its turn.)\ndone" {
				t.Errorf("landed %q", added[0].Text())
			}
		})
	}
	if _, err := exchange.Land(t.Context(), memory(t), "", thread.Anchor{}, langrooms.Message{}, nil); !errors.Is(err, langrooms.ErrThreadID) {
		t.Errorf("a bad thread id: %v", err)
	}
}

// A history that was erased and has grown past the anchor again, compacted even, is another
// one: what belongs to the first does not land in it.
func TestLandKnowsTheEpoch(t *testing.T) {
	s := memory(t)
	hold, err := exchange.Hold(t.Context(), s, "t")
	if err != nil {
		t.Fatal(err)
	}
	put := func(m langrooms.Message) error { return hold.Put(thread.Step{Messages: []langrooms.Message{m}}) }
	gone := func() langrooms.Message {
		return room.NewReply(langrooms.Stamp{From: "slow", Exchange: "x", Failed: true}, "gone")
	}
	late := room.NewReply(langrooms.Stamp{From: "slow", Exchange: "x", Late: true}, "late")
	if err := put(langrooms.NewMessage(langrooms.RoleHuman, "hello")); err != nil {
		t.Fatal(err)
	}
	epoch := hold.Epoch()
	if err := errors.Join(put(gone()), hold.Rewind(1), put(gone()), hold.End()); err != nil {
		t.Fatal(err)
	}
	yes := func(*thread.Hold) (bool, error) { return true, nil }
	for _, tt := range []struct {
		epoch string
		want  bool
	}{{epoch, false}, {"", true}} {
		landed, err := exchange.Land(t.Context(), s, "t", thread.Anchor{Exchange: "x", Seq: 1, Epoch: tt.epoch}, late, yes)
		if err != nil || landed != tt.want {
			t.Errorf("epoch %q: landed %t, %v; want %t", tt.epoch, landed, err, tt.want)
		}
	}
}
