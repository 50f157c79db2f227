package acpagent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

// A conversation works in the folder that it is given, process and session alike, and its replies end
// with what is said of the folder; where there is none the prompt is refused.
func TestWorkplace(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	planted := errors.New("planted")
	config := testConfig(t, "scripted", "")
	report := ""
	config.Workplace = func(_ context.Context, conversation string) (string, func(context.Context) string, error) {
		if conversation == "nowhere" {
			return "", nil, planted
		}
		dir := filepath.Join(root, "of-"+conversation)
		return dir, func(context.Context) string { return report }, os.MkdirAll(dir, 0o755)
	}
	a := newAgent(t, config)
	for _, conversation := range []string{"t", "u", ""} {
		reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "where", Conversation: conversation})
		if dir := filepath.Join(root, "of-"+conversation); err != nil || !strings.Contains(reply.Text, dir) {
			t.Errorf("%q works in %q, %v; want %s", conversation, reply.Text, err, dir)
		}
	}
	report = "(On the branch b: 1 file changed.)"
	if reply := ask(t, a, "say done"); reply.Text != "done\n\n(On the branch b: 1 file changed.)" {
		t.Errorf("the reply is %q", reply.Text)
	}
	_, err = a.Ask(t.Context(), delegate.Request{Prompt: "where", Conversation: "nowhere"})
	var failed *delegate.Error
	if !errors.As(err, &failed) || failed.Kind != delegate.KindRefused || !errors.Is(err, planted) {
		t.Errorf("without a folder: %v", err)
	}
}
