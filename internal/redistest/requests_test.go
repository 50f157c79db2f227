package redistest

import (
	"strings"
	"testing"
)

// A request counts once its command's name is complete, however it is cut.
func TestRequestsAreCountedAsTheyPass(t *testing.T) {
	stream := "*2\r\n$3\r\nGET\r\n$5\r\n*1\r\n$\r\n*1\r\n$4\r\nping\r\n*1\r\n$0\r\n\r\n"
	for size := 1; size <= len(stream); size++ {
		var r requests
		var names []string
		for rest := stream; rest != ""; {
			n := min(size, len(rest))
			names = append(names, r.feed([]byte(rest[:n]))...)
			rest = rest[n:]
		}
		if got := strings.Join(names, " "); got != "GET PING " {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}
