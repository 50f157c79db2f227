package main

import (
	"fmt"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/langrooms/langrooms/internal/redistest"
)

// A task that works at one process is looked at, followed and canceled at another one that serves
// the same store.
func TestA2ATaskAtAnotherProcess(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	slow, asked, letGo := held(t, "at last")
	defer letGo()
	f := folder(t, says(t, "hi"), fmt.Sprintf("checkpointer: { url: \"redis://%s/0\" }\n", redistest.Start(t).Addr)+roster(openaiEntry("slow", slow)))
	here, there := serve(t, f), serve(t, f)
	client := func(s *served) *a2aclient.Client {
		c, err := a2aclient.NewFromEndpoints(t.Context(), []*a2a.AgentInterface{{URL: s.url + "/a2a",
			ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version}}, a2aclient.WithJSONRPCTransport(nil))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	atHere, atThere := client(here), client(there)
	ended := make(chan a2a.TaskState, 2)
	ids := make(chan a2a.TaskID, 1)
	go func() {
		var last a2a.TaskState
		told := false
		for e, err := range atHere.SendStreamingMessage(t.Context(), &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("@slow well?"))}) {
			if err != nil {
				t.Errorf("the task's own stream: %v", err)
				break
			}
			if id := e.TaskInfo().TaskID; id != "" && !told {
				told = true
				ids <- id
			}
			last = stateOf(e, last)
		}
		ended <- last
	}()
	id := <-ids
	<-asked
	task, err := atThere.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id})
	if err != nil || task.Status.State.Terminal() {
		t.Fatalf("looked at elsewhere: %+v, %v", task, err)
	}
	following := make(chan struct{})
	go func() {
		var last a2a.TaskState
		first := true
		for e, err := range atThere.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: id}) {
			if first {
				first = false
				close(following)
			}
			if err != nil {
				t.Errorf("following it elsewhere: %v", err)
				break
			}
			last = stateOf(e, last)
		}
		ended <- last
	}()
	<-following
	if _, err := atThere.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: id}); err != nil {
		t.Errorf("canceled elsewhere: %v", err)
	}
	for range 2 {
		expect(t, "how the task ended", a2a.TaskStateCanceled, <-ended)
	}
	here.end(t)
	there.end(t)
}

// stateOf is the state of the task as an event tells it.
func stateOf(e a2a.Event, last a2a.TaskState) a2a.TaskState {
	switch e := e.(type) {
	case *a2a.Task:
		return e.Status.State
	case *a2a.TaskStatusUpdateEvent:
		return e.Status.State
	}
	return last
}
