package exchange_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/internal/redistest"
)

func TestMain(m *testing.M) {
	if store := os.Getenv("EXCHANGE_CHILD_STORE"); store != "" {
		os.Exit(runChild(store, os.Getenv("EXCHANGE_CHILD_THREAD"), os.Getenv("EXCHANGE_CHILD_COUNT")))
	}
	code, err := run(m)
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

// run runs the tests, with a Redis server where there is one to be had.
func run(m *testing.M) (code int, err error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return m.Run(), nil
	}
	dir, err := os.MkdirTemp("", "exchange")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if redisServer, err = redistest.Launch(dir); err != nil {
		return 0, err
	}
	defer redisServer.Kill()
	return m.Run(), nil
}

func redisURL(t testing.TB) string {
	redistest.Need(t)
	return "redis://" + redisServer.Addr + "?prefix=" + t.Name() + ":"
}
