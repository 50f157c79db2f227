package acpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/coder/acp-go-sdk"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

// Config wires a [Server].
type Config struct {
	// Saver holds the threads. Required.
	Saver checkpointer.Saver
	// Runs takes the turns. Required.
	Runs *runs.Manager
	// Who returns the answer to /who. Required.
	Who func() string
	// Caller is whose threads are seen and made.
	Caller thread.Caller
	// Lead is the lead's name; nil or empty means "assistant".
	Lead func() string
	// Hidden reports whether a thread is none of this door's, as a shared session; nil hides none.
	Hidden func(thread string) bool
	// Self names this installation in traces; see delegate.Trace. Empty notices no cycles.
	Self string
	// Dir is the working folder that sessions are listed with.
	Dir string
	// Version is the program's.
	Version string
}

// Server is the agent's side of one connection. Make one with [New].
type Server struct {
	cfg    Config
	conn   *acp.AgentSideConnection
	beside sync.WaitGroup

	// turns are the prompts under way; none begins any more once gone is set.
	turns sync.WaitGroup

	mu     sync.Mutex
	gone   bool
	modes  map[string]acp.SessionModeId
	unsaid map[string]bool // sessions whose commands have not been told
}

// New returns a server. It does no I/O.
func New(cfg Config) (*Server, error) {
	switch {
	case cfg.Saver == nil:
		return nil, errors.New("acpserver: Config.Saver is nil")
	case cfg.Runs == nil:
		return nil, errors.New("acpserver: Config.Runs is nil")
	case cfg.Who == nil:
		return nil, errors.New("acpserver: Config.Who is nil")
	}
	return &Server{cfg: cfg, modes: map[string]acp.SessionModeId{}, unsaid: map[string]bool{}}, nil
}

// Serve speaks with a client until it closes its side or ctx ends. Prompts that are under way
// when the client goes are stopped, as a client's that has gone, and waited for; what ctx ends
// is stopped by whoever closes the runs.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ready := make(chan struct{})
	s.conn = acp.NewAgentSideConnection(s, &announcer{s, out}, &gated{ready, in})
	s.conn.SetLogger(slog.New(slog.DiscardHandler))
	close(ready)
	var err error
	select {
	case <-s.conn.Done():
		s.leave()
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.beside.Wait()
	return err
}

// enter counts a prompt in; it is false when the client has gone.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return false
	}
	s.turns.Add(1)
	return true
}

// leave waits for the prompts of a client that has gone; [Server.follow] stops them.
func (s *Server) leave() {
	s.mu.Lock()
	s.gone = true
	s.mu.Unlock()
	s.turns.Wait()
}

// gated is a reader that starts when ready is closed: the SDK reads from its first moment on.
type gated struct {
	ready chan struct{}
	io.Reader
}

func (g *gated) Read(p []byte) (int, error) {
	<-g.ready
	return g.Reader.Read(p)
}

// announcer tells a new session's commands once the client has been told of the session.
type announcer struct {
	s *Server
	io.Writer
}

func (a *announcer) Write(p []byte) (int, error) {
	n, err := a.Writer.Write(p)
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	for id := range a.s.unsaid {
		if err == nil && bytes.Contains(p, []byte(`"result"`)) && bytes.Contains(p, []byte(id)) {
			delete(a.s.unsaid, id)
			a.s.beside.Go(func() { a.s.tellCommands(id) }) // the writer is held
		}
	}
	return n, err
}

// The session modes.
const (
	// modeRoom: "@name" addresses delegates, and the lead answers everything else.
	modeRoom acp.SessionModeId = "room"
	// modeLead: the lead answers everything.
	modeLead acp.SessionModeId = "lead"
)

func (s *Server) mode(id string) acp.SessionModeId {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.modes[id]; m != "" {
		return m
	}
	return modeRoom
}

func (s *Server) modeState(id string) *acp.SessionModeState {
	mode := func(id acp.SessionModeId, name, description string) acp.SessionMode {
		return acp.SessionMode{Id: id, Name: name, Description: &description}
	}
	return &acp.SessionModeState{CurrentModeId: s.mode(id), AvailableModes: []acp.SessionMode{
		mode(modeRoom, "Room", "@name addresses delegates; the lead answers everything else"),
		mode(modeLead, "Lead", "the lead answers everything")}}
}

// Initialize implements acp.Agent.
func (s *Server) Initialize(context.Context, acp.InitializeRequest) (acp.InitializeResponse, error) {
	return acp.InitializeResponse{
		ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo:       &acp.Implementation{Name: "langrooms", Version: s.cfg.Version},
		AuthMethods:     []acp.AuthMethod{},
		AgentCapabilities: acp.AgentCapabilities{
			Meta: map[string]any{delegate.TraceMeta: true}, LoadSession: true,
			PromptCapabilities:  acp.PromptCapabilities{EmbeddedContext: true, Image: true, Audio: true},
			SessionCapabilities: acp.SessionCapabilities{List: &acp.SessionListCapabilities{}, Resume: &acp.SessionResumeCapabilities{}, Close: &acp.SessionCloseCapabilities{}},
		}}, nil
}

// lead is the lead's name.
func (s *Server) lead() string {
	if s.cfg.Lead != nil && s.cfg.Lead() != "" {
		return s.cfg.Lead()
	}
	return langrooms.Assistant
}

// update tells the client something of a session. A client that has gone is told nothing.
func (s *Server) update(ctx context.Context, id string, u acp.SessionUpdate) {
	_ = s.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: acp.SessionId(id), Update: u})
}
