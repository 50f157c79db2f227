package a2aagent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

// TestStates shows that the state decides what an answer is, never the presence of text
// (spec: rooms, 6): every state, inline and polled, with and without text, in both
// versions.
func TestStates(t *testing.T) {
	states := []struct {
		state  string
		kind   delegate.Kind // of the error; "" means an answer
		paused bool
	}{
		{state: "COMPLETED"},
		{state: "FAILED", kind: delegate.KindFailed},
		{state: "CANCELED", kind: delegate.KindCanceled},
		{state: "REJECTED", kind: delegate.KindRefused},
		{state: "INPUT_REQUIRED", paused: true},
		{state: "AUTH_REQUIRED", paused: true},
		{state: "SUBMITTED", kind: delegate.KindStillRunning},
		{state: "WORKING", kind: delegate.KindStillRunning},
		{state: "PONDERING", kind: delegate.KindStillRunning},
	}
	versions := []struct {
		name, card string
		task       func(state, status string, artifacts ...string) string
		methods    string // of an ask that looks at the task once
	}{
		{"1.0", cardV1, taskV1, "SendMessage GetTask"},
		{"0.3", cardV03, taskV03, "message/send tasks/get"},
	}
	for _, v := range versions {
		for _, s := range states {
			for _, text := range []string{"", "the peer's words"} {
				for _, polled := range []bool{false, true} {
					name := fmt.Sprintf("%s/%s/text=%v/polled=%v", v.name, s.state, text != "", polled)
					t.Run(name, func(t *testing.T) {
						settled := v.task(s.state, text)
						first := settled
						if polled {
							first = v.task("WORKING", "on it")
						}
						if v.name == "1.0" {
							first = inTask(first)
						}
						f := &fakePeer{card: v.card, replies: []reply{result(first), result(settled)}}
						a := f.serve(t, func(c *Config) { c.PollTimeout = patienceOfTests })
						got, err := a.Ask(t.Context(), delegate.Request{Prompt: "what broke?"})
						checkState(t, got, err, text, s.kind, s.paused)
						want := v.methods
						if text == "" { // one more look, for the history
							want += want[strings.LastIndex(want, " "):]
						}
						if s.kind != delegate.KindStillRunning && polled && f.methods() != want {
							t.Errorf("the peer was sent %q, want %q", f.methods(), want)
						}
					})
				}
			}
		}
	}
}

func checkState(t *testing.T, got delegate.Reply, err error, text string, kind delegate.Kind, paused bool) {
	t.Helper()
	if kindOf(err) != kind || got.Paused != paused {
		t.Fatalf("Ask = %+v, %v; want kind %q, paused %v", got, err, kind, paused)
	}
	switch {
	case err != nil:
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error %q is without the peer's words", err)
		}
		if e := delegate.AsError("", err); !e.Accepted || (e.Task != "") != (kind == delegate.KindStillRunning) {
			t.Errorf("accepted %v, task %q; want accepted, and a task only when it goes on", e.Accepted, e.Task)
		}
	case paused:
		for _, want := range []string{"needs input", text, "task-1", "/answer @proto and the answer", "the lead"} {
			if !strings.Contains(got.Text, want) {
				t.Errorf("the pause %q is without %q", got.Text, want)
			}
		}
		if !strings.HasPrefix(got.Text, "⏸") {
			t.Errorf("the pause %q does not start with ⏸", got.Text)
		}
	case got.Text != text || got.Task != "task-1":
		t.Errorf("Ask = %q of task %q, want %q of task-1", got.Text, got.Task, text)
	}
}
