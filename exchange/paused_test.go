package exchange_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// A member that waits for input cannot be answered by the room (spec 7.6): each further round
// would open another task that parks on the same question.
func TestPausedMemberIsAskedOnce(t *testing.T) {
	asked := 0
	a := &voice{"a", func(context.Context, delegate.Request) (delegate.Reply, error) {
		asked++
		return delegate.Reply{Text: fmt.Sprintf("⏸ delegate 'a' needs input\nQuestion: may I deploy?\nParked task: task-%d", asked), Paused: true, Task: "task-1"}, nil
	}}
	s := memory(t)
	r, err := take(t.Context(), s, "t", roomOf(t, 3, a, says("b", "one", "two", "three")), address("ship it", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	if record := messages(t, s, "t")[1].Stamp; record.Task != "task-1" || r.Outcomes[0].Task != "task-1" {
		t.Errorf("the parked task is %q in the record, %q in the outcome", record.Task, r.Outcomes[0].Task)
	}
	if asked != 1 {
		t.Errorf("the member that waits for input was asked %d times in one run; parked tasks: %d\n%s", asked, strings.Count(r.Text, "Parked task"), r.Text)
	}
}

// Why the work was ended is what the caller's context says.
func TestStopSaysWhy(t *testing.T) {
	for _, tt := range []struct {
		cause error
		want  string
	}{
		{nil, "stopped by the operator"}, {context.Canceled, "stopped by the operator"},
		{fmt.Errorf("http: %w", langrooms.ErrDisconnected), "stopped: the client went away"},
		{langrooms.ErrShutdown, "stopped: the program ended"}, {context.DeadlineExceeded, "stopped: the time for it was up"},
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		a := &voice{"a", func(ctx context.Context, _ delegate.Request) (delegate.Reply, error) {
			stop(tt.cause)
			return delegate.Reply{}, ctx.Err()
		}}
		s := memory(t)
		r, err := take(ctx, s, "t", roomOf(t, 1, a, says("b")), address("ship it", "a", "b"))
		if err != nil || r.Outcomes[0].Error != tt.want || messages(t, s, "t")[1].Text() != "("+tt.want+")" {
			t.Errorf("%v: %v, %q", tt.cause, err, r.Text)
		}
		if kind := messages(t, s, "t")[1].Stamp.ErrorKind; kind != r.Outcomes[0].ErrorKind || !kind.Ours() || r.Stopped == nil || r.Stopped.Kind != kind {
			t.Errorf("%v: the record's kind is %q, the outcome's %q, the run's %v", tt.cause, kind, r.Outcomes[0].ErrorKind, r.Stopped)
		}
		if len(r.Outcomes) != 2 || r.Outcomes[1].Error != "stopped before it was asked" {
			t.Errorf("%v: the rest has the outcomes %+v", tt.cause, r.Outcomes)
		}
	}
}
