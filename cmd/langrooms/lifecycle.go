package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/durable"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/sharedsession"
	"github.com/langrooms/langrooms/terminal"
)

// threadsOf works on the threads of saver. What another process only remembers of a thread
// is tied to the thread's epoch; what is kept with the thread is dropped here.
func threadsOf(saver checkpointer.Saver) *lifecycle.Threads {
	kept := durable.New(saver)
	return &lifecycle.Threads{Saver: saver, Forget: func(ctx context.Context, thread string) error {
		return errors.Join(kept.DropThread(ctx, thread), kept.DropHandles(ctx, thread))
	}}
}

// said reports what was done, for people on the diagnostic output.
func (p *program) said(format string, args ...any) {
	fmt.Fprintln(p.diag, terminal.Clean(fmt.Sprintf(format, args...)))
}

// deletedLine is the line of thread delete --json.
type deletedLine struct {
	Thread  string `json:"thread"`
	Deleted bool   `json:"deleted"`
}

func (p *program) deleteCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{Use: "delete", Short: "Delete a thread; asks first, unless -t names it or with --yes", Args: noArgs}
	remove := p.withSaver(func(ctx context.Context, saver checkpointer.Saver) error {
		if err := threadsOf(saver).Delete(ctx, p.thread); err != nil {
			return err
		}
		if p.json {
			return p.line(deletedLine{p.thread, true})
		}
		p.said("Deleted the thread %s.", shownID(p.thread))
		return nil
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if !yes && !c.Flags().Changed("thread") {
			if err := p.confirm("Delete the thread " + shownID(p.thread)); err != nil {
				return err
			}
		}
		return remove(c, args)
	}
	p.threadFlag(c)
	p.jsonFlag(c)
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// errNotConfirmed says that the operator did not say yes.
var errNotConfirmed = errors.New("nothing was done")

// confirm asks on the diagnostic output and reads the answer from standard input; an end of
// input without one is a wrong use.
func (p *program) confirm(question string) error {
	fmt.Fprintf(p.diag, "%s? [y/N] ", terminal.Clean(question))
	answer, err := bufio.NewReader(io.LimitReader(p.in, 100)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	case "":
		if err != nil {
			fmt.Fprintln(p.diag)
			return usageError{errors.New("there is nobody to ask; name the thread with -t, or say --yes")}
		}
	}
	return errNotConfirmed
}

func (p *program) rewindCommand() *cobra.Command {
	var to string
	c := &cobra.Command{Use: "rewind", Short: "Drop what follows a message", Args: noArgs,
		RunE: p.withSaver(func(ctx context.Context, saver checkpointer.Saver) error {
			if err := p.noRoom(); err != nil {
				return err
			}
			to, err := messageID(ctx, saver, p.thread, to)
			if err != nil {
				return err
			}
			n, err := threadsOf(saver).Rewind(ctx, p.thread, to)
			if err != nil {
				return err
			}
			p.said("Dropped %d messages.", n)
			return nil
		})}
	p.threadFlag(c)
	c.Flags().StringVar(&to, "to", "", "the `MESSAGE` to keep last: an id or the beginning of one, last, or last~N for N before it")
	return required(c, "to")
}

func (p *program) forkCommand() *cobra.Command {
	var to, at string
	c := &cobra.Command{Use: "fork", Short: "Copy a thread to a new one", Args: noArgs,
		RunE: p.withSaver(func(ctx context.Context, saver checkpointer.Saver) error {
			at, err := messageID(ctx, saver, p.thread, at)
			if err != nil {
				return err
			}
			if err := threadsOf(saver).Fork(ctx, p.thread, to, at); err != nil {
				return another(err, "--to")
			}
			p.said("Forked the thread %s to %s.", shownID(p.thread), shownID(to))
			return nil
		})}
	p.threadFlag(c)
	c.Flags().StringVar(&to, "to", "", "the `NEW` thread's id")
	c.Flags().StringVar(&at, "at", "", "the `MESSAGE` to copy up to, as for rewind; absent copies all")
	return required(c, "to")
}

func (p *program) exportCommand() *cobra.Command {
	var format string
	c := &cobra.Command{Use: "export", Short: "Write a thread as Markdown or JSON", Args: noArgs}
	run := p.withSaver(func(ctx context.Context, saver checkpointer.Saver) error {
		f := lifecycle.Format(format)
		return threadsOf(saver).Export(ctx, p.thread, f, terminal.CleanWriter(p.out, f == lifecycle.JSON))
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if f := lifecycle.Format(format); f != lifecycle.JSON && f != lifecycle.Markdown {
			return usageError{fmt.Errorf("--format is %q, it must be md or json", format)}
		}
		return run(c, args)
	}
	p.threadFlag(c)
	c.Flags().StringVar(&format, "format", string(lifecycle.Markdown), "`md` or json")
	return c
}

func (p *program) importCommand() *cobra.Command {
	c := &cobra.Command{Use: "import", Short: "Read a JSON export from standard input into a new thread", Args: noArgs,
		RunE: p.withSaver(func(ctx context.Context, saver checkpointer.Saver) error {
			n, err := threadsOf(saver).Import(ctx, p.thread, p.in)
			if err != nil {
				return another(err, "-t")
			}
			p.said("Imported %d messages into the thread %s.", n, shownID(p.thread))
			return nil
		})}
	p.threadFlag(c)
	return c
}

func (p *program) compactCommand() *cobra.Command {
	var summary string
	var keep int
	c := &cobra.Command{Use: "compact", Short: "Put a summary in place of older messages", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("summary") && strings.TrimSpace(summary) == "" {
				return usageError{errors.New("the text of --summary is empty")}
			}
			if err := p.noRoom(); err != nil {
				return err
			}
			app, err := setup.Open(c.Context(), setup.Options{Path: p.config, Required: p.explicit(c), OneTurn: true})
			if err != nil {
				return err
			}
			threads := threadsOf(app.Saver)
			threads.Summarize = app.Summarize
			n, err := threads.Compact(c.Context(), p.thread, keep, summary)
			switch {
			case err == nil && n == 0:
				p.said("There is nothing to compact: the thread has no more than %d messages.", keep)
			case err == nil:
				p.said("Replaced %d messages by a summary; `langrooms thread show` shows it.", n)
			}
			return errors.Join(p.missing(err), app.Close())
		}}
	p.threadFlag(c)
	c.Flags().IntVar(&keep, "keep", lifecycle.DefaultKeep, "keep the `N` newest messages")
	c.Flags().StringVar(&summary, "summary", "", "the summary's `TEXT`; absent has the lead's model write it")
	return c
}

func (p *program) uncompactCommand() *cobra.Command {
	c := &cobra.Command{Use: "uncompact", Short: "Put what summaries have replaced back", Args: noArgs}
	c.RunE = p.withSaver(func(ctx context.Context, saver checkpointer.Saver) error {
		if err := p.noRoom(); err != nil {
			return err
		}
		n, err := threadsOf(saver).Uncompact(ctx, p.thread)
		switch {
		case err == nil && n == 0:
			p.said("There is nothing to put back: the thread has no summary.")
		case err == nil:
			p.said("Put %d messages back in place of their summaries.", n)
		}
		return err
	})
	p.threadFlag(c)
	return c
}

// noRoom refuses what would break the numbers of a shared session's messages.
func (p *program) noRoom() error {
	if sharedsession.Is(p.thread) {
		return fmt.Errorf("the thread %s is a shared session, whose messages keep their numbers; see langrooms room", p.thread)
	}
	return nil
}

// another adds to the refusal of a thread that exists what to do about it.
func another(err error, flag string) error {
	if errors.Is(err, checkpointer.ErrConflict) {
		return fmt.Errorf("%w; choose another name with %s", err, flag)
	}
	return err
}

// required makes the absence of a flag a wrong use.
func required(c *cobra.Command, flag string) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if !c.Flags().Changed(flag) {
			return usageError{fmt.Errorf("%s: --%s is missing", c.CommandPath(), flag)}
		}
		return run(c, args)
	}
	return c
}
