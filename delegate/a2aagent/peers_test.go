package a2aagent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// peersFolder returns the folder of the agents from other hands, and skips the test where
// node or they are missing. In CI that is a failure.
func peersFolder(t *testing.T) string {
	t.Helper()
	folder := filepath.Join("..", "..", "internal", "peers", "a2a")
	_, errNode := exec.LookPath("node")
	_, errModules := os.Stat(filepath.Join(folder, "node_modules"))
	if err := errors.Join(errNode, errModules); err != nil {
		reason := fmt.Sprintf("the peers cannot run; install node, then npm ci in %s: %v", folder, err)
		if os.Getenv("CI") != "" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	return folder
}

// startNode runs a script of the peers' folder until the test ends, and returns the first
// line of its output that holds mark.
func startNode(t *testing.T, mark string, env []string, script ...string) string {
	t.Helper()
	cmd := exec.Command("node", script...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = peersFolder(t), append(os.Environ(), env...), &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if strings.Contains(lines.Text(), mark) {
				select {
				case found <- lines.Text():
				default:
				}
			}
		}
	}()
	t.Cleanup(func() {
		stdin.Close()
		cmd.Process.Kill()
		<-ended
		cmd.Wait() // what it says of being killed does not matter
		if t.Failed() {
			t.Logf("node said:\n%s", stderr.String())
		}
	})
	select {
	case line := <-found:
		return line
	case <-ended:
		t.Fatalf("node %v ended without a word of %q", script, mark)
	case <-time.After(30 * time.Second):
		t.Fatalf("node %v said nothing of %q", script, mark)
	}
	return ""
}

func peerAgent(t *testing.T, url string) *Agent {
	a := newAgent(t, Config{Name: "js", URL: url, Continuity: delegate.NewMemoryContinuity()})
	a.pace = 20 * time.Millisecond
	return a
}

// TestJavaScriptSDK talks to an agent on @a2a-js/sdk: 1.0 in both bindings, and 0.3.
func TestJavaScriptSDK(t *testing.T) {
	var urls map[string]string
	if err := json.Unmarshal([]byte(startNode(t, `"v1"`, nil, "agent.mjs")), &urls); err != nil {
		t.Fatal(err)
	}
	for name, protocol := range map[string]string{"v1": "A2A 1.0", "rest": "A2A 1.0", "v03": "A2A 0.3"} {
		t.Run(name, func(t *testing.T) {
			a := peerAgent(t, urls[name])
			health, err := a.Probe(t.Context())
			if err != nil || health.Protocol != protocol || health.Version != "1.3.0" {
				t.Fatalf("Probe = %+v, %v", health, err)
			}
			var text string
			for _, c := range []struct{ prompt, want string }{{"message hello é", "hello é"}, {"task one two three", "one two three"}} {
				got, err := a.Ask(t.Context(), delegate.Request{Prompt: c.prompt, Progress: func(p langrooms.Progress) {
					if p.Kind == langrooms.ProgressText {
						text += p.Text
					}
				}})
				if err != nil || got.Text != c.want || !strings.HasPrefix(c.want, text) {
					t.Errorf("%q = %q, %v; reported %q", c.prompt, got.Text, err, text)
				}
			}
			_, err = a.Ask(t.Context(), delegate.Request{Prompt: "fail the disk is full"})
			if kindOf(err) != delegate.KindFailed || !strings.Contains(err.Error(), "the disk is full") {
				t.Errorf("fail = %v", err)
			}
			_, err = a.ReadTask(t.Context(), "no-such-task")
			if !errors.Is(err, delegate.ErrUnknownTask) {
				t.Errorf("an unknown task = %v", err)
			}
			checkCount(t, a)
			checkPause(t, a)
			checkSlow(t, a)
		})
	}
}

// checkCount shows that the peer's context is echoed.
func checkCount(t *testing.T, a *Agent) {
	t.Helper()
	for _, c := range []struct{ thread, want string }{{"t1", "1"}, {"t1", "2"}, {"t2", "1"}, {"t1", "3"}} {
		got, err := a.Ask(t.Context(), delegate.Request{Prompt: "count", Conversation: c.thread})
		if err != nil || got.Text != c.want {
			t.Errorf("on %s: %q, %v; want %s", c.thread, got.Text, err, c.want)
		}
	}
}

func checkPause(t *testing.T, a *Agent) {
	t.Helper()
	got, err := a.Ask(t.Context(), delegate.Request{Prompt: "ask which one?"})
	if err != nil || !got.Paused || !strings.Contains(got.Text, "which one?") || !strings.Contains(got.Text, got.Task) {
		t.Fatalf("ask = %+v, %v", got, err)
	}
	got, err = a.Ask(t.Context(), delegate.Request{Prompt: "the second", ResumeTask: got.Task})
	if err != nil || got.Text != "you said the second" {
		t.Errorf("the resumed task = %q, %v", got.Text, err)
	}
}

// checkSlow shows a wait that ends, a poll of its task, a resume that waits and is stopped,
// and that the peer was told.
func checkSlow(t *testing.T, a *Agent) {
	t.Helper()
	_, err := a.Ask(t.Context(), delegate.Request{Prompt: "slow", Timeout: 100 * time.Millisecond})
	e := delegate.AsError("", err)
	if err == nil || e.Kind != delegate.KindStillRunning || e.Task == "" {
		t.Fatalf("slow = %v", err)
	}
	if view, err := a.ReadTask(t.Context(), e.Task); err != nil || view.State != delegate.TaskWorking {
		t.Errorf("ReadTask = %+v, %v", view, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := a.Ask(ctx, delegate.Request{ResumeTask: e.Task}); kindOf(err) != delegate.KindCanceled {
		t.Errorf("the stopped resume = %v", err)
	}
	if view, err := a.ReadTask(t.Context(), e.Task); err != nil || view.State != delegate.TaskFailed || view.Err.Kind != delegate.KindCanceled {
		t.Errorf("after the stop: ReadTask = %+v, %v", view, err)
	}
}

// TestMockLLM talks to mock-llm's 0.3 agents, whose cards say "1.0" and are not at the
// origin.
func TestMockLLM(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	startNode(t, "server running on", []string{"HOST=127.0.0.1", "PORT=" + port}, "node_modules/@dwmkerr/mock-llm/dist/main.js")
	at := "http://127.0.0.1:" + port + "/a2a/agents/"
	echo := peerAgent(t, at+"echo-agent")
	if health, err := echo.Probe(t.Context()); err != nil || health.Protocol != "A2A 0.3" {
		t.Errorf("Probe = %+v, %v", health, err)
	}
	if got, err := echo.Ask(t.Context(), delegate.Request{Prompt: "hello"}); err != nil || !strings.Contains(got.Text, "hello") {
		t.Errorf("echo = %q, %v", got.Text, err)
	}
	var statuses []string
	countdown := peerAgent(t, at+"countdown-agent")
	got, err := countdown.Ask(t.Context(), delegate.Request{Prompt: "1", Progress: func(p langrooms.Progress) {
		statuses = append(statuses, p.Text)
	}})
	if err != nil || got.Text != "Countdown complete!" || !strings.Contains(strings.Join(statuses, "\n"), "Starting countdown from 1") {
		t.Errorf("countdown = %q, %v; reported %q", got.Text, err, statuses)
	}
	if _, err := countdown.Ask(t.Context(), delegate.Request{Prompt: "-1"}); kindOf(err) != delegate.KindFailed {
		t.Errorf("a countdown that fails = %v", err)
	}
}
