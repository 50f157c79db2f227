package delegatetest_test

import (
	"testing"

	"github.com/langrooms/langrooms/delegate/delegatetest"
)

// The harness of the Example is one that the suite accepts. It has a file of its own so that
// the Example is shown with all that it needs.
func TestExampleKeepsEveryRule(t *testing.T) { delegatetest.Run(t, harness) }
