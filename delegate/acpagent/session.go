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

// hello is the part of an answer to initialize that is used.
type hello struct {
	ProtocolVersion acp.ProtocolVersion `json:"protocolVersion"`
	AgentInfo       *acp.Implementation `json:"agentInfo"`
	AuthMethods     []authMethod        `json:"authMethods"`
	Capabilities    struct {
		Meta        map[string]json.RawMessage `json:"_meta"`
		LoadSession bool                       `json:"loadSession"`
		MCP         struct {
			HTTP bool `json:"http"`
		} `json:"mcpCapabilities"`
		Session struct {
			Resume *struct{} `json:"resume"`
		} `json:"sessionCapabilities"`
		Prompt struct {
			Image    bool `json:"image"`
			Audio    bool `json:"audio"`
			Embedded bool `json:"embeddedContext"`
		} `json:"promptCapabilities"`
	} `json:"agentCapabilities"`
}

// initialize opens the connection (protocol document "Initialization"). It offers neither
// file system nor terminal, because this client has none to offer.
func (p *process) initialize(ctx context.Context) (hello, error) {
	var h hello
	err := p.request(ctx, acp.AgentMethodInitialize, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "langrooms", Version: version()},
	}, &h)
	if err == nil && h.ProtocolVersion != acp.ProtocolVersionNumber {
		err = fmt.Errorf("%w: the agent speaks version %d of ACP, this client %d", errVersion, h.ProtocolVersion, acp.ProtocolVersionNumber)
	}
	return h, err
}

// session is a process with an open session.
type session struct {
	*process
	id    string
	hello hello
	// epoch is that of the conversation: in the next one the session is not gone on with.
	epoch string
	// stored says that the session's id is in the store of sessions.
	stored bool
	// fresh says that nothing has been asked in the session yet, and forgotten that the
	// agent would not take up the one that was to be gone on with.
	fresh, forgotten bool
	// stale says that words of before may still come: those of a replay, or of a turn that
	// was broken off.
	stale bool
	// allowed are the tool calls that a person has allowed for the conversation.
	allowed map[grant]bool
	// spent is what the session has cost in US dollars; nil when that is unknown.
	spent *float64
}

// openSession starts a process and opens a session: the known one, where there is one
// and the agent can load it, else a new one. step names what was being done when it
// failed. The process, when it is not nil, is left to the caller also with an error.
func openSession(ctx context.Context, c Config, known string) (s *session, step string, err error) {
	p, err := start(c)
	if err != nil {
		return nil, "", err
	}
	s = &session{process: p, allowed: make(map[grant]bool)}
	if s.hello, err = p.initialize(ctx); err != nil {
		return s, acp.AgentMethodInitialize, err
	}
	if c.AuthMethod != "" {
		if err := s.authenticate(ctx, c.AuthMethod); err != nil {
			return s, acp.AgentMethodAuthenticate, err
		}
	}
	step, err = s.open(ctx, known)
	if id, ok := s.unattended(err); ok && c.AuthMethod == "" {
		if err := s.authenticate(ctx, id); err != nil {
			return s, acp.AgentMethodAuthenticate, err
		}
		step, err = s.open(ctx, known)
	}
	return s, step, err
}

// open opens the known session or a new one.
func (s *session) open(ctx context.Context, known string) (step string, err error) {
	servers, err := s.config.servers(s.hello.Capabilities.MCP.HTTP)
	if err != nil {
		return acp.AgentMethodSessionNew, err
	}
	if step = s.reattach(); known != "" && step != "" {
		err := s.load(ctx, step, known, servers)
		if err == nil || !notLoadable(err) {
			return step, err
		}
	}
	s.forgotten = known != ""
	return acp.AgentMethodSessionNew, s.create(ctx, servers)
}

// reattach is the method by which the agent takes up a session of before; empty when it
// has none.
func (s *session) reattach() string {
	switch {
	case s.hello.Capabilities.LoadSession:
		return acp.AgentMethodSessionLoad
	case s.hello.Capabilities.Session.Resume != nil:
		return acp.AgentMethodSessionResume
	}
	return ""
}

// load takes up an earlier session. The history that the agent replays on it finds no turn
// and is dropped.
func (s *session) load(ctx context.Context, method, id string, servers []acp.McpServer) error {
	var state sessionState
	err := s.command(ctx, method, acp.LoadSessionRequest{SessionId: acp.SessionId(id), Cwd: s.config.WorkDir, McpServers: servers}, &state)
	if err != nil {
		return err
	}
	s.id, s.stale = id, true
	return s.choose(ctx, state)
}

// notLoadable reports whether the agent has refused to load a session: it may have
// forgotten it. Its wish for authentication is not that.
func notLoadable(err error) bool {
	var refused *acp.RequestError
	return errors.As(err, &refused) && refused.Code != codeAuthRequired && !errors.Is(err, errConfig)
}

// fatal reports whether loading a session has ended or stopped the agent.
func fatal(err error) bool {
	var late *timeout
	return errors.Is(err, errLost) || errors.Is(err, errUnreadable) || errors.As(err, &late)
}

func (s *session) create(ctx context.Context, servers []acp.McpServer) error {
	var state sessionState
	err := s.request(ctx, acp.AgentMethodSessionNew, acp.NewSessionRequest{Cwd: s.config.WorkDir, McpServers: servers}, &state)
	if err != nil {
		return err
	}
	if state.SessionID == "" {
		return fmt.Errorf("%w: session/new: no session id", errUnreadable)
	}
	s.id, s.fresh, s.spent = state.SessionID, true, new(float64)
	return s.choose(ctx, state)
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
