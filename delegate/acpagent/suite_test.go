package acpagent

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/delegatetest"
)

func TestSuite(t *testing.T) {
	delegatetest.Run(t, delegatetest.Harness{
		Streams: true,
		Except: map[string]string{
			"conversation-lost":  "an agent that lives keeps its sessions; TestNewConversationIsSaidAndOpened shows one that is started again",
			"credential-refused": noHTTP, "credential-probed": noHTTP, "busy": noHTTP, "busy-once": noHTTP, "busy-long": noHTTP, "elsewhere": noHTTP,
		},
		Start: func(t testing.TB, script delegatetest.Script) delegate.Delegate {
			c := testConfig(t, "suite", script.Encode())
			c.Env["TEST_API_KEY"] = script.Secret
			c.Preamble = script.Preamble
			if script.Late != "" {
				c.lateGrace = defaultLateGrace
			}
			if script.Leave != "" {
				c.Permissions = PermissionsAsk
			}
			a, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			return a
		},
		Absent: func(t testing.TB) delegate.Delegate {
			a, err := New(Config{Name: "proto", Command: "no-such-agent"})
			if err != nil {
				t.Fatal(err)
			}
			return a
		},
	})
}

const noHTTP = "an agent is a process that is spoken to through its pipes"

// suitePeer is an agent that follows a script of the suite.
type suitePeer struct {
	acp.Agent
	conn   *acp.AgentSideConnection
	script delegatetest.Script
	mu     sync.Mutex
	counts map[acp.SessionId]int
}

func runSuitePeer() {
	script, err := delegatetest.DecodeScript(os.Getenv(modeVariable))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	p := &suitePeer{script: script, counts: make(map[acp.SessionId]int)}
	in := &gated{make(chan struct{}), os.Stdin}
	p.conn = acp.NewAgentSideConnection(p, os.Stdout, in)
	close(in.ready) // the SDK uses its connection before it is set
	<-p.conn.Done()
}

func (p *suitePeer) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	r := acp.InitializeResponse{ProtocolVersion: 1}
	r.AgentCapabilities.PromptCapabilities.Image = delegate.Takes(p.script.Accepts, "image/png")
	return r, nil
}

func (p *suitePeer) Cancel(context.Context, acp.CancelNotification) error { return nil }

func (p *suitePeer) NewSession(context.Context, acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	return acp.NewSessionResponse{SessionId: "the-session"}, nil
}

func (p *suitePeer) Prompt(ctx context.Context, r acp.PromptRequest) (acp.PromptResponse, error) {
	p.mu.Lock()
	p.counts[r.SessionId]++
	m := delegatetest.Message{Prompt: r.Prompt[0].Text.Text, Nth: p.counts[r.SessionId]}
	p.mu.Unlock()
	for _, b := range r.Prompt[1:] {
		if b.Image != nil {
			data, _ := base64.StdEncoding.DecodeString(b.Image.Data) // what is none is seen to be missing
			m.Files = append(m.Files, delegate.File{MIMEType: b.Image.MimeType, Data: data})
		}
	}
	if p.script.Leave != "" && !p.allowed(ctx, r.SessionId) {
		return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}
	if p.script.Thought != "" {
		if err := writeChunk(string(r.SessionId), "agent_thought_chunk", []byte(p.script.Thought)); err != nil {
			return acp.PromptResponse{}, err
		}
	}
	said := false
	err := p.script.Play(ctx, m, func(piece []byte) error {
		if p.script.Apart && said {
			if err := writeToolCall(string(r.SessionId)); err != nil {
				return err
			}
		}
		said = true
		return writeChunk(string(r.SessionId), "agent_message_chunk", piece)
	})
	var failure *delegatetest.Failure
	switch {
	case err == nil:
		if p.script.Late != "" {
			time.AfterFunc(lateBy, func() { writeChunk(string(r.SessionId), "agent_message_chunk", []byte(p.script.Late)) })
		}
		if f := p.script.Returns; f != nil {
			if err := p.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: r.SessionId, Update: acp.UpdateAgentMessage(
				acp.ResourceBlock(acp.EmbeddedResourceResource{BlobResourceContents: &acp.BlobResourceContents{
					Uri: "file:///" + f.Name, MimeType: &f.MIMEType, Blob: base64.StdEncoding.EncodeToString(f.Data)}}))}); err != nil {
				return acp.PromptResponse{}, err
			}
		}
		response := acp.PromptResponse{StopReason: acp.StopReasonEndTurn}
		if u := p.script.Usage; u != nil {
			response.Usage = &acp.Usage{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, TotalTokens: u.InputTokens + u.OutputTokens}
		}
		return response, nil
	case errors.As(err, &failure):
		return acp.PromptResponse{}, acp.NewInternalError(failure.Words)
	case errors.Is(err, delegatetest.ErrDie):
		os.Exit(1)
	}
	return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
}

// lateBy is how long after its answer the peer's last words come.
const lateBy = 20 * time.Millisecond

// allowed asks the client for what the script asks leave for.
func (p *suitePeer) allowed(ctx context.Context, session acp.SessionId) bool {
	kind := acp.ToolKindExecute
	got, err := p.conn.RequestPermission(ctx, acp.RequestPermissionRequest{SessionId: session,
		ToolCall: acp.ToolCallUpdate{ToolCallId: "1", Title: &p.script.Leave, Kind: &kind},
		Options: []acp.PermissionOption{{OptionId: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce},
			{OptionId: "no", Name: "No", Kind: acp.PermissionOptionKindRejectOnce}}})
	return err == nil && got.Outcome.Selected != nil && got.Outcome.Selected.OptionId == "yes"
}

// writeChunk sends one chunk past the SDK, which would repair bytes that are no UTF-8.
func writeChunk(session, kind string, piece []byte) error {
	var text bytes.Buffer
	for _, b := range piece {
		switch {
		case b == '"' || b == '\\':
			text.WriteByte('\\')
			text.WriteByte(b)
		case b < ' ':
			fmt.Fprintf(&text, `\u%04x`, b)
		default:
			text.WriteByte(b)
		}
	}
	_, err := fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":{"sessionUpdate":"%s","content":{"type":"text","text":"%s"}}}}`+"\n",
		strconv.Quote(session), kind, text.Bytes())
	return err
}

// writeToolCall parts two messages.
func writeToolCall(session string) error {
	_, err := fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"read","kind":"read","status":"completed"}}}`+"\n",
		strconv.Quote(session))
	return err
}
