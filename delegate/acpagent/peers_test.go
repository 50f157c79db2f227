package acpagent

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

// peerConfig describes the agent on the TypeScript SDK. Without Node.js or its packages
// the test is skipped, except in CI.
func peerConfig(t *testing.T) Config {
	t.Helper()
	folder, err := filepath.Abs("../../internal/peers/acp")
	if err != nil {
		t.Fatal(err)
	}
	_, noNode := exec.LookPath("node")
	_, noPackages := os.Stat(filepath.Join(folder, "node_modules"))
	if noNode != nil || noPackages != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("in CI the peer must be there: %v, %v", noNode, noPackages)
		}
		t.Skip("no Node.js, or no `npm ci` in internal/peers/acp")
	}
	return Config{Name: "peer", Command: "node", Args: []string{filepath.Join(folder, "agent.js")},
		Env: map[string]string{"STATE": t.TempDir()}, Sessions: delegate.NewMemoryContinuity(), Permissions: PermissionsReadonly}
}

func TestTypeScriptAgent(t *testing.T) {
	c := peerConfig(t)
	a := newAgent(t, c)
	health, err := a.Probe(t.Context())
	if err != nil || health.Version != "peer 0.1.0" || health.Protocol != "ACP 1" {
		t.Errorf("Probe = %+v, %v", health, err)
	}
	if reply := ask(t, a, "think hm", "say one ", "permit read", "permit execute", "say  two"); reply.Text != "one yesno two" {
		t.Errorf("the reply is %q", reply.Text)
	}
	if e := askFails(t, a, delegate.Request{Prompt: "dance", Conversation: "thread"}); e.Kind != delegate.KindFailed || !strings.Contains(e.Cause(), "no command dance") {
		t.Errorf("an error: %v %v", e.Kind, e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = a.Ask(ctx, delegate.Request{Prompt: "say x\nhold", Conversation: "thread", Progress: onText(cancel)})
	if e := delegate.AsError("", err); e.Kind != delegate.KindCanceled {
		t.Errorf("stopped: %v", err)
	}
	a = restart(t, a, c)
	if reply := ask(t, a, "count"); reply.Text != "4" {
		t.Errorf("after a restart the session is at message %q, want 4", reply.Text)
	}
}
