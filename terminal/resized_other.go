//go:build !unix

package terminal

import "os"

// resized are the signals of a changed size: here there are none. A signal that never comes
// stands for them, because no list at all would mean every signal.
var resized = []os.Signal{os.Kill}
