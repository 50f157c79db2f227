package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/langrooms/langrooms/internal/clitest"
)

// editor is an ACP client that keeps what it is told.
type editor struct {
	updates chan acp.SessionUpdate
	allow   acp.PermissionOptionId
	asked   chan acp.RequestPermissionRequest
}

func (e *editor) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	e.updates <- n.Update
	return nil
}

func (e *editor) RequestPermission(_ context.Context, q acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	e.asked <- q
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(e.allow)}, nil
}

func (e *editor) ReadTextFile(context.Context, acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	return acp.ReadTextFileResponse{}, acp.NewMethodNotFound("fs")
}

func (e *editor) WriteTextFile(context.Context, acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	return acp.WriteTextFileResponse{}, acp.NewMethodNotFound("fs")
}

func (e *editor) CreateTerminal(context.Context, acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	return acp.CreateTerminalResponse{}, acp.NewMethodNotFound("terminal")
}

func (e *editor) KillTerminal(context.Context, acp.KillTerminalRequest) (acp.KillTerminalResponse, error) {
	return acp.KillTerminalResponse{}, acp.NewMethodNotFound("terminal")
}

func (e *editor) TerminalOutput(context.Context, acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error) {
	return acp.TerminalOutputResponse{}, acp.NewMethodNotFound("terminal")
}

func (e *editor) ReleaseTerminal(context.Context, acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error) {
	return acp.ReleaseTerminalResponse{}, acp.NewMethodNotFound("terminal")
}

func (e *editor) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	return acp.WaitForTerminalExitResponse{}, acp.NewMethodNotFound("terminal")
}

// A client that goes in the middle of a turn ends it, and the thread says why.
func TestACPClientGoes(t *testing.T) {
	t.Parallel()
	slow, asked, letGo := held(t, "too late")
	defer letGo()
	f := folder(t, says(t, "I am the lead"), roster(openaiEntry("slow", slow)))
	p := f.Start("acp")
	p.Say(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	id := regexp.MustCompile(`"sessionId":"([^"]+)"`).FindStringSubmatch(p.Out("}\n"))[1]
	p.Say(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"` + id + `","prompt":[{"type":"text","text":"@slow hi"}]}}`)
	<-asked
	p.CloseInput()
	expect(t, "status", 0, p.Wait().Status)
	lines := show(t, f, id)
	expect(t, "lines", 2, len(lines))
	expect(t, "the record", "(stopped: the client went away)", lines[1].Text("text"))
}

// edit starts langrooms acp in a folder and opens the connection.
func edit(t testing.TB, f *clitest.Folder) (*acp.ClientSideConnection, *editor) {
	t.Helper()
	cmd := exec.Command(binary.Path(), "acp")
	cmd.Dir = f.Dir
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := &editor{updates: make(chan acp.SessionUpdate, 1000), asked: make(chan acp.RequestPermissionRequest, 10), allow: "yes"}
	conn := acp.NewClientSideConnection(e, in, out)
	conn.SetLogger(slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		in.Close()
		killer := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
		defer killer.Stop()
		<-conn.Done()
		if err := cmd.Wait(); err != nil {
			t.Errorf("langrooms acp: %v", err)
		}
	})
	hello, err := conn.Initialize(t.Context(), acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	if err != nil || hello.AgentInfo == nil || hello.AgentInfo.Name != "langrooms" || !hello.AgentCapabilities.LoadSession {
		t.Fatalf("hello: %+v, %v", hello, err)
	}
	return conn, e
}

// said is what the updates so far say.
func (e *editor) said() string {
	var all strings.Builder
	for {
		select {
		case u := <-e.updates:
			switch {
			case u.AgentMessageChunk != nil:
				all.WriteString(u.AgentMessageChunk.Content.Text.Text)
			case u.UserMessageChunk != nil:
				all.WriteString("> " + u.UserMessageChunk.Content.Text.Text + "\n")
			case u.AvailableCommandsUpdate != nil:
				fmt.Fprintf(&all, "[%d commands]", len(u.AvailableCommandsUpdate.AvailableCommands))
			}
		default:
			return all.String()
		}
	}
}

// An editor talks to the room, in the threads of the terminal.
func TestACP(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	slow, asked, letGo := held(t, "at last")
	defer letGo()
	f := folder(t, says(t, "I am the lead"), roster(openaiEntry("proto", says(t, "two things")), openaiEntry("slow", slow)))
	conn, e := edit(t, f)
	session, err := conn.NewSession(ctx, acp.NewSessionRequest{Cwd: f.Dir, McpServers: []acp.McpServer{}})
	if err != nil || session.Modes == nil || session.Modes.CurrentModeId != "room" {
		t.Fatalf("a session: %+v, %v", session, err)
	}
	prompt := func(text string) acp.PromptResponse {
		t.Helper()
		r, err := conn.Prompt(ctx, acp.PromptRequest{SessionId: session.SessionId, Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return r
	}
	expect(t, "the end of a turn", acp.StopReasonEndTurn, prompt("@proto what broke?").StopReason)
	expect(t, "a member", "[2 commands]**@proto** — two things", e.said())
	prompt("and you?")
	expect(t, "the lead", "I am the lead", e.said())
	prompt("@nobody hi")
	expectContains(t, "the room", "Unknown or unreachable delegate: @nobody", e.said())
	prompt("/who")
	expectContains(t, "/who", "- @proto (openai): a model", e.said())
	prompt("/thread")
	expectContains(t, "/thread", string(session.SessionId), e.said())
	if _, err := conn.SetSessionMode(ctx, acp.SetSessionModeRequest{SessionId: session.SessionId, ModeId: "lead"}); err != nil {
		t.Error(err)
	}
	prompt("@proto in the lead's mode")
	expect(t, "the lead's mode", "I am the lead", e.said())
	if _, err := conn.SetSessionMode(ctx, acp.SetSessionModeRequest{SessionId: session.SessionId, ModeId: "room"}); err != nil {
		t.Error(err)
	}
	ended := make(chan acp.PromptResponse, 1)
	go func() {
		r, _ := conn.Prompt(ctx, acp.PromptRequest{SessionId: session.SessionId, Prompt: []acp.ContentBlock{acp.TextBlock("@slow well?")}})
		ended <- r
	}()
	<-asked
	if err := conn.Cancel(ctx, acp.CancelNotification{SessionId: session.SessionId}); err != nil {
		t.Error(err)
	}
	expect(t, "a canceled turn", acp.StopReasonCancelled, (<-ended).StopReason)
	e.said()
	expect(t, "a turn in the terminal", 0, f.Run("chat", "-t", string(session.SessionId), "-m", "@proto from the terminal").Status)
	if _, err := conn.LoadSession(ctx, acp.LoadSessionRequest{SessionId: session.SessionId, Cwd: f.Dir, McpServers: []acp.McpServer{}}); err != nil {
		t.Error(err)
	}
	replay := e.said()
	for _, want := range []string{"> @proto what broke?\n**@proto** — two things", "> and you?\nI am the lead", "> @proto from the terminal", "[2 commands]"} {
		expectContains(t, "the replay", want, replay)
	}
	list, err := conn.ListSessions(ctx, acp.ListSessionsRequest{})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionId != session.SessionId {
		t.Errorf("the list: %+v, %v", list, err)
	}
	for name, q := range map[string]acp.PromptRequest{
		"no such session": {SessionId: "none", Prompt: []acp.ContentBlock{acp.TextBlock("hi")}},
		"blank":           {SessionId: session.SessionId, Prompt: []acp.ContentBlock{acp.TextBlock(" ")}},
		"a picture":       {SessionId: session.SessionId, Prompt: []acp.ContentBlock{acp.ImageBlock("eA==", "image/png")}},
	} {
		if r, err := conn.Prompt(ctx, q); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func nestedEntry(name string, f *clitest.Folder) string {
	return fmt.Sprintf("  - { name: %s, type: acp, description: another room, command: %q, args: [acp], workdir: %q }\n", name, binary.Path(), f.Dir)
}

// A langrooms is a delegate of another one, two deep by ACP, and one that is its own delegate
// notices it.
func TestLangroomsBehindLangroomsByACP(t *testing.T) {
	t.Parallel()
	deep := says(t, "from the depth")
	inner := folder(t, deep, roster(openaiEntry("leaf", deep)))
	middle := folder(t, deep, roster(nestedEntry("inner", inner)))
	outer := folder(t, says(t, "lead"), roster(nestedEntry("middle", middle)))
	r := outer.Run("chat", "-m", "@middle @inner @leaf what broke?")
	expectContains(t, "the answer", "from the depth", r.Out)
	self := binary.In(t)
	self.Config("model: { provider: demo }\n%s", roster(nestedEntry("me", self)))
	r = self.Run("chat", "-m", "@me @me hi")
	expectContains(t, "a circle", "has come back to a langrooms that it came through", r.Out)
}

// What a member asks leave for is asked of the editor, and its answer holds.
func TestACPPermission(t *testing.T) {
	t.Parallel()
	peer := acpPeerFolder(t)
	f := folder(t, says(t, "lead"), roster(fmt.Sprintf("  - { name: coder, type: acp, command: node, args: [%q], permissions: ask, env: { STATE: %q } }\n",
		filepath.Join(peer, "agent.js"), t.TempDir())))
	conn, e := edit(t, f)
	session, err := conn.NewSession(t.Context(), acp.NewSessionRequest{Cwd: f.Dir, McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e.allow = range []acp.PermissionOptionId{"yes", "no"} {
		r, err := conn.Prompt(t.Context(), acp.PromptRequest{SessionId: session.SessionId, Prompt: []acp.ContentBlock{acp.TextBlock("@coder permit execute")}})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "the end", acp.StopReasonEndTurn, r.StopReason)
		q := <-e.asked
		expect(t, "what is asked", "@coder: A tool", *q.ToolCall.Title)
		expectContains(t, "the answer", "**@coder** — "+string(e.allow), strings.TrimPrefix(e.said(), "[2 commands]"))
	}
}

// acpPeer is the folder of the programs on the ACP SDK of other hands.
const acpPeer = "../../internal/peers/acp"

func acpPeerFolder(t testing.TB) string {
	t.Helper()
	folder, err := filepath.Abs(acpPeer)
	if err == nil {
		_, err = os.Stat(filepath.Join(folder, "node_modules"))
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the SDK is not installed: npm ci in internal/peers/acp")
		}
		t.Skip("the SDK is not installed: npm ci in internal/peers/acp")
	}
	return folder
}

// TestACPClients has @agentclientprotocol/sdk's client and acpx start langrooms acp.
func TestACPClients(t *testing.T) {
	t.Parallel()
	peer := acpPeerFolder(t)
	f := folder(t, says(t, "I am the lead"), roster(openaiEntry("proto", says(t, "two things"))))
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", filepath.Join(peer, "client.js"), binary.Path(), f.Dir)
	cmd.Dir = peer
	out, err := cmd.CombinedOutput()
	if n := strings.Count(string(out), "ok "); err != nil || n != 4 {
		t.Errorf("the SDK's client told %d stories, want 4: %v\n%s", n, err, out)
	}
	cmd = exec.CommandContext(ctx, filepath.Join(peer, "node_modules", ".bin", "acpx"), "--agent", binary.Path()+" acp", "--approve-all", "--format", "json", "exec", "@proto what broke?")
	cmd.Dir = f.Dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err = cmd.Output()
	if err != nil || !strings.Contains(string(out), "two things") {
		t.Errorf("acpx: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("acpx saw what is no JSON: %s", line)
		}
	}
}
