package acpagent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

const (
	rawHello   = `{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":1}}`
	rawSession = `{"jsonrpc":"2.0","id":$ID,"result":{"sessionId":"s"}}`
	rawEnd     = `{"jsonrpc":"2.0","id":$ID,"result":{"stopReason":"end_turn"}}`
)

func TestFailures(t *testing.T) {
	raw := func(answers ...string) string { return strings.Join(answers, "\n") }
	for name, c := range map[string]struct {
		role, mode string
		prompt     string
		kind       delegate.Kind
		accepted   bool
		cause      string // part of the cause
	}{
		"ends at its start":         {"scripted", "exit", "", delegate.KindUnreachable, false, "initialize: the agent's process ended: exit status 3; it wrote: cannot start: key is [redacted]"},
		"another protocol version":  {"scripted", "version-2", "", delegate.KindRefused, false, "protocol version mismatch: the agent speaks version 2 of ACP, this client 1"},
		"wants a login":             {"scripted", "auth", "", delegate.KindRefused, false, `session/new: Authentication required (code -32000): {"hint":"run login"}; auth_method can be one that the agent offers: none`},
		"wants a login for prompts": {"scripted", "", "fail -32000 Login", delegate.KindRefused, false, "session/prompt: Login (code -32000)"},
		"fails":                     {"scripted", "", "fail -32603 Broken", delegate.KindFailed, true, `session/prompt: Broken (code -32603): {"details":"a & b [redacted]"}`},
		"exits in the middle":       {"scripted", "", "say x\nstderr oh no\nexit 5", delegate.KindFailed, true, "the agent's process ended: exit status 5; it wrote: oh no"},
		"exits well in the middle":  {"scripted", "", "exit 0", delegate.KindFailed, true, "the agent's process ended: exit status 0"},
		"is killed in the middle":   {"scripted", "", "say x\nkill", delegate.KindFailed, true, "the agent's process ended: signal: killed"},
		"closes its output":         {"scripted", "ignore-eof", "close-output", delegate.KindFailed, true, "the agent's process ended: it closed its output"},
		"says no version":           {"raw", raw(`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"one"}}`), "", delegate.KindProtocol, false, "the agent's answer cannot be read: initialize"},
		"says no session":           {"raw", raw(rawHello, `{"jsonrpc":"2.0","id":$ID,"result":{}}`), "", delegate.KindProtocol, false, "session/new: no session id"},
		"says no stop reason":       {"raw", raw(rawHello, rawSession, `{"jsonrpc":"2.0","id":$ID,"result":7}`), "", delegate.KindProtocol, true, "the agent's answer cannot be read: session/prompt"},
		"answers nothing":           {"raw", raw(rawHello, rawSession, `{"jsonrpc":"2.0","id":$ID}`), "", delegate.KindProtocol, true, "session/prompt: no result"},
		"fails and exits":           {"raw", raw(rawHello, rawSession, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"Quota"}}`+"exit"), "", delegate.KindFailed, true, "session/prompt: Quota (code -32603)"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, testConfig(t, c.role, c.mode))
			e := askFails(t, a, delegate.Request{Prompt: c.prompt, Conversation: "thread"})
			if e.Kind != c.kind || e.Accepted != c.accepted || !strings.Contains(e.Cause(), c.cause) {
				t.Errorf("kind %s, accepted %v: %s\nwant %s, %v: %s", e.Kind, e.Accepted, e.Cause(), c.kind, c.accepted, c.cause)
			}
		})
	}
}

// An answer must not be lost when the agent exits right after it.
func TestAnswerAndExit(t *testing.T) {
	t.Parallel()
	chunk := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"bye"}}}}`
	// CR stands for a line break inside of one of the raw agent's answers.
	mode := strings.Join([]string{rawHello, rawSession, chunk + "\r" + rawEnd + "exit"}, "\n")
	a := newAgent(t, testConfig(t, "raw", mode))
	for range 20 {
		reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"})
		if err != nil || reply.Text != "bye" {
			t.Fatalf("reply %q, %v", reply.Text, err)
		}
	}
}

func TestCommandsThatCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plain"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config Config
		cause  string
	}{
		"no such name":   {Config{Command: "no-such-agent"}, "command: no-such-agent: executable file not found in $PATH"},
		"no such path":   {Config{Command: "./no-such-agent", WorkDir: dir}, "command: ./no-such-agent: no such file or directory"},
		"not executable": {Config{Command: "./plain", WorkDir: dir}, "command: ./plain: permission denied"},
		"no such folder": {Config{Command: "true", WorkDir: filepath.Join(dir, "gone")}, "workdir: " + filepath.Join(dir, "gone") + ": no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Name = "proto"
			a := newAgent(t, c.config)
			e := askFails(t, a, delegate.Request{Prompt: "hi"})
			if e.Kind != delegate.KindUnreachable || e.Accepted || e.Cause() != c.cause {
				t.Errorf("%v, accepted %v: %q, want %q", e.Kind, e.Accepted, e.Cause(), c.cause)
			}
			e = mustFail(t, a, func() error { _, err := a.Probe(t.Context()); return err })
			if e.Kind != delegate.KindUnreachable {
				t.Errorf("Probe: %v %v", e.Kind, e)
			}
		})
	}
}

func TestTimeouts(t *testing.T) {
	const limit = 700 * time.Millisecond
	for name, c := range map[string]struct {
		mode, prompt string
		kind         delegate.Kind
		cause        string
	}{
		"silent at the start":  {"hang-init", "", delegate.KindUnreachable, "initialize: no answer within 700ms"},
		"obeys session/cancel": {"", "hold", delegate.KindTimeout, "no answer within 700ms; the turn was cancelled"},
		"ignores everything":   {"ignore-eof,ignore-term", "hold-forever", delegate.KindTimeout, "no answer within 700ms; the turn was cancelled"},
		"works without an end": {"", "flood 100000000", delegate.KindTimeout, "no answer within 700ms; the turn was cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newScripted(t, strings.Split(c.mode, ",")...)
			if c.kind == delegate.KindTimeout {
				ask(t, a, "say that the process runs")
			}
			began := time.Now()
			e := askFails(t, a, delegate.Request{Prompt: c.prompt, Conversation: "thread", Timeout: limit})
			if took := time.Since(began); took > limit+4*time.Second {
				t.Errorf("it took %v", took)
			}
			if e.Kind != c.kind || e.Accepted != (c.kind == delegate.KindTimeout) || !strings.Contains(e.Cause(), c.cause) {
				t.Errorf("%v, accepted %v: %q, want %v %q", e.Kind, e.Accepted, e.Cause(), c.kind, c.cause)
			}
		})
	}
}

func TestConfiguredTimeout(t *testing.T) {
	c := testConfig(t, "scripted", "hang-init")
	c.Timeout = 50 * time.Millisecond
	e := askFails(t, newAgent(t, c), delegate.Request{})
	if e.Kind != delegate.KindUnreachable || !strings.Contains(e.Cause(), "no answer within 50ms") {
		t.Errorf("%v %v", e.Kind, e)
	}
}

// An agent that does not read its input: the prompt itself blocks.
func TestDeafAgent(t *testing.T) {
	a := newAgent(t, testConfig(t, "raw", strings.Join([]string{rawHello, rawSession, rawEnd, "deaf"}, "\n")))
	ask(t, a, "hi")
	req := delegate.Request{Prompt: strings.Repeat("x", 1<<20), Conversation: "thread", Timeout: 500 * time.Millisecond}
	if e := askFails(t, a, req); e.Kind != delegate.KindTimeout {
		t.Errorf("%v %v", e.Kind, e)
	}
}

func TestUnreadableUsageIsNone(t *testing.T) {
	for usage, want := range map[string]string{`null`: "none", `{}`: "none", `{"inputTokens":1,"outputTokens":2}`: "1 2", `{"inputTokens":-1}`: "none", `"many"`: "none", `{"inputTokens":1.5}`: "none"} {
		end := strings.Replace(rawEnd, `"end_turn"`, `"end_turn","usage":`+usage, 1)
		reply := ask(t, newAgent(t, testConfig(t, "raw", strings.Join([]string{rawHello, rawSession, end}, "\n"))), "hi")
		got := "none"
		if reply.Usage != nil {
			got = fmt.Sprint(reply.Usage.InputTokens, reply.Usage.OutputTokens)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", usage, got, want)
		}
	}
}

func TestSessionGoesOnAfterAFailure(t *testing.T) {
	a := newScripted(t)
	before := ask(t, a, "pid").Text
	askFails(t, a, delegate.Request{Prompt: "fail -32603 Broken", Conversation: "thread"})
	if reply := ask(t, a, "pid", "count"); reply.Text != before+"3" {
		t.Errorf("after an error of the agent: %q, want process %s and message 3", reply.Text, before)
	}
}

func TestResumeAndClosed(t *testing.T) {
	a := newScripted(t)
	if e := askFails(t, a, delegate.Request{Prompt: "say x", ResumeTask: "t"}); e.Kind != delegate.KindRefused {
		t.Errorf("a task: %v %v", e.Kind, e)
	}
	a.Close()
	if e := askFails(t, a, delegate.Request{Prompt: "say x"}); e.Kind != delegate.KindUnreachable || !errors.Is(e, errClosed) {
		t.Errorf("after Close: %v %v", e.Kind, e)
	}
}

func TestProbeFailures(t *testing.T) {
	for mode, kind := range map[string]delegate.Kind{"exit": delegate.KindUnreachable, "version-2": delegate.KindRefused, "hang-init": delegate.KindUnreachable, "auth": delegate.KindRefused} {
		a := newScripted(t, mode)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if mode != "hang-init" {
			ctx = t.Context()
		}
		e := mustFail(t, a, func() error { _, err := a.Probe(ctx); return err })
		if e.Kind != kind || e.Accepted {
			t.Errorf("%s: %+v", mode, e)
		}
	}
}
