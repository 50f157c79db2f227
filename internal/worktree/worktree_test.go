package worktree_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/langrooms/langrooms/internal/worktree"
)

// run runs git as the operator.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=op", "-c", "user.email=op@example.org"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// repository returns a checkout with a commit, a change that is not committed, and a hook that spoils.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, "init", "-q", "-b", "main")
	write(t, filepath.Join(dir, "a.txt"), "one\n")
	write(t, filepath.Join(dir, "sub", "b.txt"), "two\n")
	run(t, dir, "add", ".")
	run(t, dir, "commit", "-q", "-m", "first")
	write(t, filepath.Join(dir, "a.txt"), "mine, not committed\n")
	hook := filepath.Join(dir, ".git", "hooks", "post-checkout")
	write(t, hook, "#!/bin/sh\ntouch "+filepath.Join(dir, "spoiled")+"\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func expect(t *testing.T, what, want, got string) {
	t.Helper()
	if want != got {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// Each member of each thread has a tree and a branch of its own, found again by the next address; the
// operator's checkout stays as it is.
func TestOpen(t *testing.T) {
	dir, root := repository(t), t.TempDir()
	before := run(t, dir, "status", "--porcelain", "--branch")
	tree, err := worktree.Open(t.Context(), root, filepath.Join(dir, "sub"), "main", "proto")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "branch", "langrooms/main/proto", tree.Branch)
	expect(t, "the folder", filepath.Join(tree.Path, "sub"), strings.TrimSuffix(tree.Dir, "/"))
	expect(t, "what is there", "one", run(t, tree.Path, "show", "HEAD:a.txt"))
	if changes, err := tree.Changes(t.Context()); changes != "" || err != nil {
		t.Errorf("a new one has changes %q, %v", changes, err)
	}
	write(t, filepath.Join(tree.Dir, "b.txt"), "two\nthree\n")
	write(t, filepath.Join(tree.Dir, "c.txt"), "four\n")
	changes, err := tree.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "changes", "1 file changed, 1 insertion(+), 1 new", changes)
	run(t, tree.Path, "add", ".")
	run(t, tree.Path, "commit", "-q", "-m", "second")
	changes, _ = tree.Changes(t.Context())
	expect(t, "changes that are committed", "2 files changed, 2 insertions(+)", changes)
	again, err := worktree.Open(t.Context(), root, filepath.Join(dir, "sub"), "main", "proto")
	if err != nil || again != tree {
		t.Errorf("again: %+v, %v", again, err)
	}
	expect(t, "the checkout", before, run(t, dir, "status", "--porcelain", "--branch"))
	expect(t, "its branch", "main", run(t, dir, "branch", "--show-current"))
}

// Names from anywhere make branches and folders that git and the file system take, each one its own.
func TestHostileNames(t *testing.T) {
	dir, root := repository(t), t.TempDir()
	seen := map[string]string{}
	for _, name := range []string{"main", "Main", "../../etc", "..", ".", "-rf", "a b", "a-b", "a.lock", "ä", "日本", strings.Repeat("x", 1024), "a/b", "a\nb", "@{u}", "refs~1^2:*?[", "'; rm -rf ~"} {
		tree, err := worktree.Open(t.Context(), root, dir, name, "proto")
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if other, taken := seen[strings.ToLower(tree.Path)]; taken {
			t.Errorf("%q and %q share %s", name, other, tree.Path)
		}
		seen[strings.ToLower(tree.Path)] = name
		if rel, err := filepath.Rel(root, tree.Path); err != nil || strings.HasPrefix(rel, "..") || strings.Count(rel, "/") != 2 {
			t.Errorf("%q lies at %s", name, tree.Path)
		}
	}
	trees, err := worktree.List(t.Context(), root)
	if err != nil || len(trees) != len(seen) {
		t.Errorf("%d are listed of %d, %v", len(trees), len(seen), err)
	}
}

// Two that open one tree at once have the same; what is no repository, or has no commit, is said.
func TestOpenAtOnceAndNowhere(t *testing.T) {
	dir, root := repository(t), t.TempDir()
	t.Setenv("GIT_DIR", "/nowhere")
	var opening sync.WaitGroup
	for range 4 {
		opening.Go(func() {
			if _, err := worktree.Open(context.WithoutCancel(t.Context()), root, dir, "t", "proto"); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
	if _, err := worktree.Open(t.Context(), root, t.TempDir(), "t", "proto"); !errors.Is(err, worktree.ErrNoRepository) {
		t.Errorf("no repository: %v", err)
	}
	t.Setenv("GIT_DIR", "")
	os.Unsetenv("GIT_DIR")
	empty := t.TempDir()
	run(t, empty, "init", "-q")
	if _, err := worktree.Open(t.Context(), root, empty, "t", "proto"); !errors.Is(err, worktree.ErrNoCommit) {
		t.Errorf("no commit: %v", err)
	}
}

// What is not committed is not removed without being told to; a branch with commits of its own stays; a
// tree whose folder has gone is made again on its branch.
func TestRemove(t *testing.T) {
	dir, root := repository(t), t.TempDir()
	tree, err := worktree.Open(t.Context(), root, dir, "t", "proto")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tree.Dir, "c.txt"), "four\n")
	if _, err := tree.Remove(t.Context(), false); !errors.Is(err, worktree.ErrChanges) {
		t.Errorf("with changes: %v", err)
	}
	run(t, tree.Path, "add", ".")
	run(t, tree.Path, "commit", "-q", "-m", "second")
	if kept, err := tree.Remove(t.Context(), false); err != nil || !kept {
		t.Errorf("with commits: kept %t, %v", kept, err)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) != 0 {
		t.Errorf("left of the folders: %v, %v", left, err)
	}
	again, err := worktree.Open(t.Context(), root, dir, "t", "proto")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "the work is there again", "four", run(t, again.Path, "show", "HEAD:c.txt"))
	if err := os.RemoveAll(again.Path); err != nil {
		t.Fatal(err)
	}
	if again, err = worktree.Open(t.Context(), root, dir, "t", "proto"); err != nil {
		t.Fatal(err)
	}
	other, err := worktree.Open(t.Context(), root, dir, "u", "proto")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(other.Dir, "c.txt"), "lost\n")
	if kept, err := other.Remove(t.Context(), true); err != nil || kept {
		t.Errorf("with force: kept %t, %v", kept, err)
	}
	expect(t, "branches", "* main\n+ langrooms/t/proto", strings.Join(sorted(run(t, dir, "branch", "--list")), "\n"))
}

func sorted(lines string) []string {
	all := strings.Split(lines, "\n")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	if len(all) == 2 && strings.HasPrefix(all[0], "+") {
		all[0], all[1] = all[1], all[0]
	}
	return all
}

// What an agent does with its tree does not lose work: commits on no branch and files that git is told
// not to show stay, another branch is where it works then, and one repository that has gone does not hide
// the others.
func TestWhatAgentsDo(t *testing.T) {
	dir, root := repository(t), t.TempDir()
	tree, err := worktree.Open(t.Context(), root, dir, "t", "proto")
	if err != nil {
		t.Fatal(err)
	}
	run(t, tree.Path, "checkout", "-q", "-b", "feature")
	if again, err := worktree.Open(t.Context(), root, dir, "t", "proto"); err != nil || again.Branch != "feature" || again.Path != tree.Path {
		t.Errorf("on a branch of its own: %+v, %v", again, err)
	}
	run(t, dir, "config", "status.showUntrackedFiles", "no")
	write(t, filepath.Join(tree.Dir, "new.txt"), "x\n")
	if _, err := tree.Remove(t.Context(), false); !errors.Is(err, worktree.ErrChanges) {
		t.Errorf("with a file that git does not show: %v", err)
	}
	run(t, tree.Path, "checkout", "-q", "--detach")
	run(t, tree.Path, "add", ".")
	run(t, tree.Path, "commit", "-q", "-m", "precious")
	gone := repository(t)
	if _, err := worktree.Open(t.Context(), root, gone, "t", "proto"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	trees, err := worktree.List(t.Context(), root)
	if len(trees) != 1 || err == nil {
		t.Fatalf("listed %+v, %v", trees, err)
	}
	if _, err := trees[0].Remove(t.Context(), false); !errors.Is(err, worktree.ErrDetached) {
		t.Errorf("on no branch: %v", err)
	}
	if kept, err := trees[0].Remove(t.Context(), true); err != nil || kept {
		t.Errorf("with force: kept %t, %v", kept, err)
	}
}
