package redissaver

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// SilenceClientLog turns off go-redis's own log for the whole process: it writes every
// failed dial to standard error, and the same failures come as errors. It is for a
// program's main; a library must not call it.
func SilenceClientLog() { redis.SetLogger(silent{}) }

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
