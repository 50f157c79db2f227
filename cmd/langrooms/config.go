package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/terminal"
)

func (p *program) configCommand() *cobra.Command {
	check := &cobra.Command{Use: "check", Short: "Check the configuration file", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.configCheck(c.Context(), p.explicit(c)) }}
	p.jsonFlag(check)
	return group("config", "Look at the configuration", check)
}

// configCheck prints each finding with file and line; an error among them is status 1.
func (p *program) configCheck(_ context.Context, required bool) error {
	_, findings, builtIn, err := setup.ReadConfig(p.config, required)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if p.json {
			err = p.line(f)
		} else {
			_, err = fmt.Fprintln(p.out, terminal.Clean(f.String()))
		}
		if err != nil {
			return err
		}
	}
	switch {
	case hotreload.HasErrors(findings):
		return errShown
	case builtIn:
		fmt.Fprintf(p.diag, "There is no %s here: the built-in demo configuration is used.\n", p.config)
	case len(findings) == 0 && !p.json:
		fmt.Fprintf(p.out, "%s: ok\n", terminal.Clean(p.config))
	}
	return nil
}
