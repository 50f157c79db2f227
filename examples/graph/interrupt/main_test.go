package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

// With this variable set, the test's program is the example itself.
const childEnv = "INTERRUPT_EXAMPLE"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program runs the example as a process of its own.
func program(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	var out, diagnostics strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), diagnostics.String(), cmd.ProcessState.ExitCode()
}

// The process that asked has ended when another one approves: the engine's run and the
// thread both come out of Redis.
func TestResumesInAnotherProcess(t *testing.T) {
	server := redistest.Start(t)
	url := "redis://" + server.Addr
	steps := []struct {
		rule   string
		args   []string
		out    string // what stdout is
		errout string // part of stderr
		status int
	}{
		{"nothing waits on a new thread", []string{"-approve"}, "", errNothing.Error(), 1},
		{"the graph stops before it acts", []string{"-m", "ship build 42"}, "\"ship build 42\" waits for approval on the thread \"release\"\n", "", 0},
		{"one plan at a time", []string{"-m", "ship build 43"}, "", `already waits for approval: "ship build 42"`, 1},
		{"another process goes on", []string{"-approve"}, "done: run the tests, then ship build 42\n", "", 0},
		{"an approval counts once", []string{"-approve"}, "", errNothing.Error(), 1},
		{"an ended run is not resumed by the next", []string{"-m", "ship build 43"}, "\"ship build 43\" waits for approval on the thread \"release\"\n", "", 0},
		{"the next run has its own plan", []string{"-approve"}, "done: run the tests, then ship build 43\n", "", 0},
		{"either a message or an approval", []string{"-approve", "-m", "both"}, "", "either", 2},
		{"neither", nil, "", "either", 2},
	}
	for _, s := range steps {
		out, diagnostics, status := program(t, append([]string{"-redis", url, "-t", "release"}, s.args...)...)
		if out != s.out || !strings.Contains(diagnostics, s.errout) || status != s.status {
			t.Fatalf("%s: status %d, stdout %q, stderr %q", s.rule, status, out, diagnostics)
		}
	}

	want := "ship build 42|done: run the tests, then ship build 42|ship build 43|done: run the tests, then ship build 43"
	if got := texts(t, url, "release"); got != want {
		t.Errorf("the thread says %q, want %q", got, want)
	}
}

// Approvals that come at the same time wait for the thread: one acts, the others find
// nothing to approve.
func TestApprovalsAtOnce(t *testing.T) {
	url := "redis://" + redistest.Start(t).Addr
	if _, err := run(t.Context(), url, "t", "ship"); err != nil {
		t.Fatal(err)
	}
	errs := make([]error, 4)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { _, errs[i] = run(t.Context(), url, "t", "") })
	}
	group.Wait()
	acted := 0
	for _, err := range errs {
		switch {
		case err == nil:
			acted++
		case !errors.Is(err, errNothing):
			t.Error(err)
		}
	}
	if got := texts(t, url, "t"); acted != 1 || got != "ship|done: run the tests, then ship" {
		t.Errorf("%d of %d acted, the thread says %q", acted, len(errs), got)
	}
}

// A store that is away is an error that says so, and nothing waits.
func TestStoreAway(t *testing.T) {
	server := redistest.Start(t)
	server.Kill()
	if _, err := run(t.Context(), "redis://"+server.Addr, "t", "ship"); !errors.Is(err, checkpointer.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, checkpointer.ErrUnavailable)
	}
}

func texts(t *testing.T, url, thread string) string {
	t.Helper()
	saver, err := redissaver.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	defer saver.Close()
	var all []string
	for m, err := range saver.Messages(t.Context(), checkpointer.Ref{Thread: thread}, checkpointer.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m.Text())
	}
	return strings.Join(all, "|")
}
