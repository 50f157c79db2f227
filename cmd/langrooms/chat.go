package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/nodes/leadnode"
	"github.com/langrooms/langrooms/nodes/roomnode"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/terminal"
)

func (p *program) chatCommand() *cobra.Command {
	var message string
	var newest bool
	var attached []string
	c := &cobra.Command{
		Use:   "chat",
		Short: "Talk to the lead, or with @name to delegates",
		Long: "Talk to the lead, or with @name to delegates.\n\n" +
			"The exit status is 0 for answers of any kind, also when a delegate has failed or a turn was stopped;\n" +
			"1 for an error of the store, the configuration or the lead's model; 2 for wrong use; 3, with --fail,\n" +
			"when a delegate did not answer.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if newest && c.Flags().Changed("thread") {
				return usageError{errors.New("--continue and -t both name a thread")}
			}
			files, err := readFiles(attached)
			if err != nil {
				return usageError{err}
			}
			return p.chat(c.Context(), p.explicit(c), newest, message, c.Flags().Changed("message"), files)
		},
	}
	c.Flags().StringVarP(&message, "message", "m", "", "take one turn with this `TEXT`; - reads it from standard input, @FILE from a file")
	c.Flags().StringArrayVarP(&attached, "attach", "a", nil, "send this `FILE` with the first message; repeatable")
	c.Flags().BoolVar(&newest, "continue", false, "go on with the thread that was written last")
	c.Flags().BoolVar(&p.fail, "fail", false, "end with status 3 when a delegate did not answer")
	p.threadFlag(c)
	p.jsonFlag(c)
	c.Flags().BoolVar(&p.incognito, "incognito", false, "keep what @name addresses say out of logs, exports and summaries")
	return c
}

func (p *program) chat(ctx context.Context, required, newest bool, message string, oneTurn bool, files []langrooms.Part) error {
	if oneTurn && strings.TrimSpace(message) == "" {
		return usageError{errors.New("the message of -m is empty")}
	}
	if err := langrooms.CheckThreadID(p.thread); err != nil {
		return err
	}
	printer := terminal.NewPrinter(p.out, p.diag, p.json)
	leave := terminal.NewLeave(printer)
	options := setup.Options{Path: p.config, Required: required, OneTurn: oneTurn, Notify: printer.Notice}
	if !oneTurn && !p.json && terminal.Screen(p.in, p.out) {
		options.Permission = leave.Ask
	}
	app, err := setup.Open(ctx, options)
	if err != nil {
		return err
	}
	return errors.Join(p.converse(ctx, app, printer, leave, newest, message, oneTurn, files), app.Close())
}

func (p *program) converse(ctx context.Context, app *setup.App, printer *terminal.Printer, leave *terminal.Leave, newest bool, message string, oneTurn bool, files []langrooms.Part) error {
	if oneTurn {
		var err error
		if message, err = p.messageText(message, app.Roster.Current().Names()); err != nil {
			return err
		}
		if p.incognito && room.Parse(message, app.Roster.Current().Names()).Kind == room.NotAddressed {
			return usageError{errIncognito}
		}
	}
	if newest {
		if err := p.newestThread(ctx, app.Saver); err != nil {
			return err
		}
	}
	nodes, err := wire(app)
	if err != nil {
		return err
	}
	c := newConversation(app, nodes, printer, p)
	c.attached.put(files)
	c.enter(ctx, p.thread)
	defer c.close()
	if err := app.TakeUp(ctx, p.thread); err != nil {
		printer.Notice(err.Error()) // what is waited for stays with the thread
	}
	chat := &terminal.Chat{
		Printer: printer, Message: message, OneTurn: oneTurn, In: p.in, Turn: c.turn,
		Arrivals: c.arrivals, Wake: c.wake, Commands: append(c.commands(), leave.Commands()...),
		Complete: func(before string) []string { return room.Complete(before, app.Roster.Current().Names()) },
	}
	if c.live && !oneTurn {
		chat.Opening = c.opening(ctx)
	}
	if !p.incognito {
		chat.History = terminal.StateFile("langrooms", "history")
	}
	if err := chat.Run(ctx); err != nil {
		return err
	}
	if p.fail && c.failed.Load() {
		return errFailed
	}
	return nil
}

// newestThread makes the thread that was written last the program's; where there is none, it
// is the usual one.
func (p *program) newestThread(ctx context.Context, saver checkpointer.Saver) error {
	lister, ok := saver.(checkpointer.Lister)
	if !ok {
		return errors.New("this store cannot list its threads")
	}
	for info, err := range lister.Threads(ctx) {
		if err != nil {
			return err
		}
		p.thread = info.Thread
		break
	}
	return nil
}

// errIncognito refuses a message that cannot be kept as it was asked to be.
var errIncognito = errors.New("the message addresses nobody, and only what is addressed can be incognito; nothing was sent")

// graph is the two nodes that a message goes through.
type graph struct {
	room *roomnode.Node
	lead *leadnode.Node
}

func wire(app *setup.App) (*graph, error) {
	room, lead, err := app.Nodes()
	if err != nil {
		return nil, err
	}
	return &graph{room, lead}, nil
}

func (g *graph) turn(ctx context.Context, turn roomnode.Turn) (langrooms.Result, error) {
	result, err := g.room.Handle(ctx, turn)
	if err != nil || result.Handled {
		return result, err
	}
	if turn.Incognito {
		text := errIncognito.Error()
		return langrooms.Result{Thread: turn.Thread, Handled: true, Text: text, Aside: text}, nil
	}
	return g.lead.Run(ctx, leadnode.Input{Thread: turn.Thread, Text: turn.Text, Said: turn.Said, Events: turn.Events})
}
