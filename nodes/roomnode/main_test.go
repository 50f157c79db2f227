package roomnode_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/internal/redistest"
)

func TestMain(m *testing.M) {
	code, err := redistest.Run(m, &redisServer)
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
