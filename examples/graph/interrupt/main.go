// Command interrupt is a graph that waits for a person: it plans, stops before it acts, and
// ends. Another run of the program, on any machine that reaches the same Redis, approves the
// plan and goes on where the first one stopped.
//
//	plan ──(interrupt)──▶ act ──▶ end
//
// The graph engine keeps the interrupted run in redissaver.Blobs, and the thread, with what
// was asked and done, is in the same Redis on the same client:
//
//	go run ./examples/graph/interrupt -redis redis://127.0.0.1:6379 -t release -m 'ship build 42'
//	go run ./examples/graph/interrupt -redis redis://127.0.0.1:6379 -t release -approve
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
)

func main() {
	url := flag.String("redis", "redis://127.0.0.1:6379", "the store's `URL`, as in the configuration's checkpointer.url")
	thread := flag.String("t", "main", "the `THREAD`'s id")
	message := flag.String("m", "", "ask for `TEXT`: plan it and wait for approval")
	approve := flag.Bool("approve", false, "approve what waits, and go on")
	flag.Parse()
	if flag.NArg() > 0 || (*message == "") == !*approve {
		fmt.Fprintln(os.Stderr, "interrupt: give either -m TEXT or -approve, and no other argument")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	text, err := run(ctx, *url, *thread, *message)
	if err != nil {
		fmt.Fprintln(os.Stderr, "interrupt:", err)
		stop()
		os.Exit(1)
	}
	fmt.Println(text)
}

// run takes one step on the thread: it asks for message, or approves what waits when
// message is empty. The text is for the operator.
func run(ctx context.Context, url, thread, message string) (text string, err error) {
	saver, err := redissaver.Open(url)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, saver.Close()) }()
	job, err := newJob(ctx, saver, thread)
	if err != nil {
		return "", err
	}
	if message == "" {
		return job.approve(ctx)
	}
	return job.ask(ctx, message)
}
