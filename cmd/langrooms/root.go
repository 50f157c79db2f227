package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms/terminal"
)

// The exit statuses.
const (
	statusOK    = 0
	statusError = 1 // an error of ours
	statusUsage = 2 // an unknown flag or command
	// statusFailed: the command did what it was asked, and a delegate did not answer.
	statusFailed = 3
)

// errFailed says that a delegate did not answer, which has been shown.
var errFailed = errors.New("a delegate did not answer")

// errShown marks an error that has been shown already.
var errShown = errors.New("shown")

// usageError is a wrong use of the command line.
type usageError struct{ error }

// program is what all commands share.
type program struct {
	in     io.Reader
	out    io.Writer
	diag   io.Writer
	config string
	thread string
	json   bool

	incognito bool
	fail      bool
}

// run parses the arguments, runs the command and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, diag io.Writer) int {
	p := &program{in: in, out: out, diag: diag}
	root := p.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil:
		return statusOK
	case errors.Is(err, errFailed):
		return statusFailed
	case errors.As(err, &usage):
		text := strings.TrimPrefix(err.Error(), "langrooms ")
		fmt.Fprintf(diag, "langrooms: %s\nRun 'langrooms --help' for usage.\n", terminal.Clean(text))
		return statusUsage
	case errors.Is(err, syscall.EPIPE): // who would read on has gone away, as head does
	case !errors.Is(err, errShown) && !errors.Is(err, terminal.ErrTurn):
		fmt.Fprintf(diag, "langrooms: %s\n", terminal.Clean(err.Error()))
	}
	return statusError
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "langrooms",
		Short:         "Several agents in one chat thread",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError{errors.New("a command is missing: " + names(c))}
		},
	}
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.diag)
	root.Version = version()
	root.SetVersionTemplate("langrooms {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.PersistentFlags().StringVarP(&p.config, "config", "c", "langgraph-config.yaml", "the configuration `FILE`")
	root.AddCommand(p.chatCommand(), p.threadCommand(), p.delegatesCommand(), p.configCommand(), p.serveCommand(),
		p.mcpCommand(), p.acpCommand(), p.roomCommand(), p.worktreeCommand())
	return root
}

// version is the module's version and commit, as far as the build knows them.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	if text == "" {
		text = "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && !strings.Contains(text, s.Value[:12]) {
			text += " " + s.Value[:12]
		}
	}
	return text
}

// group is a command that only holds others.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: noArgs}
	c.RunE = func(c *cobra.Command, _ []string) error {
		return usageError{fmt.Errorf("%s: a command is missing: %s", use, names(c))}
	}
	c.AddCommand(children...)
	return c
}

func names(c *cobra.Command) string {
	var list string
	for i, child := range c.Commands() {
		if i > 0 {
			list += ", "
		}
		list += child.Name()
	}
	return list
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		if c.HasSubCommands() {
			return usageError{fmt.Errorf("%s has no command %q, but %s", c.CommandPath(), args[0], names(c))}
		}
		return usageError{fmt.Errorf("%s takes no argument %q", c.CommandPath(), args[0])}
	}
	return nil
}

func (p *program) threadFlag(c *cobra.Command) {
	c.Flags().StringVarP(&p.thread, "thread", "t", "main", "the `THREAD`'s id")
}

func (p *program) jsonFlag(c *cobra.Command) {
	c.Flags().BoolVar(&p.json, "json", false, "print one JSON object per line")
}

// explicit reports whether the configuration file was named on the command line; only then
// must it exist.
func (p *program) explicit(c *cobra.Command) bool {
	return c.Flags().Changed("config")
}
