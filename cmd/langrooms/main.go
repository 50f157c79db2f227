// Command langrooms is a chat in which several agents talk in one thread.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/langrooms/langrooms/demo"
)

func main() {
	demo.Main()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
