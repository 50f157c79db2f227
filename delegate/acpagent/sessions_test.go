package acpagent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// restart closes a and returns an agent of the same launch, as after a restart of this
// program.
func restart(t testing.TB, a *Agent, c Config) *Agent {
	t.Helper()
	a.Close()
	return newAgent(t, c)
}

func sharedConfig(t testing.TB, modes string) Config {
	c := testConfig(t, "scripted", modes)
	c.Sessions = delegate.NewMemoryContinuity()
	return c
}

// The replay is 3,000 notifications long: more than the SDK queues.
func TestSessionIsLoadedAfterARestart(t *testing.T) {
	c := sharedConfig(t, "")
	a := newAgent(t, c)
	ask(t, a, "say one")
	a = restart(t, a, c)
	var got reports
	reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "count", Conversation: "thread", Progress: got.add})
	if err != nil || reply.Text != "2" {
		t.Errorf("after a restart: %q, %v; want message 2 and nothing of the replay", reply.Text, err)
	}
	if len(got.list) != 1 {
		t.Errorf("the replay was reported: %d reports", len(got.list))
	}
}

func TestSessionIsLoadedAfterTheProcessWasKilled(t *testing.T) {
	a := newScripted(t)
	ask(t, a, "say one")
	askFails(t, a, delegate.Request{Prompt: "kill", Conversation: "thread"})
	if reply := ask(t, a, "count"); reply.Text != "3" {
		t.Errorf("message %q, want 3", reply.Text)
	}
}

func TestSessionThatCannotBeLoadedIsOpenedAnew(t *testing.T) {
	for _, mode := range []string{"no-load", "load-fails"} {
		c := sharedConfig(t, mode)
		a := newAgent(t, c)
		ask(t, a, "say one")
		ask(t, a, "say two") // the live session needs no load
		a = restart(t, a, c)
		if reply := ask(t, a, "count"); reply.Text != "1" {
			t.Errorf("%s: message %q, want 1", mode, reply.Text)
		}
	}
}

// An agent that dies of a session must not be lost to the thread for ever: the next address
// opens a new session.
func TestSessionThatKillsTheAgentIsGivenUp(t *testing.T) {
	c := sharedConfig(t, "load-dies")
	a := newAgent(t, c)
	ask(t, a, "say one")
	a = restart(t, a, c)
	e := askFails(t, a, delegate.Request{Prompt: "count", Conversation: "thread"})
	if e.Kind != delegate.KindUnreachable || !strings.Contains(e.Cause(), "session/load") {
		t.Errorf("the first address: %v", e)
	}
	if reply := ask(t, a, "count"); reply.Text != "1" {
		t.Errorf("message %q, want 1 of a new session", reply.Text)
	}
}

// What was dropped (rewind, delete) does not come back, although the process lives.
func TestDroppedSessionIsForgotten(t *testing.T) {
	c := sharedConfig(t, "")
	a := newAgent(t, c)
	ask(t, a, "say one")
	if err := c.Sessions.DropThread(t.Context(), "thread"); err != nil {
		t.Fatal(err)
	}
	if reply := ask(t, a, "count"); reply.Text != "1" {
		t.Errorf("message %q of its session, want 1", reply.Text)
	}
}

// Agents count from one in each process: equal ids of two conversations mean nothing.
func TestEqualSessionIDsOfTwoConversations(t *testing.T) {
	c := testConfig(t, "scripted", "fixed-id")
	c.Sessions = delegate.NewEchoGuard(delegate.NewMemoryContinuity(), func(key delegate.ContextKey) {
		t.Errorf("a shared id was noticed: %+v", key)
	})
	a := newAgent(t, c)
	first := make(map[string]string)
	for range 3 {
		for _, key := range []string{"thread-1", "thread-2"} {
			reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "pid", Conversation: key})
			if err != nil {
				t.Fatal(err)
			}
			if first[key] == "" {
				first[key] = reply.Text
			}
			if reply.Text != first[key] {
				t.Errorf("%s: process %s, then %s", key, first[key], reply.Text)
			}
		}
	}
}

func TestRenamedOrChangedDelegateStartsAnew(t *testing.T) {
	c := sharedConfig(t, "")
	ask(t, newAgent(t, c), "say one")
	renamed, changed := c, c
	renamed.Name = "other"
	changed.Args = []string{"--verbose"}
	for _, c := range []Config{renamed, changed} {
		if reply := ask(t, newAgent(t, c), "count"); reply.Text != "1" {
			t.Errorf("message %q, want 1", reply.Text)
		}
	}
}

// An agent that stops when it is told to keeps its process too.
func TestStoppedTurnKeepsTheSessionOnlyWhenTheAgentAnswered(t *testing.T) {
	for last, want := range map[string]string{"hold": "3", "hold-forever": "1"} {
		a := newScripted(t, "ignore-eof")
		before := ask(t, a, "pid").Text
		ctx, cancel := context.WithCancel(t.Context())
		_, err := a.Ask(ctx, delegate.Request{Prompt: "say x\n" + last, Conversation: "thread", Progress: onText(cancel)})
		if e := delegate.AsError("", err); e.Kind != delegate.KindCanceled || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", last, err)
		}
		pid, n, _ := strings.Cut(ask(t, a, "pid", "count").Text, " ")
		if n != want || (pid+" " == before) != (last == "hold") {
			t.Errorf("after %s: message %q of its session in process %s (%s before), want %s", last, n, pid, before, want)
		}
	}
}

// brokenStore fails at everything.
type brokenStore struct{ delegate.Continuity }

func (brokenStore) Get(context.Context, delegate.ContextKey) (string, error) {
	return "", errors.New("disk full")
}

func (brokenStore) Learn(context.Context, delegate.ContextKey, string) error {
	return errors.New("disk full")
}

func TestBrokenStoreIsReportedAndNoMore(t *testing.T) {
	c := testConfig(t, "scripted", "")
	c.Sessions = brokenStore{}
	a := newAgent(t, c)
	for _, want := range []string{"1", "2"} {
		var got reports
		reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "count", Conversation: "thread", Progress: got.add})
		if err != nil || reply.Text != want {
			t.Errorf("reply %q, %v; want %s", reply.Text, err, want)
		}
		status := got.of(langrooms.ProgressStatus)
		if len(status) == 0 || !strings.Contains(status[0].Text, "disk full") {
			t.Errorf("the report is %v", status)
		}
	}
}

// Erased history stays erased, also where the live session's id could not be stored.
func TestLiveSessionIsOfOneEpoch(t *testing.T) {
	for name, store := range map[string]delegate.Continuity{"a store": delegate.NewMemoryContinuity(), "a broken store": brokenStore{}} {
		c := testConfig(t, "scripted", "")
		c.Sessions = store
		a := newAgent(t, c)
		for _, step := range []struct{ epoch, want string }{{"1", "1"}, {"1", "2"}, {"2", "1"}} {
			reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "count", Conversation: "thread", Epoch: step.epoch})
			if err != nil || reply.Text != step.want {
				t.Errorf("%s: in epoch %s message %q of its session (%v), want %s", name, step.epoch, reply.Text, err, step.want)
			}
		}
	}
}
