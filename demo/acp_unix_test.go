//go:build unix

package demo

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/coder/acp-go-sdk"
)

// prompted starts a prompt that hangs in the go tool and returns its processes and end.
func prompted(t *testing.T) (c *acpPeer, id acp.SessionId, pids []int, stopped chan acp.StopReason) {
	t.Helper()
	dir, running := slowProgram(t, "go")
	c = startACP(t, "proto", true)
	id, stopped = c.session(t, dir), make(chan acp.StopReason, 1)
	ctx := t.Context()
	go func() {
		resp, err := c.conn.Prompt(ctx, acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock("hi")}})
		if err != nil {
			resp.StopReason = acp.StopReason(err.Error())
		}
		stopped <- resp.StopReason
	}()
	return c, id, running(), stopped
}

func TestSessionCancelEndsTheCommand(t *testing.T) {
	c, id, pids, stopped := prompted(t)
	if err := c.conn.Cancel(t.Context(), acp.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if reason := <-stopped; reason != acp.StopReasonCancelled {
		t.Errorf("stop reason %q", reason)
	}
	gone(t, pids)
}

func TestTheEndOfInputEndsAgentAndCommand(t *testing.T) {
	c, _, pids, stopped := prompted(t)
	c.end(t)
	<-stopped
	gone(t, pids)
}

func TestSIGTERMEndsAgentAndCommand(t *testing.T) {
	c, _, pids, stopped := prompted(t)
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-stopped
	c.end(t)
	gone(t, pids)
}

// A killed agent can end nothing any more; Linux ends its command.
func TestAKilledAgentTakesTheCommandWithIt(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a command with its parent")
	}
	c, _, pids, stopped := prompted(t)
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-stopped
	if err := c.cmd.Wait(); err == nil {
		t.Error("a killed agent ended well")
	}
	c.cmd = nil
	gone(t, pids[:1])
	if err := syscall.Kill(pids[1], syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}
