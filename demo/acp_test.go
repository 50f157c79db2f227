package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/acp-go-sdk"
)

// acpPeer is a client that drives a demo agent in a child process.
type acpPeer struct {
	acp.Client // what a demo agent must not ask for panics
	conn       *acp.ClientSideConnection
	cmd        *exec.Cmd
	stdin      io.Closer
	allow      bool

	mu      sync.Mutex
	text    strings.Builder
	updates []string // tool calls and their states
	asked   []string // titles of permission requests
}

func (c *acpPeer) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch u := n.Update; {
	case u.AgentMessageChunk != nil:
		c.text.WriteString(u.AgentMessageChunk.Content.Text.Text)
	case u.ToolCall != nil:
		c.updates = append(c.updates, fmt.Sprintf("%s %s", u.ToolCall.Kind, u.ToolCall.Title))
	case u.ToolCallUpdate != nil:
		c.updates = append(c.updates, string(*u.ToolCallUpdate.Status))
	}
	return nil
}

func (c *acpPeer) RequestPermission(_ context.Context, req acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, *req.ToolCall.Title)
	want := acp.PermissionOptionKindRejectOnce
	if c.allow {
		want = acp.PermissionOptionKindAllowOnce
	}
	i := slices.IndexFunc(req.Options, func(o acp.PermissionOption) bool { return o.Kind == want })
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(req.Options[i].OptionId)}, nil
}

// quickEnd ends a race-built child at once; the race detector's own default is a second.
const quickEnd = "GORACE=atexit_sleep_ms=0"

// startACP starts an agent the way a delegate does.
func startACP(t *testing.T, name string, allow bool) *acpPeer {
	t.Helper()
	command, args, env := ACPCommand(name)
	c := &acpPeer{cmd: exec.Command(command, args...), allow: allow}
	c.cmd.Env = append(os.Environ(), quickEnd)
	for k, v := range env {
		c.cmd.Env = append(c.cmd.Env, k+"="+v)
	}
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.stdin = stdin
	c.conn = acp.NewClientSideConnection(c, stdin, stdout)
	t.Cleanup(func() { c.end(t) })
	got, err := c.conn.Initialize(t.Context(), acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	if err != nil {
		t.Fatal(err)
	}
	if got.ProtocolVersion != acp.ProtocolVersionNumber || got.AgentInfo.Name != "langrooms-demo-"+name || got.AgentCapabilities.LoadSession {
		t.Errorf("initialize: %+v", got)
	}
	return c
}

// end closes the agent's input, which ends it.
func (c *acpPeer) end(t *testing.T) {
	if c.cmd == nil {
		return
	}
	c.stdin.Close()
	<-c.conn.Done()
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("the agent ended with %v", err)
	}
	c.cmd = nil
}

func (c *acpPeer) session(t *testing.T, dir string) acp.SessionId {
	t.Helper()
	s, err := c.conn.NewSession(t.Context(), acp.NewSessionRequest{Cwd: dir, McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	return s.SessionId
}

func (c *acpPeer) prompt(t *testing.T, id acp.SessionId, text string) (string, acp.StopReason) {
	t.Helper()
	resp, err := c.conn.Prompt(t.Context(), acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	said := c.text.String()
	c.text.Reset()
	return said, resp.StopReason
}

func TestProtoAnswersOverACP(t *testing.T) {
	c := startACP(t, "proto", true)
	first, second := c.session(t, folder(t, broken)), c.session(t, folder(t, healthy))
	text, stop := c.prompt(t, first, "what broke?")
	wants(t, text, "broken.go:4: ", "demo agent")
	if stop != acp.StopReasonEndTurn {
		t.Errorf("stop reason %q", stop)
	}
	if want := []string{"execute go build ./...", "in_progress", "completed"}; !slices.Equal(c.updates, want) {
		t.Errorf("updates %q, want %q", c.updates, want)
	}
	if want := []string{"go build ./..."}; !slices.Equal(c.asked, want) {
		t.Errorf("asked for %q, want %q", c.asked, want)
	}
	text, _ = c.prompt(t, second, "what broke?")
	wants(t, text, "healthy")

	// A session is a conversation: a further round of the same address is passed.
	round := "You are taking part in a group chat. Nothing new has been said since you last spoke.\n\n" +
		"You have been addressed directly as @proto. Reply to this message:\n\nwhat broke?\n\n" + passOffer
	if text, _ = c.prompt(t, first, round); text != pass {
		t.Errorf("got %q, want a pass", text)
	}
}

func TestReviewerOverACPNeedsNoPermission(t *testing.T) {
	c := startACP(t, "reviewer", false)
	text, _ := c.prompt(t, c.session(t, t.TempDir()), "what is new?")
	wants(t, text, "no git repository")
	if len(c.asked) > 0 {
		t.Errorf("asked for %q", c.asked)
	}
}

func TestARefusedPermissionIsSaid(t *testing.T) {
	c := startACP(t, "proto", false)
	text, stop := c.prompt(t, c.session(t, folder(t, broken)), "what broke?")
	if text != "I was not allowed to run `go build ./...`." || stop != acp.StopReasonEndTurn {
		t.Errorf("got %q, %s", text, stop)
	}
	if want := []string{"execute go build ./...", "failed"}; !slices.Equal(c.updates, want) {
		t.Errorf("updates %q, want %q", c.updates, want)
	}
}

func TestWhatTheAgentRefuses(t *testing.T) {
	c := startACP(t, "proto", true)
	ask := []acp.ContentBlock{acp.TextBlock("hi")}
	id := c.session(t, t.TempDir())
	if _, err := c.conn.CloseSession(t.Context(), acp.CloseSessionRequest{SessionId: id}); err != nil {
		t.Error(err)
	}
	_, closed := c.conn.Prompt(t.Context(), acp.PromptRequest{SessionId: id, Prompt: ask})
	_, relative := c.conn.NewSession(t.Context(), acp.NewSessionRequest{Cwd: "here", McpServers: []acp.McpServer{}})
	_, login := c.conn.Authenticate(t.Context(), acp.AuthenticateRequest{MethodId: "any"})
	for _, tt := range []struct {
		what string
		err  error
		code int
	}{{"a closed session", closed, -32602}, {"a relative folder", relative, -32602}, {"a login", login, -32601}} {
		var refused *acp.RequestError
		if !errors.As(tt.err, &refused) || refused.Code != tt.code {
			t.Errorf("%s: %v, want code %d", tt.what, tt.err, tt.code)
		}
	}
}

func TestAnUnknownAgentIsSaid(t *testing.T) {
	if command, _, _ := ACPCommand("nobody"); command != "" {
		t.Errorf("nobody is started by %q", command)
	}
	command, _, _ := ACPCommand("proto")
	cmd := exec.Command(command)
	cmd.Env = append(os.Environ(), acpVariable+"=nobody", quickEnd)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("got %v, want status 1", err)
	}
	wants(t, string(out), `there is no agent "nobody"`)
}
