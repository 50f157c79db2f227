package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/coder/acp-go-sdk"

	"github.com/langrooms/langrooms"
)

// acpVariable makes a program that calls Main an ACP agent: its value is the agent's name.
const acpVariable = "LANGROOMS_DEMO_ACP"

// Main turns this process into a demo agent on standard input and output when it was
// started by an [ACPCommand], and does not return then: it exits with status 0, or with 1
// and a word on standard error when it cannot serve. Otherwise it does nothing. A program calls it first thing in main, and a test binary in TestMain.
func Main() {
	name, set := os.LookupEnv(acpVariable)
	if !set {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := serveACP(ctx, name, os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// ACPCommand returns how to start the demo agent of this name as a child process that
// speaks ACP on standard input and output: this program again, with a variable in its
// environment that [Main] recognises. command is empty when there is no such agent.
func ACPCommand(name string) (command string, args []string, env map[string]string) {
	if _, known := agents()[name]; !known {
		return "", nil, nil
	}
	command, err := os.Executable()
	if err != nil {
		command = os.Args[0]
	}
	return command, nil, map[string]string{acpVariable: name}
}

// serveACP serves one agent until the client closes the connection or ctx ends. When it
// returns, no command runs any more.
func serveACP(ctx context.Context, name string, in io.Reader, out io.Writer) error {
	a, known := agents()[name]
	if !known {
		return fmt.Errorf("there is no agent %q", name)
	}
	life, stop := context.WithCancel(ctx)
	defer stop()
	server := &acpServer{agent: a, life: life, sessions: make(map[acp.SessionId]*acpSession)}
	conn := server.connect(in, out)
	select {
	case <-conn.Done():
	case <-ctx.Done():
	}
	server.close(stop)
	return nil
}

// connect begins to read. Messages can arrive before the connection is known here, and
// wait for the lock.
func (s *acpServer) connect(in io.Reader, out io.Writer) *acp.AgentSideConnection {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = acp.NewAgentSideConnection(s, out, in)
	s.conn.SetLogger(slog.New(slog.DiscardHandler))
	return s.conn
}

// acpServer is the agent's side of one ACP connection (Agent Client Protocol, version 1).
type acpServer struct {
	agent   agent
	life    context.Context // ends with the connection
	prompts sync.WaitGroup

	mu       sync.Mutex
	conn     *acp.AgentSideConnection
	sessions map[acp.SessionId]*acpSession
}

var _ acp.Agent = (*acpServer)(nil)

type acpSession struct {
	dir    string
	memory memory
}

// maxSessions bounds the sessions of one connection.
const maxSessions = 1000

// Initialize says who the agent is.
func (s *acpServer) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	return acp.InitializeResponse{
		ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo:       &acp.Implementation{Name: "langrooms-demo-" + s.agent.name, Version: "1"},
		AuthMethods:     []acp.AuthMethod{},
	}, nil
}

// NewSession opens a conversation in a working folder.
func (s *acpServer) NewSession(_ context.Context, req acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	if !filepath.IsAbs(req.Cwd) {
		return acp.NewSessionResponse{}, acp.NewInvalidParams(map[string]any{"error": "cwd is not an absolute path"})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) >= maxSessions {
		return acp.NewSessionResponse{}, acp.NewInternalError(map[string]any{"error": "too many sessions"})
	}
	id := acp.SessionId(langrooms.NewID())
	s.sessions[id] = &acpSession{dir: req.Cwd}
	return acp.NewSessionResponse{SessionId: id}, nil
}

// CloseSession forgets a conversation.
func (s *acpServer) CloseSession(_ context.Context, req acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, req.SessionId)
	return acp.CloseSessionResponse{}, nil
}

// Prompt answers one message. The connection ends ctx on session/cancel.
func (s *acpServer) Prompt(ctx context.Context, req acp.PromptRequest) (acp.PromptResponse, error) {
	session, conn, err := s.begin(req.SessionId)
	if err != nil {
		return acp.PromptResponse{}, err
	}
	defer s.prompts.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()

	turn := &acpTurn{conn: conn, session: req.SessionId}
	in := situation{prompt: parsePrompt(promptText(req.Prompt)), dir: session.dir, step: turn.step}
	text, err := s.agent.reply(ctx, in, &session.memory)
	if ctx.Err() != nil {
		return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	var refused refusedError
	if errors.As(err, &refused) {
		text, err = "I was not allowed to run `"+refused.title+"`.", nil
	}
	if err == nil {
		err = turn.end(ctx)
	}
	if err == nil {
		err = turn.update(ctx, acp.UpdateAgentMessageText(text))
	}
	return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

// begin registers a prompt in a session; the caller calls s.prompts.Done when it is over.
func (s *acpServer) begin(id acp.SessionId) (*acpSession, *acp.AgentSideConnection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return nil, nil, acp.NewInternalError(map[string]any{"error": "the agent is ending"})
	}
	session := s.sessions[id]
	if session == nil {
		return nil, nil, acp.NewInvalidParams(map[string]any{"error": "there is no such session"})
	}
	s.prompts.Add(1)
	return session, s.conn, nil
}

// close ends all prompts and waits for them.
func (s *acpServer) close(stop context.CancelFunc) {
	s.mu.Lock()
	stop()
	s.mu.Unlock()
	s.prompts.Wait()
}

func promptText(blocks []acp.ContentBlock) string {
	var texts []string
	for _, b := range blocks {
		if b.Text != nil {
			texts = append(texts, b.Text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// refusedError means that the client did not permit a step.
type refusedError struct{ title string }

func (e refusedError) Error() string { return "not allowed: " + e.title }

// acpTurn shows the agent's steps as tool calls.
type acpTurn struct {
	conn    *acp.AgentSideConnection
	session acp.SessionId
	open    acp.ToolCallId // the step that runs; empty before the first
}

// step ends the step before and begins the next. Whatever runs the project's own code
// needs the client's permission.
func (t *acpTurn) step(ctx context.Context, title string) error {
	if err := t.end(ctx); err != nil {
		return err
	}
	id, kind := acp.ToolCallId(langrooms.NewID()), acp.ToolKindRead
	if strings.HasPrefix(title, "go ") {
		kind = acp.ToolKindExecute
	}
	err := t.update(ctx, acp.StartToolCall(id, title, acp.WithStartKind(kind), acp.WithStartStatus(acp.ToolCallStatusPending)))
	if err != nil {
		return err
	}
	t.open = id
	if kind == acp.ToolKindExecute {
		if err := t.permit(ctx, id, title); err != nil {
			return err
		}
	}
	return t.update(ctx, acp.UpdateToolCall(id, acp.WithUpdateStatus(acp.ToolCallStatusInProgress)))
}

func (t *acpTurn) permit(ctx context.Context, id acp.ToolCallId, title string) error {
	kind := acp.ToolKindExecute
	resp, err := t.conn.RequestPermission(ctx, acp.RequestPermissionRequest{
		SessionId: t.session,
		ToolCall:  acp.ToolCallUpdate{ToolCallId: id, Title: &title, Kind: &kind},
		Options: []acp.PermissionOption{
			{OptionId: "allow", Kind: acp.PermissionOptionKindAllowOnce, Name: "Run it"},
			{OptionId: "reject", Kind: acp.PermissionOptionKindRejectOnce, Name: "Do not run it"},
		},
	})
	if err != nil {
		return fmt.Errorf("asking for permission: %w", err)
	}
	if chosen := resp.Outcome.Selected; chosen != nil && chosen.OptionId == "allow" {
		return nil
	}
	t.open = ""
	failed := acp.UpdateToolCall(id, acp.WithUpdateStatus(acp.ToolCallStatusFailed))
	return errors.Join(refusedError{title}, t.update(ctx, failed))
}

// end completes the step that runs, if any.
func (t *acpTurn) end(ctx context.Context) error {
	if t.open == "" {
		return nil
	}
	done := acp.UpdateToolCall(t.open, acp.WithUpdateStatus(acp.ToolCallStatusCompleted))
	t.open = ""
	return t.update(ctx, done)
}

func (t *acpTurn) update(ctx context.Context, u acp.SessionUpdate) error {
	return t.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: t.session, Update: u})
}
