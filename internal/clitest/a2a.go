package clitest

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// Task is one task at an [Agent].
type Task struct {
	// Ctx ends when the task is canceled or the agent ends.
	Ctx context.Context
	// Text is the message, Context the conversation that the client asked for, if any,
	// Assigned the one that it is in.
	Text, Context, Assigned string
	// Token is the bearer credential that came with it, TraceParent its place in a trace.
	Token, TraceParent string
}

// TaskEnd is how a task ends, or pauses.
type TaskEnd struct {
	Text  string
	State a2a.TaskState
}

// Completed is the end of a task that answers.
func Completed(text string) TaskEnd { return TaskEnd{text, a2a.TaskStateCompleted} }

// Paused is a task that asks for input.
func Paused(question string) TaskEnd { return TaskEnd{question, a2a.TaskStateInputRequired} }

// Agent is a peer that speaks A2A 1.0.
type Agent struct {
	// URL is its endpoint.
	URL string

	do    func(Task) TaskEnd
	mu    sync.Mutex
	tasks []Task
}

// NewAgent serves do until the end of t. While do runs its task is working.
func NewAgent(t testing.TB, do func(Task) TaskEnd) *Agent {
	agent := &Agent{do: do}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	agent.URL = server.URL + "/a2a"
	requests := a2asrv.NewHandler(agent, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	mux.Handle("/a2a", a2asrv.NewJSONRPCHandler(requests))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(&a2a.AgentCard{
		Name: "peer", Description: "a peer", Version: "7",
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(agent.URL, a2a.TransportProtocolJSONRPC)},
		DefaultInputModes:   []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return agent
}

// Tasks returns the tasks so far.
func (a *Agent) Tasks() []Task {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Task(nil), a.tasks...)
}

// Execute runs one task.
func (a *Agent) Execute(ctx context.Context, in *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		task := Task{Ctx: ctx, Context: in.Message.ContextID, Assigned: in.ContextID}
		for _, p := range in.Message.Parts {
			task.Text += p.Text()
		}
		if call, ok := a2asrv.CallContextFrom(ctx); ok {
			if values, _ := call.ServiceParams().Get("Authorization"); len(values) > 0 {
				task.Token = values[0]
			}
			if values, _ := call.ServiceParams().Get("traceparent"); len(values) > 0 {
				task.TraceParent = values[0]
			}
		}
		a.mu.Lock()
		a.tasks = append(a.tasks, task)
		a.mu.Unlock()
		if in.StoredTask == nil && !yield(a2a.NewSubmittedTask(in, in.Message), nil) {
			return
		}
		if !yield(a2a.NewStatusUpdateEvent(in, a2a.TaskStateWorking, nil), nil) {
			return
		}
		end := a.do(task)
		if end.State != a2a.TaskStateCompleted {
			words := a2a.NewMessageForTask(a2a.MessageRoleAgent, in, a2a.NewTextPart(end.Text))
			yield(a2a.NewStatusUpdateEvent(in, end.State, words), nil)
			return
		}
		if yield(a2a.NewArtifactEvent(in, a2a.NewTextPart(end.Text)), nil) {
			yield(a2a.NewStatusUpdateEvent(in, a2a.TaskStateCompleted, nil), nil)
		}
	}
}

// Cancel says that a task is canceled.
func (a *Agent) Cancel(_ context.Context, in *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(in, a2a.TaskStateCanceled, nil), nil)
	}
}
