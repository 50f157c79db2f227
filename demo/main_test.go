package demo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	Main() // the ACP agent is this binary again
	goleak.VerifyTestMain(m)
}

// folder makes a temporary folder with these files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const goMod = "module example.org/m\n\ngo 1.21\n"

// broken is a module that does not compile; the fault is in broken.go, line 4.
var broken = map[string]string{
	"go.mod":    goMod,
	"broken.go": "package m\n\nfunc F() int {\n\treturn \"three\"\n}\n",
}

// healthy is a module without a fault.
var healthy = map[string]string{
	"go.mod":  goMod,
	"fine.go": "package m\n\n// F is three.\nfunc F() int { return 3 }\n",
}

// gitIn runs git in dir, as nobody in particular.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// commit makes dir a repository, if it is none, and commits all of it.
func commit(t *testing.T, dir, subject string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		gitIn(t, dir, "init", "-q")
	}
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "-m", subject)
}

// wants checks that text holds every piece, and none of those that begin with "!".
func wants(t *testing.T, text string, pieces ...string) {
	t.Helper()
	for _, piece := range pieces {
		if not, ok := strings.CutPrefix(piece, "!"); ok {
			if strings.Contains(text, not) {
				t.Errorf("%q is in:\n%s", not, text)
			}
		} else if !strings.Contains(text, piece) {
			t.Errorf("%q is not in:\n%s", piece, text)
		}
	}
}
