package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms/internal/worktree"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/terminal"
)

func (p *program) worktreeCommand() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List the worktrees of delegates, with what has changed there", Args: noArgs}
	list.RunE = func(c *cobra.Command, _ []string) error { return p.listWorktrees(c.Context()) }
	p.jsonFlag(list)
	var branch string
	var force bool
	clean := &cobra.Command{Use: "clean [BRANCH]", Short: "Remove the worktree of a branch, or all of them",
		Long: "Remove the worktree of a branch, or all of them. One with changes that are not committed stays, unless\n" +
			"--force is given; a branch with commits that its repository's checkout has not stays too.",
		Args: atMostOne(&branch)}
	clean.RunE = func(c *cobra.Command, _ []string) error { return p.cleanWorktrees(c.Context(), branch, force) }
	clean.Flags().BoolVar(&force, "force", false, "lose what is not committed")
	return group("worktree", "Look at and remove the git worktrees in which delegates work", list, clean)
}

// worktreeLine is one line of worktree list --json.
type worktreeLine struct {
	Branch     string `json:"branch"`
	Path       string `json:"path"`
	Repository string `json:"repository"`
	// Changes is what the worktree has that its repository's checkout has not; absent for nothing.
	Changes string `json:"changes,omitempty"`
}

func worktrees(ctx context.Context) ([]worktree.Tree, error) {
	root, err := setup.WorktreeRoot()
	if err != nil {
		return nil, err
	}
	return worktree.List(ctx, root)
}

func (p *program) listWorktrees(ctx context.Context) error {
	trees, err := worktrees(ctx)
	for _, t := range trees {
		changes, failed := t.Changes(ctx)
		err = errors.Join(err, failed)
		if p.json {
			err = errors.Join(err, p.line(worktreeLine{t.Branch, t.Path, t.Repository, changes}))
			continue
		}
		if changes == "" {
			changes = "no changes"
		}
		_, failed = fmt.Fprintln(p.out, terminal.Clean(fmt.Sprintf("%s  %s\n    %s\n    of %s", t.Branch, changes, t.Path, t.Repository)))
		err = errors.Join(err, failed)
	}
	if len(trees) == 0 && err == nil {
		p.said("There is no worktree.")
	}
	return err
}

func (p *program) cleanWorktrees(ctx context.Context, branch string, force bool) error {
	trees, err := worktrees(ctx)
	found := false
	for _, t := range trees {
		if branch != "" && t.Branch != branch {
			continue
		}
		found = true
		kept, failed := t.Remove(ctx, force)
		err = errors.Join(err, failed)
		switch {
		case failed != nil:
		case kept:
			p.said("Removed the worktree of %s; the branch has commits of its own and stays.", t.Branch)
		default:
			p.said("Removed the worktree and the branch %s.", t.Branch)
		}
	}
	if branch != "" && !found && err == nil {
		return fmt.Errorf("there is no worktree of the branch %q; langrooms worktree list shows them", branch)
	}
	return err
}
