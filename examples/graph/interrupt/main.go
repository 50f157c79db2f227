// Command interrupt is a chat in which the lead's tools wait for a person: when its model asks
// for some, the program shows them and ends. Another run of the program, on any machine that
// reaches the same Redis, approves or refuses them and goes on where the first one stopped.
//
//	room ──(answered)──▶ end
//	  └──▶ lead ◀──(interrupt)──▶ tools
//
// The graph engine keeps the interrupted run in redissaver.Blobs. The turn itself, with what it
// wants, is on the thread (leadnode.Node.Wait), in the same Redis on the same client:
//
//	go run ./examples/graph/interrupt -t release -m 'ask proto what broke the build'
//	go run ./examples/graph/interrupt -t release -approve ID
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/demo"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/terminal"
)

// options are the command line.
type options struct {
	redis, config, thread string
	// One of them is set: what the operator says, or the wish that is approved or refused.
	message, approve, refuse string
}

func main() {
	demo.Main() // the demo's child processes are this program again
	setup.QuietLibraries()
	var o options
	flag.StringVar(&o.redis, "redis", "redis://127.0.0.1:6379", "the store's `URL`, as in the configuration's checkpointer.url")
	flag.StringVar(&o.config, "c", "langgraph-config.yaml", "the configuration `FILE`")
	flag.StringVar(&o.thread, "t", "main", "the `THREAD`'s id")
	flag.StringVar(&o.message, "m", "", "say `TEXT`")
	flag.StringVar(&o.approve, "approve", "", "run the tools that wait as `ID`, and go on")
	flag.StringVar(&o.refuse, "refuse", "", "tell the lead that the tools that wait as `ID` are refused, and go on")
	flag.Parse()
	given := 0
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "m" || f.Name == "approve" || f.Name == "refuse" {
			given++
		}
	})
	if flag.NArg() > 0 || given != 1 {
		fmt.Fprintln(os.Stderr, "interrupt: give one of -m TEXT, -approve ID and -refuse ID, and no other argument")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	text, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "interrupt:", terminal.Clean(err.Error()))
		stop()
		os.Exit(1)
	}
	fmt.Println(terminal.Clean(text))
}

// run takes one step on the thread and returns what the operator is told.
func run(ctx context.Context, o options) (text string, err error) {
	saver, err := redissaver.Open(o.redis)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, saver.Close()) }()
	notice := func(text string) { fmt.Fprintln(os.Stderr, terminal.Clean(text)) }
	app, err := setup.Open(ctx, setup.Options{Path: o.config, Saver: saver, OneTurn: true, Notify: notice})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	j, err := newJob(ctx, app, saver.Blobs(), o.thread)
	if err != nil {
		return "", err
	}
	return j.step(ctx, o)
}
