package hotreload

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/delegate/a2aagent"
	"github.com/langrooms/langrooms/delegate/acpagent"
	"github.com/langrooms/langrooms/delegate/openaiagent"
	"github.com/langrooms/langrooms/setting"
)

// The types of this module, as package setup registers them.
func init() {
	setting.Register("a2a", (*a2aagent.Settings).Problems, a2aagent.Fields()...)
	setting.Register("openai", (*openaiagent.Settings).Problems, openaiagent.Fields()...)
	setting.Register("acp", nil, acpagent.Fields()...)
}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(os.Exit))
}
