package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/nodes/leadnode"
	"github.com/langrooms/langrooms/nodes/roomnode"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/terminal"
)

func (p *program) chatCommand() *cobra.Command {
	var message string
	c := &cobra.Command{
		Use:   "chat",
		Short: "Talk to the lead, or with @name to delegates",
		Long: "Talk to the lead, or with @name to delegates.\n\n" +
			"The exit status is 0 for answers of any kind, also when a delegate has failed or a turn was stopped;\n" +
			"1 for an error of the store, the configuration or the lead's model; 2 for wrong use.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.chat(c.Context(), p.explicit(c), message, c.Flags().Changed("message"))
		},
	}
	c.Flags().StringVarP(&message, "message", "m", "", "take one turn with this `TEXT`")
	p.threadFlag(c)
	p.jsonFlag(c)
	c.Flags().BoolVar(&p.incognito, "incognito", false, "keep what @name addresses say out of logs, exports and summaries")
	return c
}

func (p *program) chat(ctx context.Context, required bool, message string, oneTurn bool) error {
	if oneTurn && strings.TrimSpace(message) == "" {
		return usageError{errors.New("the message of -m is empty")}
	}
	if err := langrooms.CheckThreadID(p.thread); err != nil {
		return err
	}
	printer := terminal.NewPrinter(p.out, p.diag, p.json)
	app, err := setup.Open(ctx, setup.Options{Path: p.config, Required: required, OneTurn: oneTurn, Notify: printer.Notice})
	if err != nil {
		return err
	}
	if oneTurn && p.incognito && room.Parse(message, app.Roster.Current().Names()).Kind == room.NotAddressed {
		return errors.Join(usageError{errors.New(notIncognito)}, app.Close())
	}
	nodes, err := wire(app)
	if err != nil {
		return errors.Join(err, app.Close())
	}
	arrivals, leave := app.Inbox.Arrivals(p.thread) // before anything can arrive
	defer leave()
	if err := app.TakeUp(ctx, p.thread); err != nil {
		printer.Notice(err.Error()) // what is waited for stays with the thread
	}
	history := terminal.StateFile("langrooms", "history")
	if p.incognito {
		history = ""
	}
	chat := &terminal.Chat{
		History: history,
		Printer: printer, Message: message, OneTurn: oneTurn, In: p.in,
		Turn: func(ctx context.Context, in terminal.Input) (langrooms.Result, error) {
			return nodes.turn(ctx, roomnode.Turn{Thread: p.thread, Text: in.Text, Incognito: p.incognito, Events: in.Events})
		},
		Arrivals: arrivals,
		Wake: func(ctx context.Context, notice string, events langrooms.Sink) (langrooms.Result, error) {
			return nodes.lead.Run(ctx, leadnode.Input{Thread: p.thread, Notice: notice, Events: events})
		},
		Complete: func(before string) []string { return room.Complete(before, app.Roster.Current().Names()) },
	}
	return errors.Join(chat.Run(ctx), app.Close())
}

// notIncognito is the answer to a message that cannot be kept as it was asked to be.
const notIncognito = "This message addresses nobody, and only what is addressed can be incognito. Nothing was sent."

// graph is the two nodes that a message goes through.
type graph struct {
	room *roomnode.Node
	lead *leadnode.Node
}

func wire(app *setup.App) (*graph, error) {
	room, err := roomnode.New(roomnode.Config{Saver: app.Saver, Roster: app.Roster, Knobs: app.Knobs, Collect: app.Collect, Health: app.Health})
	if err != nil {
		return nil, err
	}
	tools, err := app.Tools()
	if err != nil {
		return nil, err
	}
	lead, err := leadnode.New(leadnode.Config{Saver: app.Saver, Model: app.Model, Room: app.Room, System: setup.LeadPrompt, Tools: tools})
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
		return langrooms.Result{Thread: turn.Thread, Handled: true, Text: notIncognito, Aside: notIncognito}, nil
	}
	return g.lead.Run(ctx, leadnode.Input{Thread: turn.Thread, Text: turn.Text, Events: turn.Events})
}
