package demo

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// a2aName is the agent that is served over A2A. A card stands at an origin, so one origin
// serves one agent.
const a2aName = "reviewer"

// a2aPath is its JSON-RPC endpoint.
const a2aPath = "/a2a/" + a2aName

// cardPath is where the agent card is, open to all (A2A 1.0, "Agent discovery").
const cardPath = a2asrv.WellKnownAgentCardPath

// a2aServer runs one agent's tasks (A2A 1.0). A task outlives the request that began it and
// ends with the server at the latest.
type a2aServer struct {
	agent    agent
	dir      string
	life     context.Context // ends with the server
	memories memories

	mu    sync.Mutex
	tasks sync.WaitGroup
}

var _ a2asrv.AgentExecutor = (*a2aServer)(nil)

// handler serves the JSON-RPC binding.
func (s *a2aServer) handler() http.Handler {
	requests := a2asrv.NewHandler(s, a2asrv.WithLogger(slog.New(slog.DiscardHandler)), a2asrv.WithCallInterceptors(gate{}))
	return http.MaxBytesHandler(a2asrv.NewJSONRPCHandler(requests), maxRequest)
}

// gate lets in what speaks the version that the card offers, or says nothing of a version (A2A
// 1.0, 3.6), and tells the library who calls: the one who has the key, which is looked at
// before.
type gate struct {
	a2asrv.PassthroughCallInterceptor
}

// Before implements [a2asrv.CallInterceptor].
func (gate) Before(ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, any, error) {
	versions, _ := call.ServiceParams().Get(a2a.SvcParamVersion)
	for _, v := range versions {
		if v != "" && v != string(a2a.Version) {
			return ctx, nil, fmt.Errorf("this agent speaks A2A %s: %w", a2a.Version, a2a.ErrVersionNotSupported)
		}
	}
	call.User = a2asrv.NewAuthenticatedUser("demo", nil)
	return ctx, nil, nil
}

// card describes the agent at an origin.
func (s *a2aServer) card(origin string) *a2a.AgentCard {
	return &a2a.AgentCard{
		Name:                s.agent.name,
		Description:         s.agent.description + " (a demo agent)",
		Version:             "1",
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(origin+a2aPath, a2a.TransportProtocolJSONRPC)},
		Capabilities:        a2a.AgentCapabilities{Streaming: true},
		DefaultInputModes:   []string{"text/plain"},
		DefaultOutputModes:  []string{"text/plain"},
		SecuritySchemes: a2a.NamedSecuritySchemes{
			"bearer": a2a.HTTPAuthSecurityScheme{Scheme: "Bearer"},
		},
		SecurityRequirements: a2a.SecurityRequirementsOptions{{"bearer": a2a.SecuritySchemeScopes{}}},
		Skills: []a2a.AgentSkill{{
			ID: s.agent.name, Name: s.agent.name, Description: s.agent.description, Tags: []string{"demo"},
		}},
	}
}

// begin registers a task, unless the server is ending.
func (s *a2aServer) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return fmt.Errorf("the demo agent is ending: %w", a2a.ErrServerError)
	}
	s.tasks.Add(1)
	return nil
}

// wait waits for all tasks. The server's life must have ended.
func (s *a2aServer) wait() {
	s.mu.Lock() // a task that begins now has seen that
	defer s.mu.Unlock()
	s.tasks.Wait()
}

// Execute answers one message as a task: working, with each step as its status message,
// then the answer as an artifact.
func (s *a2aServer) Execute(ctx context.Context, in *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if err := s.begin(); err != nil {
			yield(nil, err)
			return
		}
		defer s.tasks.Done()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.life, cancel)()
		open := true
		s.execute(ctx, in, func(e a2a.Event) bool {
			open = open && yield(e, nil)
			return open
		})
	}
}

func (s *a2aServer) execute(ctx context.Context, in *a2asrv.ExecutorContext, send func(a2a.Event) bool) {
	status := func(state a2a.TaskState, words string) bool {
		var m *a2a.Message
		if words != "" {
			m = a2a.NewMessageForTask(a2a.MessageRoleAgent, in, a2a.NewTextPart(words))
		}
		return send(a2a.NewStatusUpdateEvent(in, state, m))
	}
	step := func(ctx context.Context, title string) error {
		if !status(a2a.TaskStateWorking, title) {
			return context.Canceled // nobody takes events any more
		}
		return ctx.Err()
	}
	if in.StoredTask == nil && !send(a2a.NewSubmittedTask(in, in.Message)) {
		return
	}
	if !status(a2a.TaskStateWorking, "") {
		return
	}
	asked := situation{prompt: parsePrompt(messageText(in.Message)), dir: s.dir, step: step}
	text, err := s.agent.reply(ctx, asked, s.memories.of(in.ContextID))
	if err != nil {
		status(a2a.TaskStateFailed, "The demo agent was stopped.")
		return
	}
	if send(a2a.NewArtifactEvent(in, a2a.NewTextPart(text))) {
		status(a2a.TaskStateCompleted, "")
	}
}

// Cancel says that a task is canceled; the library then ends the context of its Execute.
func (s *a2aServer) Cancel(_ context.Context, in *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(in, a2a.TaskStateCanceled, nil), nil)
	}
}

// messageText joins the text parts of a message.
func messageText(m *a2a.Message) string {
	if m == nil {
		return ""
	}
	var texts []string
	for _, p := range m.Parts {
		if text := p.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}
