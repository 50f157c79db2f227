// Command graph is the guide to embedding: a chat in which @name reaches a delegate and
// everything else reaches the lead, as a graph of three nodes.
//
//	room ──(answered)──▶ end
//	  └──▶ lead ◀──▶ tools
//
// It reads langgraph-config.yaml, keeps its threads where that says, and follows the file
// while it runs. Without a file, and without any key, it is the offline demo.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/demo"
	"github.com/langrooms/langrooms/nodes/leadnode"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/terminal"
)

func main() {
	demo.Main() // the demo's child processes are this program again
	setup.QuietLibraries()
	config := flag.String("c", "langgraph-config.yaml", "the configuration `FILE`")
	thread := flag.String("t", "main", "the `THREAD`'s id")
	message := flag.String("m", "", "take one turn with this `TEXT`")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "graph: there is no argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["m"] && strings.TrimSpace(*message) == "" {
		fmt.Fprintln(os.Stderr, "graph: the message of -m is empty")
		os.Exit(2)
	}
	// Who reads the output may go away: that is an error of a write then.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, *config, given["c"], *thread, *message, given["m"]); err != nil {
		if !errors.Is(err, terminal.ErrTurn) { // a failed turn has been shown
			fmt.Fprintln(os.Stderr, "graph:", terminal.Clean(err.Error()))
		}
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, config string, required bool, thread, message string, oneTurn bool) (err error) {
	if err := langrooms.CheckThreadID(thread); err != nil {
		return err
	}
	printer := terminal.NewPrinter(os.Stdout, os.Stderr, false)

	// From the file: the saver, the live roster, the lead's model with the cast around it.
	app, err := setup.Open(ctx, setup.Options{Path: config, Required: required, OneTurn: oneTurn, Notify: printer.Notice})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()

	graph, err := newGraph(ctx, app)
	if err != nil {
		return err
	}
	arrivals, leave := app.Inbox.Arrivals(thread) // before anything can arrive
	defer leave()
	// What an earlier process has left on the thread: late answers, interrupted exchanges.
	if err := app.TakeUp(ctx, thread); err != nil {
		printer.Notice(err.Error())
	}
	chat := terminal.Chat{
		Printer: printer, Message: message, OneTurn: oneTurn, In: os.Stdin,
		Turn: func(ctx context.Context, in terminal.Input) (langrooms.Result, error) {
			return graph.turn(ctx, thread, in)
		},
		Arrivals: arrivals, // late answers, each of which wakes the lead
		Wake: func(ctx context.Context, notice string, events langrooms.Sink) (langrooms.Result, error) {
			return graph.lead.Run(ctx, leadnode.Input{Thread: thread, Notice: notice, Events: events})
		},
		Complete: func(before string) []string { return room.Complete(before, app.Roster.Current().Names()) },
	}
	return chat.Run(ctx)
}
