//go:build unix

package demo

import (
	"context"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
)

// immediately sends a message and returns its task, still working.
func immediately(t *testing.T, c *a2aclient.Client) *a2a.Task {
	t.Helper()
	req := sending("what is new?", "")
	req.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
	result, err := c.SendMessage(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	task, ok := result.(*a2a.Task)
	if !ok || task.Status.State.Terminal() {
		t.Fatalf("got %#v", result)
	}
	return task
}

func TestCancelTaskEndsTheCommand(t *testing.T) {
	dir, running := slowProgram(t, "git")
	p := start(t, dir)
	c, _ := a2aPeer(t, p, p.Key())
	task := immediately(t, c)
	pids := running()
	canceled, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID})
	if err != nil || canceled.Status.State != a2a.TaskStateCanceled {
		t.Errorf("got %+v, %v", canceled, err)
	}
	gone(t, pids)
}

func TestCloseEndsATaskThatNobodyWaitsFor(t *testing.T) {
	dir, running := slowProgram(t, "git")
	p, err := Start(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := a2aPeer(t, p, p.Key())
	immediately(t, c)
	pids := running()
	begun := time.Now()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > closeGrace {
		t.Errorf("close took %v", took)
	}
	gone(t, pids)
}
