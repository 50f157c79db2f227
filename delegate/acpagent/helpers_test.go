package acpagent

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// testKey is planted in the agents' environment; no output of the tests may hold it.
const testKey = "planted-&-key-91b7"

// testConfig describes an agent that is this test binary in the given role.
func testConfig(t testing.TB, role, mode string) Config {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Name: "proto", Command: exe, lateGrace: 20 * time.Millisecond, WorkDir: t.TempDir(), Env: map[string]string{
		roleVariable: role, modeVariable: mode, stateVariable: t.TempDir(), "TEST_API_KEY": testKey,
		"GORACE": "atexit_sleep_ms=0", // the race detector's own default is a second
	}}
}

// newAgent makes the agent and closes it with the test.
func newAgent(t testing.TB, c Config) *Agent {
	t.Helper()
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func newScripted(t testing.TB, modes ...string) *Agent {
	t.Helper()
	return newAgent(t, testConfig(t, "scripted", strings.Join(modes, ",")))
}

// ask asks in conversation "thread" and fails the test on an error.
func ask(t testing.TB, a *Agent, lines ...string) delegate.Reply {
	t.Helper()
	reply, err := a.Ask(t.Context(), delegate.Request{Prompt: strings.Join(lines, "\n"), Conversation: "thread"})
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// askFails asks in conversation "thread" and returns the error.
func askFails(t testing.TB, a *Agent, req delegate.Request) *delegate.Error {
	t.Helper()
	return mustFail(t, a, func() error {
		_, err := a.Ask(t.Context(), req)
		return err
	})
}

func mustFail(t testing.TB, a *Agent, f func() error) *delegate.Error {
	t.Helper()
	err := f()
	var e *delegate.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *delegate.Error", err)
	}
	if e.Delegate != a.Info().Name {
		t.Errorf("the error names %q", e.Delegate)
	}
	if strings.Contains(e.Error(), testKey) {
		t.Errorf("the error shows the planted key: %v", e)
	}
	return e
}

// reports collects progress.
type reports struct {
	list []langrooms.Progress
}

func (r *reports) add(p langrooms.Progress) { r.list = append(r.list, p) }

func (r *reports) of(kind langrooms.ProgressKind) []langrooms.Progress {
	var list []langrooms.Progress
	for _, p := range r.list {
		if p.Kind == kind {
			list = append(list, p)
		}
	}
	return list
}

// onText calls f when the first piece of the answer is reported.
func onText(f func()) func(langrooms.Progress) {
	return func(p langrooms.Progress) {
		if p.Kind == langrooms.ProgressText {
			f()
		}
	}
}

// eventually waits until f is true.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: not within 4 s", what)
		}
	}
}

// testTurn is a turn of the session of that id.
func testTurn(id string) *turn {
	return (&session{id: id, allowed: make(map[grant]bool)}).newTurn(context.Background(), delegate.Request{})
}
