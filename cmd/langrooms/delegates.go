package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/terminal"
)

func (p *program) delegatesCommand() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List the roster", Args: noArgs,
		RunE: p.withRoster(func(_ context.Context, app *setup.App) error { return p.delegatesList(app.Roster.Current()) })}
	p.jsonFlag(list)
	var name string
	probe := &cobra.Command{Use: "probe [NAME]", Short: "Ask each delegate, or one, whether it is there; costs it nothing", Args: atMostOne(&name),
		Long: "Ask each delegate, or one, whether it is there; costs it nothing. The NAME lead stands for the\n" +
			"lead's model; when all are asked, what is wrong with that is told on standard error.\n\n" +
			"The exit status is 0 when all answered, 3 when one did not, 1 for an error of the configuration.",
		ValidArgsFunction: p.completeDelegates}
	probe.RunE = p.withRoster(func(ctx context.Context, app *setup.App) error { return p.delegatesProbe(ctx, app, name) })
	p.jsonFlag(probe)
	return group("delegates", "Look at and change the roster", list, probe, p.addCommand(), p.removeCommand())
}

// atMostOne takes one argument, if there is one.
func atMostOne(into *string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usageError{fmt.Errorf("%s takes one argument, not %d", c.CommandPath(), len(args))}
		}
		if len(args) == 1 {
			*into = args[0]
		}
		return nil
	}
}

// withRoster runs a command on the configured roster.
func (p *program) withRoster(do func(context.Context, *setup.App) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		app, err := setup.OpenRoster(c.Context(), setup.Options{Path: p.config, Required: p.explicit(c),
			Notify: func(text string) { p.said("%s", text) }})
		if err != nil {
			return err
		}
		err = do(c.Context(), app)
		if cerr := app.Close(); cerr != nil {
			err = errors.Join(err, cerr)
		}
		return err
	}
}

// delegateLine is one line of delegates list --json, and of probe, which has more.
type delegateLine struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
}

type probeLine struct {
	delegateLine
	OK        bool          `json:"ok"`
	LatencyMS int64         `json:"latency_ms"`
	Version   string        `json:"version,omitempty"`
	Protocol  string        `json:"protocol,omitempty"`
	Error     string        `json:"error,omitempty"`
	ErrorKind delegate.Kind `json:"error_kind,omitempty"`
}

func describe(d delegate.Delegate) delegateLine {
	info := d.Info()
	return delegateLine{info.Name, info.Type, info.Description}
}

func (p *program) delegatesList(r *delegate.Registry) error {
	for _, d := range r.All() {
		l := describe(d)
		err := p.either(l, "%-16s %-7s %s", l.Name, l.Type, delegate.OneLine(l.Description, 200))
		if err != nil {
			return err
		}
	}
	return nil
}

// either prints v as a line of JSON, or the text.
func (p *program) either(v any, format string, args ...any) error {
	if p.json {
		return p.line(v)
	}
	_, err := fmt.Fprintln(p.out, terminal.Clean(fmt.Sprintf(format, args...)))
	return err
}

// probeBound is how long a delegate has to say that it is there.
const probeBound = 15 * time.Second

// delegatesProbe probes side by side and prints in roster order. A delegate that does not
// answer is an answer, and errFailed.
func (p *program) delegatesProbe(ctx context.Context, app *setup.App, name string) error {
	model := func(ctx context.Context) probeLine {
		return probe(ctx, delegateLine{leadName, "model", "the lead's model"}, app.ProbeLead)
	}
	if name == leadName {
		return p.probed(model(ctx))
	}
	delegates := app.Roster.Current().All()
	if name != "" {
		d, ok := app.Roster.Current().Get(name)
		if !ok {
			return fmt.Errorf("there is no delegate %q on the roster", name)
		}
		delegates = []delegate.Delegate{d}
	}
	lines := make([]probeLine, len(delegates))
	var probes sync.WaitGroup
	for i, d := range delegates {
		probes.Go(func() { lines[i] = probe(ctx, describe(d), d.Probe) })
	}
	if name == "" {
		probes.Go(func() {
			if l := model(ctx); !l.OK {
				p.said("The lead's model: %s: %s", l.ErrorKind, l.Error)
			}
		})
	}
	probes.Wait()
	return p.probed(lines...)
}

// leadName stands for the lead's model; no delegate has it.
const leadName = "lead"

// probed prints what probes found.
func (p *program) probed(lines ...probeLine) error {
	var failed error
	for _, l := range lines {
		state := fmt.Sprintf("ok    %4d ms  %s %s", l.LatencyMS, l.Version, l.Protocol)
		if !l.OK {
			state, failed = fmt.Sprintf("%s: %s", l.ErrorKind, l.Error), errFailed
		}
		if err := p.either(l, "%-16s %-7s %s", l.Name, l.Type, state); err != nil {
			return err
		}
	}
	return failed
}

// completeDelegates offers the names of the roster.
func (p *program) completeDelegates(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	config, _, _, err := setup.ReadConfig(p.config, p.explicit(c))
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, d := range config.Delegates {
		names = append(names, cobra.CompletionWithDesc(d.Name, d.Description))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func probe(ctx context.Context, of delegateLine, ask func(context.Context) (delegate.Health, error)) probeLine {
	ctx, cancel := context.WithTimeout(ctx, probeBound)
	defer cancel()
	l := probeLine{delegateLine: of}
	began := time.Now()
	health, err := ask(ctx)
	l.LatencyMS = time.Since(began).Milliseconds()
	if err != nil {
		e := delegate.AsError(l.Name, err)
		l.Error, l.ErrorKind = e.Cause(), e.Kind
		return l
	}
	l.OK, l.Version, l.Protocol = true, health.Version, health.Protocol
	if health.Latency > 0 {
		l.LatencyMS = health.Latency.Milliseconds()
	}
	return l
}

func oneArg(into *string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("%s takes one argument, not %d", c.CommandPath(), len(args))}
		}
		*into = args[0]
		return nil
	}
}

func (p *program) removeCommand() *cobra.Command {
	var name string
	return &cobra.Command{Use: "remove NAME", Short: "Remove a delegate from the configuration file", Args: oneArg(&name),
		ValidArgsFunction: p.completeDelegates,
		RunE: func(*cobra.Command, []string) error {
			if err := hotreload.RemoveDelegate(p.config, name); err != nil {
				return p.noFile(err)
			}
			p.said("Removed %s from %s.", name, p.config)
			return nil
		}}
}
