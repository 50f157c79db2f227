package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
)

// The content of an incognito address and of its answers stands in the stamped messages and
// goes to the turn's own sink, and nowhere else: not into channels or metadata of a
// checkpoint, a late answer's handle, an error, or a later turn's notes (spec 2.9).
func TestIncognitoStaysIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &hanging{Saver: memory(t), fault: fmt.Errorf("%w: connection refused", checkpointer.ErrUnavailable)}
		const question, answer = "the secret question", "the secret answer"
		var handles []delegate.Handle
		var shown strings.Builder
		a := says("a", answer)
		b := &voice{"b", func(context.Context, delegate.Request) (delegate.Reply, error) {
			return delegate.Reply{}, &delegate.Error{Delegate: "b", Kind: delegate.KindStillRunning, Task: "task-1", Err: errors.New("still running")}
		}}
		c := &voice{"c", func(context.Context, delegate.Request) (delegate.Reply, error) {
			s.away = true
			return delegate.Reply{Text: answer}, nil
		}}
		r := roomOf(t, 1, a, b, c)
		r.Events = func(e langrooms.Event) {
			if e.Outcome != nil {
				shown.WriteString(e.Outcome.Reply)
			}
		}
		r.Collect = func(_ context.Context, h delegate.Handle) delegate.Waiting {
			handles = append(handles, h)
			return delegate.Waited
		}
		secret := address(question, "a", "b", "c")
		secret.Incognito = true
		result, err := take(t.Context(), s, "t", r, secret)
		if strings.Count(shown.String(), answer) != 2 || strings.Count(result.Text, answer) != 2 {
			t.Errorf("the turn's own sink and text do not have the answers:\n%s", result.Text)
		}
		s.away = false
		next, nextErr := take(t.Context(), s, "t", roomOf(t, 1, says("a", "ok")), address("and now?", "a"))
		elsewhere := fmt.Sprintf("%v\n%v\n%+v\n%+v\n%s\n%s", err, nextErr, result.Notes, handles, next.Text, checkpoints(t, s))
		if strings.Contains(elsewhere, "secret") {
			t.Errorf("the content is elsewhere, too:\n%s", elsewhere)
		}
		if len(handles) != 1 || !handles[0].Stamp.Incognito {
			t.Errorf("the late answer's handles: %+v", handles)
		}
		for _, m := range messages(t, s.Saver, "t") {
			if m.Stamp.Incognito != (m.Stamp.Exchange == result.Exchange) {
				t.Errorf("stamped incognito %t: %s", m.Stamp.Incognito, m.Text())
			}
		}
	})
}

// checkpoints renders all that the store keeps beside the messages.
func checkpoints(t *testing.T, s checkpointer.Saver) string {
	t.Helper()
	var b strings.Builder
	for cp, err := range s.List(t.Context(), checkpointer.Query{Thread: "t"}) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, cp.Metadata)
		for name, value := range cp.Channels {
			fmt.Fprintf(&b, "%s=%s\n", name, value)
		}
	}
	return b.String()
}
