package acpagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/coder/acp-go-sdk"
)

// errVersion says that the agent speaks another version of the protocol.
var errVersion = errors.New("protocol version mismatch")

// initialize opens the connection (protocol document "Initialization"). It offers neither
// file system nor terminal, because this client has none to offer.
func (p *process) initialize(ctx context.Context) (acp.InitializeResponse, error) {
	var hello acp.InitializeResponse
	err := p.request(ctx, acp.AgentMethodInitialize, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "langrooms", Version: version()},
	}, &hello)
	if err == nil && hello.ProtocolVersion != acp.ProtocolVersionNumber {
		err = fmt.Errorf("%w: the agent speaks version %d of ACP, this client %d", errVersion, hello.ProtocolVersion, acp.ProtocolVersionNumber)
	}
	return hello, err
}

// session is a process with an open session.
type session struct {
	*process
	id string
	// stored says that the session's id is in the store of sessions.
	stored bool
}

// openSession starts a process and opens a session: the known one, where there is one
// and the agent can load it, else a new one. step names what was being done when it
// failed. The process, when it is not nil, is left to the caller also with an error.
func openSession(ctx context.Context, c Config, known string) (s *session, step string, err error) {
	p, err := start(c)
	if err != nil {
		return nil, "", err
	}
	s = &session{process: p}
	hello, err := p.initialize(ctx)
	if err != nil {
		return s, acp.AgentMethodInitialize, err
	}
	if known != "" && hello.AgentCapabilities.LoadSession {
		err := s.load(ctx, known)
		if err == nil || !notLoadable(err) {
			return s, acp.AgentMethodSessionLoad, err
		}
	}
	return s, acp.AgentMethodSessionNew, s.create(ctx)
}

// load re-attaches to an earlier session. The history that the agent replays on it finds no turn
// and is dropped.
func (s *session) load(ctx context.Context, id string) error {
	s.id = id
	var any json.RawMessage
	return s.request(ctx, acp.AgentMethodSessionLoad, acp.LoadSessionRequest{
		SessionId: acp.SessionId(id), Cwd: s.config.WorkDir, McpServers: []acp.McpServer{},
	}, &any)
}

// notLoadable reports whether the agent has refused to load a session: it may have
// forgotten it. Its wish for authentication is not that.
func notLoadable(err error) bool {
	var refused *acp.RequestError
	return errors.As(err, &refused) && refused.Code != codeAuthRequired
}

// fatal reports whether loading a session has ended or stopped the agent.
func fatal(err error) bool {
	var late *timeout
	return errors.Is(err, errLost) || errors.Is(err, errUnreadable) || errors.As(err, &late)
}

func (s *session) create(ctx context.Context) error {
	var opened acp.NewSessionResponse
	err := s.request(ctx, acp.AgentMethodSessionNew, acp.NewSessionRequest{
		Cwd: s.config.WorkDir, McpServers: []acp.McpServer{},
	}, &opened)
	if err == nil && opened.SessionId == "" {
		err = fmt.Errorf("%w: session/new: no session id", errUnreadable)
	}
	s.id = string(opened.SessionId)
	return err
}

// version is this module's version as the program was built with it.
func version() string {
	const module = "github.com/langrooms/langrooms"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module && m.Version != "" {
			return m.Version
		}
	}
	return "unknown"
}
