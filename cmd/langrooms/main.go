// Command langrooms is a chat in which several agents talk in one thread.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/redis/go-redis/v9/logging"

	"github.com/langrooms/langrooms/demo"
	"github.com/langrooms/langrooms/setup"
)

func main() {
	demo.Main()
	setup.QuietLibraries()
	logging.Disable() // of the Redis client, whose errors are told as ours
	// Who reads the output may go away: that is an error of a write then, and the program
	// still ends what it has started.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
