package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/setting"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/terminal"
)

func (p *program) configCommand() *cobra.Command {
	check := &cobra.Command{Use: "check", Short: "Check the configuration file", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.configCheck(c.Context(), p.explicit(c)) }}
	p.jsonFlag(check)
	show := &cobra.Command{Use: "show", Short: "Show each key, its value in force, and why", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.configShow(p.explicit(c)) }}
	p.jsonFlag(show)
	var key string
	get := &cobra.Command{Use: "get KEY", Short: "Print the value in force of one key", Args: oneArg(&key), ValidArgsFunction: completeKeys,
		RunE: func(c *cobra.Command, _ []string) error { return p.configGet(p.explicit(c), key) }}
	p.jsonFlag(get)
	set := &cobra.Command{Use: "set KEY VALUE", ValidArgsFunction: completeKeys, Short: "Change one value in the file, and no other byte of it", Args: twoArgs,
		RunE: func(_ *cobra.Command, args []string) error { return p.configSet(args[0], args[1]) }}
	set.Flags().SetInterspersed(false) // -1 is a value
	init := &cobra.Command{Use: "init", Short: "Write the demo's configuration, to start from", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return p.configInit() }}
	return group("config", "Look at and change the configuration", check, show, get, set, init)
}

// twoArgs takes a key and a value; what follows them are flags again.
func twoArgs(c *cobra.Command, args []string) error {
	if len(args) > 2 {
		if err := c.Flags().Parse(args[2:]); err != nil {
			return usageError{err}
		}
		args = append(args[:2:2], c.Flags().Args()...)
	}
	if help, _ := c.Flags().GetBool("help"); help || len(args) != 2 {
		return usageError{fmt.Errorf("%s takes a key and a value", c.CommandPath())}
	}
	return nil
}

// configSet changes the file; the program that runs takes it up by itself. The value may be
// a secret and is not repeated.
func (p *program) configSet(key, value string) error {
	if err := hotreload.Set(p.config, key, value); err != nil {
		return p.noFile(err)
	}
	p.said("%s: %s is set.", p.config, key)
	return nil
}

// configShow prints the values in force, as they are after defaults and clamps. Secrets are
// hidden.
func (p *program) configShow(required bool) error {
	config, findings, _, err := setup.ReadConfig(p.config, required)
	if err != nil {
		return err
	}
	for _, f := range findings {
		p.said("%s", f)
	}
	for _, v := range config.Values() {
		note := ""
		if v.Default {
			note = "  (default)"
		}
		if err := p.either(v, "%-40s %s%s", v.Key, delegate.OneLine(v.Value, 200), note); err != nil {
			return err
		}
	}
	return nil
}

// configGet prints one value in force, as configShow does. An entry of a list is named by its
// name.
func (p *program) configGet(required bool, key string) error {
	config, _, _, err := setup.ReadConfig(p.config, required)
	if err != nil {
		return err
	}
	for _, v := range config.Values() {
		if v.Key == key {
			return p.either(v, "%s", v.Value)
		}
	}
	return fmt.Errorf("%w: %s; `langrooms config show` lists them", hotreload.ErrUnknownKey, key)
}

// completeKeys offers the keys of the configuration that take one value.
func completeKeys(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var keys []string
	for _, f := range hotreload.Schema() {
		if !strings.Contains(f.Key, "[]") && f.Kind != setting.Entries {
			keys = append(keys, f.Key)
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// findings are what there is to remark on the file.
func (p *program) findings(required bool) (findings []hotreload.Finding, builtIn bool, err error) {
	data, err := hotreload.ReadFile(p.config)
	if errors.Is(err, fs.ErrNotExist) && !required {
		return nil, true, nil
	}
	if err == nil {
		findings, err = hotreload.Check(p.config, data)
	}
	return findings, false, err
}

// configCheck prints each finding with file and line; an error among them is status 1.
func (p *program) configCheck(_ context.Context, required bool) error {
	findings, builtIn, err := p.findings(required)
	if fault := (*hotreload.SyntaxError)(nil); errors.As(err, &fault) {
		findings = append(findings, hotreload.Finding{Severity: hotreload.Error,
			File: fault.File, Line: fault.Line, Column: max(fault.Column, 1), Message: fault.Message})
	} else if err != nil {
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
		p.said("There is no %s here: the built-in demo configuration is used.", p.config)
	case len(findings) == 0 && !p.json:
		fmt.Fprintf(p.out, "%s: ok\n", terminal.Clean(p.config))
	}
	return nil
}

// configInit writes the built-in configuration to a file that does not exist yet.
func (p *program) configInit() error {
	f, err := os.OpenFile(p.config, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; it is left as it is", p.config)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(langrooms.DemoConfig)
	if err = errors.Join(err, f.Close()); err == nil {
		p.said("Wrote %s.", p.config)
	}
	return err
}

// noFile says what can be done when there is no file to change.
func (p *program) noFile(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s to change; `langrooms config init` writes one: %w", p.config, fs.ErrNotExist)
	}
	return err
}
