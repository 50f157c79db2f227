package exchange_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/internal/redistest"
)

func TestMain(m *testing.M) {
	if store := os.Getenv("EXCHANGE_CHILD_STORE"); store != "" {
		if member := os.Getenv("EXCHANGE_CHILD_MEMBER"); member != "" {
			os.Exit(runAsker(store, os.Getenv("EXCHANGE_CHILD_THREAD"), member))
		}
		os.Exit(runChild(store, os.Getenv("EXCHANGE_CHILD_THREAD"), os.Getenv("EXCHANGE_CHILD_COUNT")))
	}
	code, err := redistest.Run(m, &redisServer)
	if err == nil && code == 0 {
		// A Redis client whose server is gone ends its last dialer within a second of Close.
		err = goleak.Find(goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// redisServer is the one server of this package's tests and benchmarks.
var redisServer *redistest.Server

func redisURL(t testing.TB) string {
	redistest.Need(t)
	return "redis://" + redisServer.Addr + "?prefix=" + t.Name() + ":"
}
