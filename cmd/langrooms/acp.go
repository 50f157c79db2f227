package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/acpserver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/sharedsession"
	"github.com/langrooms/langrooms/thread"
)

func (p *program) acpCommand() *cobra.Command {
	return &cobra.Command{Use: "acp", Short: "Be an agent of the Agent Client Protocol over standard input and output", Args: noArgs,
		Long: "Be an agent of the Agent Client Protocol over standard input and output, for editors: a session is a\n" +
			"thread, @name addresses delegates, the lead answers everything else. What a delegate asks leave for\n" +
			"(permissions: ask) is asked of the editor. Whoever starts it is the operator.",
		RunE: func(c *cobra.Command, _ []string) error { return p.acp(c.Context(), p.explicit(c)) }}
}

// acp serves one client until its input ends. Standard output carries the protocol alone.
func (p *program) acp(ctx context.Context, required bool) (err error) {
	var door *acpserver.Server // set before any turn
	app, err := setup.Open(ctx, setup.Options{Path: p.config, Required: required, Notify: func(text string) { p.said("%s", text) },
		Permission: func(ctx context.Context, r delegate.PermissionRequest) delegate.PermissionAnswer {
			return door.Permission(ctx, r)
		}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	nodes, err := wire(app)
	if err != nil {
		return err
	}
	t := turner{saver: app.Saver, nodes: nodes}
	manager, err := runs.New(runs.Config{Saver: app.Saver, Undo: t.undo, Failed: func(err error) { p.said("%v", err) },
		Turn: func(ctx context.Context, r runs.Run, in runs.Input, feed runs.Feed) (langrooms.Result, error) {
			return t.turn(acpserver.InSession(ctx, r.Thread), r, in, feed)
		}})
	if err != nil {
		return err
	}
	defer manager.Close()
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	door, err = acpserver.New(acpserver.Config{Saver: app.Saver, Runs: manager, Lead: app.Lead, Self: app.Self(), Hidden: sharedsession.Is,
		Dir: dir, Version: version(), Caller: thread.Caller{Name: langrooms.Operator, Admin: true},
		Who: func() string { return rosterText(app) }})
	if err != nil {
		return err
	}
	if err := door.Serve(ctx, p.in, p.out); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// rosterText is the roster, a line each.
func rosterText(app *setup.App) string {
	var lines []string
	for _, d := range app.Roster.Current().All() {
		l := describe(d)
		lines = append(lines, "- @"+l.Name+" ("+l.Type+"): "+delegate.OneLine(l.Description, 200))
	}
	if len(lines) == 0 {
		return "There are no delegates."
	}
	return strings.Join(lines, "\n")
}
