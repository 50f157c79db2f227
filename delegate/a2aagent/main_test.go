package a2aagent

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that are left. One of the SDK's server, the peer of some
// tests, is passed over: a subscription that comes when its task has just ended makes the
// server open an event broker that nothing closes.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/a2aproject/a2a-go/v2/a2asrv/eventqueue.newInMemoryEventBroker.func1"))
}
