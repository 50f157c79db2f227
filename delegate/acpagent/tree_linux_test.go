package acpagent

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// running reports whether pid is a process that has not ended. A zombie has: it only
// waits for its new parent to take note.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// numbers reads the process ids that the scripted agent has said.
func numbers(t testing.TB, text string) []int {
	t.Helper()
	var list []int
	for _, field := range strings.Fields(text) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatalf("%q in %q is no process id", field, text)
		}
		list = append(list, pid)
	}
	return list
}

// pids is numbers of processes that run.
func pids(t testing.TB, text string) []int {
	t.Helper()
	list := numbers(t, text)
	for _, pid := range list {
		if !running(pid) {
			t.Fatalf("%d of %q is no running process", pid, text)
		}
	}
	return list
}

func allGone(list []int) func() bool {
	return func() bool {
		for _, pid := range list {
			if running(pid) {
				return false
			}
		}
		return true
	}
}

// limited fails the test when f takes 4 s or more.
func limited(t testing.TB, what string, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took >= 4*time.Second {
		t.Errorf("%s took %v", what, took)
	}
}

// family is an agent with two descendants that resist SIGTERM, one of them in a session of
// its own.
const family = "pid\nspawn\nspawn setsid"

func TestCloseEndsTheWholeTree(t *testing.T) {
	for name, modes := range map[string][]string{"polite": nil, "resisting": {"ignore-eof", "ignore-term"}} {
		t.Run(name, func(t *testing.T) {
			a := newScripted(t, modes...)
			list := pids(t, ask(t, a, family).Text)
			limited(t, "Close", func() { a.Close() })
			eventually(t, "the tree's end", allGone(list))
		})
	}
}

func TestStopEndsTheWholeTree(t *testing.T) {
	for name, c := range map[string]struct {
		modes []string
		last  string
	}{
		"the agent goes on":      {nil, "hold-forever"},
		"the agent resists":      {[]string{"ignore-eof", "ignore-term"}, "hold-forever"},
		"the agent only listens": {[]string{"ignore-eof"}, "hold-forever"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newScripted(t, c.modes...)
			ctx, cancel := context.WithCancel(t.Context())
			var text strings.Builder
			var list []int
			var began time.Time
			var got reports
			e := mustFail(t, a, func() error {
				_, err := a.Ask(ctx, delegate.Request{Prompt: family + "\nsay .\n" + c.last, Conversation: "thread",
					Progress: func(p langrooms.Progress) {
						got.add(p)
						if p.Text != "." {
							text.WriteString(p.Text)
							return
						}
						list, began = pids(t, text.String()), time.Now()
						cancel()
					}})
				return err
			})
			if took := time.Since(began); took >= 4*time.Second {
				t.Errorf("Ask returned %v after the stop", took)
			}
			if e.Kind != delegate.KindCanceled || !e.Accepted || len(list) != 3 {
				t.Errorf("%+v, processes %v", e, list)
			}
			eventually(t, "the tree's end", allGone(list))
		})
	}
}

func TestKeylessProcessEndsWithItsRequest(t *testing.T) {
	a := newScripted(t)
	reply, err := a.Ask(t.Context(), delegate.Request{Prompt: family})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the tree's end", allGone(numbers(t, reply.Text)))
}

func TestIdleProcessEnds(t *testing.T) {
	c := testConfig(t, "scripted", "")
	c.IdleLimit = 10 * time.Millisecond
	a := newAgent(t, c)
	eventually(t, "the tree's end", allGone(numbers(t, ask(t, a, family).Text)))
	if reply := ask(t, a, "count"); reply.Text != "2" {
		t.Errorf("after the idle end the session is at message %q", reply.Text)
	}
	eventually(t, "the conversation is forgotten", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.conversations) == 0
	})
}

// A wrapper that ends while what it started holds its output open.
func TestAgentThatLeavesAGrandchildBehind(t *testing.T) {
	a := newScripted(t)
	var text strings.Builder
	limited(t, "Ask", func() {
		e := mustFail(t, a, func() error {
			_, err := a.Ask(t.Context(), delegate.Request{Prompt: family + "\nexit 7", Progress: func(p langrooms.Progress) {
				text.WriteString(p.Text)
			}})
			return err
		})
		if e.Kind != delegate.KindFailed || !strings.Contains(e.Cause(), "exit status 7") {
			t.Errorf("%v %v", e.Kind, e)
		}
	})
	eventually(t, "the tree's end", allGone(numbers(t, text.String())))
}

func TestHundredAsksLeaveNothing(t *testing.T) {
	a := newScripted(t)
	ask(t, a, "say warm")
	files := openFiles(t)
	for range 100 {
		ask(t, a, "say x")
	}
	for range 5 {
		if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "say x"}); err != nil {
			t.Fatal(err)
		}
	}
	if now := openFiles(t); now > files {
		t.Errorf("%d open files, %d before", now, files)
	}
	a.Close()
	if now := openFiles(t); now >= files {
		t.Errorf("%d open files after Close, %d before", now, files)
	}
}

func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Linux: the agent's own process does not outlive a program that is killed.
func TestAgentEndsWhenThisProgramIsKilled(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	owner := exec.Command(exe)
	owner.Env = append(os.Environ(), roleVariable+"=owner", stateVariable+"="+t.TempDir())
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	list := pids(t, strings.TrimSuffix(strings.TrimSpace(line), "<nil>"))
	if err := owner.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // says that it was killed
	eventually(t, "the agent's end", allGone(list))
}
