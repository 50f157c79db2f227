package acpagent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms/delegate"
	"go.uber.org/goleak"
)

// The test binary is also the peer: with roleVariable set it is an agent, or something
// that an agent starts.
const (
	roleVariable  = "ACPAGENT_TEST_ROLE"
	modeVariable  = "ACPAGENT_TEST_MODE"  // what a scripted agent does at its start, by commas
	stateVariable = "ACPAGENT_TEST_STATE" // the folder where it keeps sessions
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
		goleak.VerifyTestMain(m)
	case "scripted":
		runScripted()
	case "raw":
		runRaw(os.Stdin, os.Stdout)
	case "suite":
		runSuitePeer()
	case "sleeper":
		signal.Ignore(syscall.SIGTERM)
		select {}
	case "owner":
		runOwner()
	}
}

// scripted is an agent on the SDK's own agent side. Each line of a prompt is a command.
type scripted struct {
	acp.Agent // panics in what is not implemented here
	conn      *acp.AgentSideConnection
	modes     []string
}

func (s *scripted) is(mode string) bool { return slices.Contains(s.modes, mode) }

func runScripted() {
	s := &scripted{modes: strings.Split(os.Getenv(modeVariable), ",")}
	if s.is("banner") {
		fmt.Print("Welcome to the agent!\n\n{not json\n42\n[1,2]\n")
	}
	if s.is("ignore-term") {
		signal.Ignore(syscall.SIGTERM)
	}
	if s.is("exit") {
		fmt.Fprintln(os.Stderr, "cannot start: key is", os.Getenv("TEST_API_KEY"))
		os.Exit(3)
	}
	in := &gated{make(chan struct{}), os.Stdin}
	s.conn = acp.NewAgentSideConnection(s, os.Stdout, in)
	close(in.ready) // the SDK uses its connection before it is set
	<-s.conn.Done()
	if s.is("ignore-eof") {
		select {}
	}
}

func (s *scripted) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	if s.is("hang-init") {
		fmt.Fprintln(os.Stderr, "waiting for a login")
		select {}
	}
	r := acp.InitializeResponse{ProtocolVersion: 1, AgentInfo: &acp.Implementation{Name: "scripted", Version: "1.2.3"}}
	if s.is("version-2") {
		r.ProtocolVersion = 2
	}
	r.AgentCapabilities.LoadSession = !s.is("no-load")
	return r, nil
}

func (s *scripted) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, nil
}

func (s *scripted) Cancel(context.Context, acp.CancelNotification) error { return nil }

func (s *scripted) NewSession(_ context.Context, r acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	if s.is("auth") {
		return acp.NewSessionResponse{}, acp.NewAuthRequired(map[string]any{"hint": "run login"})
	}
	id := fmt.Sprintf("session-%d", os.Getpid())
	if s.is("fixed-id") {
		id = "the-session"
	}
	return acp.NewSessionResponse{SessionId: acp.SessionId(id)}, s.remember(id, 0)
}

// LoadSession replays a history that is longer than what the SDK would queue.
func (s *scripted) LoadSession(ctx context.Context, r acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	if s.is("load-dies") {
		os.Exit(4)
	}
	if s.is("load-fails") {
		return acp.LoadSessionResponse{}, acp.NewInvalidParams("no such session")
	}
	if _, err := s.count(string(r.SessionId)); err != nil {
		return acp.LoadSessionResponse{}, acp.NewInvalidParams(err.Error())
	}
	if s.is("late-replay") {
		time.AfterFunc(20*time.Millisecond, func() {
			_ = s.update(context.Background(), r.SessionId, acp.UpdateAgentMessageText("replayed"))
		})
		return acp.LoadSessionResponse{}, nil
	}
	for range 3000 {
		if err := s.update(ctx, r.SessionId, acp.UpdateAgentMessageText("replayed ")); err != nil {
			return acp.LoadSessionResponse{}, err
		}
	}
	return acp.LoadSessionResponse{}, nil
}

func (s *scripted) file(id string) string { return filepath.Join(os.Getenv(stateVariable), id) }

func (s *scripted) remember(id string, n int) error {
	return os.WriteFile(s.file(id), []byte(strconv.Itoa(n)), 0o600)
}

func (s *scripted) count(id string) (int, error) {
	data, err := os.ReadFile(s.file(id))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(data))
}

func (s *scripted) update(ctx context.Context, id acp.SessionId, u acp.SessionUpdate) error {
	return s.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: id, Update: u})
}

func (s *scripted) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	n, err := s.count(string(p.SessionId))
	if err != nil {
		return acp.PromptResponse{}, err
	}
	if err := s.remember(string(p.SessionId), n+1); err != nil {
		return acp.PromptResponse{}, err
	}
	response := acp.PromptResponse{StopReason: acp.StopReasonEndTurn}
	for _, line := range strings.Split(p.Prompt[0].Text.Text, "\n") {
		verb, arg, _ := strings.Cut(line, " ")
		if err := s.do(ctx, p.SessionId, verb, arg, &response); err != nil {
			return response, err
		}
	}
	return response, nil
}

// do carries out one command. Its length is the list of what agents do.
func (s *scripted) do(ctx context.Context, id acp.SessionId, verb, arg string, response *acp.PromptResponse) error {
	say := func(text string) error { return s.update(ctx, id, acp.UpdateAgentMessageText(text)) }
	words := append(strings.Fields(arg), "", "", "")
	switch verb {
	case "say":
		return say(arg)
	case "think":
		return s.update(ctx, id, acp.UpdateAgentThoughtText(arg))
	case "tool":
		return s.update(ctx, id, acp.StartToolCall(acp.ToolCallId(words[0]), "Title of "+words[0],
			acp.WithStartKind(acp.ToolKind(words[1])), acp.WithStartStatus(acp.ToolCallStatusPending)))
	case "tool-done":
		return s.update(ctx, id, acp.UpdateToolCall(acp.ToolCallId(words[0]), acp.WithUpdateStatus(acp.ToolCallStatusCompleted)))
	case "plan":
		return s.update(ctx, id, acp.UpdatePlan(acp.PlanEntry{Content: arg, Status: acp.PlanEntryStatusPending, Priority: acp.PlanEntryPriorityHigh}))
	case "permit":
		return s.permit(ctx, id, callOf(words[0], words[1], ""), say)
	case "named":
		return s.permit(ctx, id, callOf("named", words[0], words[1]), say)
	case "quietly":
		_, title, _ := strings.Cut(arg, " ")
		return s.permit(ctx, id, callOf("quiet", words[0], title), func(string) error { return nil })
	case "late":
		ms, _ := strconv.Atoi(words[0])
		time.AfterFunc(time.Duration(ms)*time.Millisecond+afterAnswer, func() {
			_ = s.update(context.Background(), id, acp.UpdateAgentMessageText(words[1]))
		})
	case "raw":
		_, err := fmt.Println(strings.ReplaceAll(arg, "$S", string(id)))
		return err
	case "flood":
		n, _ := strconv.Atoi(arg)
		for i := range n {
			if err := say(fmt.Sprintf("%d ", i)); err != nil {
				return err
			}
		}
	case "large":
		n, _ := strconv.Atoi(arg)
		return say(strings.Repeat("x", n))
	case "count":
		n, err := s.count(string(id))
		return errors.Join(err, say(strconv.Itoa(n)))
	case "hold":
		<-ctx.Done()
		response.StopReason = acp.StopReasonCancelled
	case "hold-forever":
		select {}
	case "exit":
		code, _ := strconv.Atoi(arg)
		os.Exit(code)
	case "kill":
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "close-output":
		os.Stdout.Close()
		select {}
	case "env":
		value, ok := os.LookupEnv(arg)
		return say(fmt.Sprintf("%s=%q %v ", arg, value, ok))
	case "where":
		dir, err := os.Getwd()
		return errors.Join(err, say(dir))
	case "pid":
		return say(strconv.Itoa(os.Getpid()) + " ")
	case "spawn":
		pid, err := spawnSleeper(arg == "setsid")
		return errors.Join(err, say(strconv.Itoa(pid)+" "))
	case "stderr":
		fmt.Fprintln(os.Stderr, arg)
	case "stop":
		response.StopReason = acp.StopReason(arg)
	case "fail":
		code, _ := strconv.Atoi(words[0])
		return &acp.RequestError{Code: code, Message: words[1], Data: map[string]any{"details": "a & b " + os.Getenv("TEST_API_KEY")}}
	case "usage":
		response.Usage = &acp.Usage{InputTokens: 12, OutputTokens: 34, TotalTokens: 46}
	default:
		return fmt.Errorf("no command %q", verb)
	}
	return nil
}

// afterAnswer is more than it takes to answer a prompt.
const afterAnswer = 5 * time.Millisecond

func callOf(id, kind, title string) acp.ToolCallUpdate {
	call := acp.ToolCallUpdate{ToolCallId: acp.ToolCallId(id)}
	if kind != "-" {
		call.Kind = acp.Ptr(acp.ToolKind(kind))
	}
	if title != "" {
		call.Title = acp.Ptr(title)
	}
	return call
}

// permit asks for a permission and says the answer. With kind "-" the request names the
// tool call only by its id.
func (s *scripted) permit(ctx context.Context, session acp.SessionId, call acp.ToolCallUpdate, say func(string) error) error {
	options := []acp.PermissionOption{
		{Kind: acp.PermissionOptionKindAllowAlways, Name: "Always", OptionId: "allow-always"},
		{Kind: acp.PermissionOptionKindAllowOnce, Name: "Once", OptionId: "allow"},
		{Kind: acp.PermissionOptionKindRejectOnce, Name: "No", OptionId: "reject"},
	}
	r, err := s.conn.RequestPermission(ctx, acp.RequestPermissionRequest{SessionId: session, ToolCall: call, Options: options})
	if err != nil {
		return err
	}
	if r.Outcome.Selected == nil {
		return say("cancelled ")
	}
	return say(string(r.Outcome.Selected.OptionId) + " ")
}

// spawnSleeper starts a process that resists SIGTERM and holds the agent's output open.
func spawnSleeper(setsid bool) (int, error) {
	exe, err := os.Executable()
	if err != nil {
		return 0, err
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), roleVariable+"=sleeper")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: setsid}
	if err := c.Start(); err != nil {
		return 0, err
	}
	return c.Process.Pid, nil
}

// runRaw is an agent without an SDK. Its mode is a list of answers, one for each line that
// it reads; $ID is the request's id, CR a line break. It exits after an answer that ends in
// "exit", and reads no more at the answer "deaf".
func runRaw(in io.Reader, out io.Writer) {
	answers := strings.Split(os.Getenv(modeVariable), "\n")
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for i := 0; lines.Scan(); i++ {
		note(lines.Text())
		if i >= len(answers) {
			continue
		}
		if answers[i] == "deaf" {
			select {}
		}
		_, after, _ := strings.Cut(lines.Text(), `"id":`)
		id, _, _ := strings.Cut(after, ",")
		text, exit := strings.CutSuffix(answers[i], "exit")
		text = strings.NewReplacer("$ID", id, "\r", "\n").Replace(text)
		fmt.Fprint(out, text, "\n")
		if exit {
			os.Exit(0)
		}
	}
}

// note keeps what a raw agent was sent, for requests.
func note(line string) {
	f, err := os.OpenFile(filepath.Join(os.Getenv(stateVariable), "requests"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(f, line)
		f.Close()
	}
}

// runOwner is a program that uses an agent and is killed.
func runOwner() {
	exe, _ := os.Executable()
	a, err := New(Config{Name: "proto", Command: exe, Env: map[string]string{
		roleVariable: "scripted", modeVariable: "ignore-eof,ignore-term", stateVariable: os.Getenv(stateVariable)}})
	if err != nil {
		panic(err)
	}
	reply, err := a.Ask(context.Background(), delegate.Request{Prompt: "pid", Conversation: "thread"})
	fmt.Println(reply.Text, err)
	select {}
}
