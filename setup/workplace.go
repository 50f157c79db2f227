package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/langrooms/langrooms/internal/worktree"
)

// WorktreeRoot is the folder in which the worktrees of delegates lie: below $XDG_STATE_HOME, or
// ~/.local/state. The error is that there is no such place.
func WorktreeRoot() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no place for worktrees: %w", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "langrooms", "worktrees"), nil
}

// aside names the tree of what is asked without a conversation, such as background work. No thread
// that a person names is called so.
const aside = "\x00aside"

// workplace gives the conversations of a member worktrees of the repository that dir is in.
func workplace(dir, member string) func(context.Context, string) (string, func(context.Context) string, error) {
	return func(ctx context.Context, conversation string) (string, func(context.Context) string, error) {
		root, err := WorktreeRoot()
		if err != nil {
			return "", nil, err
		}
		if conversation == "" {
			conversation = aside
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return "", nil, err
		}
		tree, err := worktree.Open(ctx, root, dir, conversation, member)
		switch {
		case errors.Is(err, worktree.ErrNoRepository), errors.Is(err, worktree.ErrNoCommit):
			return "", nil, fmt.Errorf("%w (workdir)", err)
		case err != nil:
			return "", nil, err
		}
		return tree.Dir, func(ctx context.Context) string {
			changes, err := tree.Changes(ctx)
			switch {
			case err != nil:
				return fmt.Sprintf("(What has changed on the branch %s cannot be told: %v)", tree.Branch, err)
			case changes == "":
				return ""
			}
			return fmt.Sprintf("(On the branch %s: %s.)", tree.Branch, changes)
		}, nil
	}
}
