package roomnode_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/internal/redistest"
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if exampleServer != nil {
		exampleServer.Close()
	}
	if err == nil && code == 0 {
		err = goleak.Find()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run runs the tests, with a Redis server where there is one to be had.
func run(m *testing.M) (code int, err error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return m.Run(), nil
	}
	dir, err := os.MkdirTemp("", "roomnode")
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
