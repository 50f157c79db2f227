package acpagent_test

import (
	"context"
	"fmt"
	"time"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/acpagent"
)

// An agent whose program is not installed: New starts nothing, so the first Ask tells.
func Example() {
	agent, err := acpagent.New(acpagent.Config{
		Name:        "claude-code",
		Description: "writes and reviews code in this folder",
		Command:     "claude-code-acp-that-is-not-installed",
		EnvRemove:   []string{"CLAUDECODE", "CLAUDE_CODE_"},
		Permissions: acpagent.PermissionsAllowlist,
		Timeout:     10 * time.Minute,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer agent.Close()
	_, err = agent.Ask(context.Background(), delegate.Request{Prompt: "What broke?", Conversation: "main"})
	failed := delegate.AsError("claude-code", err)
	fmt.Println(failed.Kind)
	fmt.Println(failed)
	// Output:
	// unreachable
	// Delegate @claude-code failed: command: claude-code-acp-that-is-not-installed: executable file not found in $PATH
}
