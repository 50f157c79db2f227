// Package worktree gives each member of a thread a git worktree and a branch of its own, beside the
// operator's checkout, which it never writes to. It runs git, and has no state but git's and the folders.
package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// BranchPrefix begins the name of every branch that is made here.
const BranchPrefix = "langrooms/"

var (
	// ErrNoRepository says that a folder is in no git repository with a working tree.
	ErrNoRepository = errors.New("the folder is in no git repository")
	// ErrNoCommit says that a repository has nothing yet that a branch could begin at.
	ErrNoCommit = errors.New("the git repository has no commit yet")
	// ErrChanges says that a worktree has changes that are not committed.
	ErrChanges = errors.New("the worktree has changes that are not committed")
	// ErrDetached says that a worktree is on no branch, so that its commits would go with it.
	ErrDetached = errors.New("the worktree is on no branch, which would keep its commits")
)

// Tree is a worktree.
type Tree struct {
	// Path is its top folder, and Dir the folder in it that stands for the one it was asked for.
	Path, Dir string
	// Branch is its branch, Repository the top folder of the checkout that it belongs to.
	Branch, Repository string
}

// Open returns the worktree of a member of a thread, for the repository that dir is in. It is made
// below root when it is not there: its branch begins at what dir has checked out. Processes may call
// it at once. ErrNoRepository, ErrNoCommit.
func Open(ctx context.Context, root, dir, thread, member string) (Tree, error) {
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return Tree{}, fmt.Errorf("%s: %w", dir, noRepository(err))
	}
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return Tree{}, err
	}
	name := slug(thread) + "/" + slug(member)
	t := Tree{Path: filepath.Join(root, slug(top), filepath.FromSlash(name)), Branch: BranchPrefix + name, Repository: top}
	t.Dir = filepath.Join(t.Path, filepath.FromSlash(prefix))
	if t.there(ctx) {
		return t, nil
	}
	if err := t.add(ctx); err != nil && !t.comes(ctx) {
		return Tree{}, err
	}
	if err := os.MkdirAll(t.Dir, 0o755); err != nil { // the folder may hold nothing that is committed
		return Tree{}, err
	}
	return t, nil
}

func noRepository(err error) error {
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return ErrNoRepository
	}
	return err
}

// there reports whether the worktree is at its place. Its branch is the one that whoever works there
// has gone over to.
func (t *Tree) there(ctx context.Context) bool {
	if _, err := os.Stat(filepath.Join(t.Path, ".git")); err != nil {
		return false
	}
	branch, err := git(ctx, t.Path, "rev-parse", "--abbrev-ref", "HEAD")
	if err == nil {
		t.Branch = branch
	}
	return err == nil
}

// anotherBound is how long another process that makes the same worktree is waited for.
const anotherBound = 5 * time.Second

// comes waits for what another process may be making.
func (t *Tree) comes(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, anotherBound)
	defer cancel()
	for !t.there(ctx) {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (t Tree) add(ctx context.Context) error {
	if _, err := git(ctx, t.Repository, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return fmt.Errorf("%s: %w", t.Repository, ErrNoCommit)
	}
	if err := os.MkdirAll(filepath.Dir(t.Path), 0o700); err != nil {
		return err
	}
	if _, err := git(ctx, t.Repository, "worktree", "prune"); err != nil { // of one whose folder has gone
		return err
	}
	args := []string{"worktree", "add", "-b", t.Branch, t.Path, "HEAD"}
	if _, err := git(ctx, t.Repository, "rev-parse", "--verify", "--quiet", "refs/heads/"+t.Branch); err == nil {
		args = []string{"worktree", "add", t.Path, t.Branch}
	}
	_, err := git(ctx, t.Repository, args...)
	return err
}

// Changes says in a line what the worktree has that the checkout's commit, where the two part, has not,
// committed or not; empty for nothing.
func (t Tree) Changes(ctx context.Context) (string, error) {
	base, err := git(ctx, t.Path, "merge-base", "HEAD", t.base(ctx))
	if err != nil {
		return "", err
	}
	stat, err := git(ctx, t.Path, "diff", "--shortstat", base)
	if err != nil {
		return "", err
	}
	untracked, err := git(ctx, t.Path, "ls-files", "--others", "--exclude-standard")
	if err != nil {
		return "", err
	}
	var parts []string
	if stat != "" {
		parts = append(parts, stat)
	}
	if untracked != "" {
		parts = append(parts, fmt.Sprintf("%d new", strings.Count(untracked, "\n")+1))
	}
	return strings.TrimSpace(strings.Join(parts, ", ")), nil
}

// base is what the checkout has at the moment.
func (t Tree) base(ctx context.Context) string {
	head, err := git(ctx, t.Repository, "rev-parse", "HEAD")
	if err != nil {
		return "HEAD"
	}
	return head
}

// List returns the worktrees below root, by path. What is none any more is an error beside the others.
func List(ctx context.Context, root string) (trees []Tree, err error) {
	paths, err := filepath.Glob(filepath.Join(root, "*", "*", "*", ".git"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	for _, p := range paths {
		t := Tree{Path: filepath.Dir(p)}
		t.Dir = t.Path
		var failed error
		if t.Branch, failed = git(ctx, t.Path, "rev-parse", "--abbrev-ref", "HEAD"); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", t.Path, failed))
			continue
		}
		common, failed := git(ctx, t.Path, "rev-parse", "--path-format=absolute", "--git-common-dir")
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", t.Path, failed))
			continue
		}
		t.Repository = filepath.Dir(common)
		trees = append(trees, t)
	}
	return trees, err
}

// noBranch is what git calls a detached HEAD.
const noBranch = "HEAD"

// Remove removes the worktree. The branch stays where it has commits that its repository's checkout has
// not; kept says so. With force uncommitted changes are lost, and commits on no branch, else they are
// ErrChanges and ErrDetached.
func (t Tree) Remove(ctx context.Context, force bool) (kept bool, err error) {
	dirty, err := git(ctx, t.Path, "status", "--porcelain", "--untracked-files=all")
	if err != nil {
		return false, err
	}
	if t.Branch == noBranch && !force {
		return false, fmt.Errorf("%s: %w", t.Path, ErrDetached)
	}
	if dirty != "" && !force {
		return false, fmt.Errorf("%s: %w", t.Path, ErrChanges)
	}
	if _, err := git(ctx, t.Repository, "worktree", "remove", "--force", t.Path); err != nil {
		return false, err
	}
	for dir := filepath.Dir(t.Path); strings.Count(strings.TrimPrefix(t.Path, dir), "/") < 3 && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
	} // the folders of the thread and of the repository, if they are empty
	if t.Branch == noBranch {
		return false, nil
	}
	_, err = git(ctx, t.Repository, "branch", "-d", t.Branch)
	return err != nil, nil
}

// maxSlug bounds what of a name stands in a path and a branch, in bytes.
const maxSlug = 40

// slug makes a name that can stand in a path and a branch: readable, and another one for each name.
func slug(name string) string {
	plain := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '-'
	}, name), "-")
	if plain == name && len(name) <= maxSlug && plain == strings.ToLower(plain) {
		return plain
	}
	if len(plain) > maxSlug {
		plain = strings.Trim(plain[len(plain)-maxSlug:], "-")
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimLeft(plain+"-"+hex.EncodeToString(sum[:4]), "-")
}

// gitBound bounds one call of git.
const gitBound = 2 * time.Minute

// git runs git in a folder, without hooks, prompts or what the environment says of another repository,
// and returns what it writes.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		for _, name := range []string{"GIT_DIR=", "GIT_WORK_TREE=", "GIT_INDEX_FILE=", "GIT_COMMON_DIR=", "GIT_PREFIX=", "GIT_OBJECT_DIRECTORY="} {
			if strings.HasPrefix(v, name) {
				return true
			}
		}
		return false
	}), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(diag.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
