//go:build unix

package terminal

import (
	"os"
	"syscall"
)

// resized are the signals of a changed size.
var resized = []os.Signal{syscall.SIGWINCH}
