package demo

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// peerFolder returns the folder of a package from other hands. Without Node.js or the
// installed packages the test is skipped, and fails where CI is set.
func peerFolder(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "internal", "peers", name))
	if err != nil {
		t.Fatal(err)
	}
	_, noNode := exec.LookPath("node")
	_, noPackages := os.Stat(filepath.Join(dir, "node_modules"))
	if noNode == nil && noPackages == nil {
		return dir
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("the peers need node and `npm ci` in internal/peers/%s (%v, %v)", name, noNode, noPackages)
	}
	t.Skipf("no node, or no packages in internal/peers/%s: `make test` installs them", name)
	return ""
}

// runPeer runs a program of a peer's folder, which must end with this status, and returns
// its standard output.
func runPeer(t *testing.T, status int, dir, stdin string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), append(env, "HOME="+t.TempDir())...)
	cmd.WaitDelay = 2 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != status {
		t.Fatalf("%s: %v, want status %d\n%s\n%s", name, err, status, out, stderr.String())
	}
	return string(out)
}

func TestTheJavaScriptSDKDrivesReviewer(t *testing.T) {
	peer := peerFolder(t, "a2a")
	dir := folder(t, healthy)
	commit(t, dir, "first light")
	p := start(t, dir)
	script, err := os.ReadFile(filepath.Join("testdata", "a2aclient.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	out := runPeer(t, 0, peer, string(script), []string{"ORIGIN=" + p.origin, "KEY=" + p.Key()}, "node", "--input-type=module", "-")
	stream, plain, ok := strings.Cut(out, `{"plain":`)
	if !ok {
		t.Fatalf("no plain answer in %s", out)
	}
	wants(t, stream, "git log -n 5", "Everything is committed", "first light")
	wants(t, plain, "Everything is committed", "first light")
}

func TestAcpxDrivesProto(t *testing.T) {
	peer := peerFolder(t, "acp")
	command, _, env := ACPCommand("proto")
	agent := "env " + acpVariable + "=" + env[acpVariable] + " " + command
	const denied = 5 // acpx's status when it had to say no
	for _, tt := range []struct {
		flag, want string
		status     int
	}{
		{"--approve-all", "broken.go:4: ", 0},
		{"--deny-all", "I was not allowed to run `go build ./...`.", denied},
	} {
		out := runPeer(t, tt.status, peer, "", nil, filepath.Join(peer, "node_modules", ".bin", "acpx"),
			"--cwd", folder(t, broken), "--agent", agent, tt.flag, "--format", "json", "exec", "what broke?")
		wants(t, out, tt.want, `"method":"session/request_permission"`, `"stopReason":"end_turn"`)
	}
}
