package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// A delegate with worktree: true works in a tree and on a branch of its own for each thread; the
// operator's checkout stays as it is, and the trees are listed and removed.
func TestWorktree(t *testing.T) {
	t.Parallel()
	f := binary.In(t)
	f.Env = append(f.Env, "XDG_STATE_HOME="+t.TempDir())
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=op", "-c", "user.email=op@example.org"}, args...)...)
		cmd.Dir = f.Dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	f.Write("go.mod", "module m\n\ngo 1.24\n")
	f.Write("m.go", "package m\n\nvar broken int = \"committed\"\n")
	f.Write(".gitignore", "*.yaml\n*.db*\n")
	f.Config("delegates:\n  - { name: proto, type: acp, command: \"demo:proto\", worktree: true }\n")
	r := f.Run("chat", "-m", "@proto what broke?")
	expectContains(t, "outside of a repository", "worktree: "+f.Dir+": the folder is in no git repository (workdir)", strings.ReplaceAll(r.Out, "\n", " "))
	git("init", "-q", "-b", "main")
	expectContains(t, "without a commit", "has no commit yet", f.Run("chat", "-m", "@proto what broke?").Out)
	git("add", ".")
	git("commit", "-q", "-m", "first")
	f.Write("m.go", "package m\n") // the operator has mended it, and not committed that
	before := git("status", "--porcelain", "--branch")

	r = f.Run("chat", "-m", "@proto what broke?")
	expect(t, "status, "+r.Diag, 0, r.Status)
	expectContains(t, "it sees what is committed", "committed", r.Out)
	f.Run("chat", "-t", "other", "-m", "@proto what broke?")
	expect(t, "the checkout", before, git("status", "--porcelain", "--branch"))
	lines := clitest.ParseLines(t, f.Run("worktree", "list", "--json").Out)
	expect(t, "trees", 2, len(lines))
	expect(t, "branch", "langrooms/main/proto", lines[0].Text("branch"))
	path := lines[0].Text("path")
	if err := os.WriteFile(filepath.Join(path, "m.go"), []byte("package m\n\nvar mended = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	expectContains(t, "the reply tells of it", "(On the branch langrooms/main/proto: 1 file changed, 1 insertion(+), 1 deletion(-).)", f.Run("chat", "-m", "@proto and now?").Out)
	expectContains(t, "so does the list", "langrooms/main/proto  1 file changed", f.Run("worktree", "list").Out)

	r = f.Run("worktree", "clean")
	expect(t, "status with changes", 1, r.Status)
	expectContains(t, "which stay", "has changes that are not committed", r.Diag)
	expectContains(t, "the other is gone", "Removed the worktree and the branch langrooms/other/proto.", r.Diag)
	r = f.Run("worktree", "clean", "langrooms/main/proto", "--force")
	expect(t, "with force, "+r.Diag, 0, r.Status)
	expectContains(t, "nothing is left", "There is no worktree.", f.Run("worktree", "list").Diag)
	expect(t, "branches", "* main", git("branch", "--list"))
	expect(t, "no such branch", 1, f.Run("worktree", "clean", "x").Status)
}
