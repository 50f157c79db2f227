package a2aagent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// TestHalfACredential shows that a text which is cut where the peer repeats the credential
// holds no part of it.
func TestHalfACredential(t *testing.T) {
	before := func(n int) string { return strings.Repeat("x", n-10) + secretToken }
	for _, c := range []struct {
		name    string
		replies []reply
	}{
		{"beside a bad status", []reply{{status: 400, mediaType: "text/plain", body: before(200)}}},
		{"beside a bad status, as JSON", []reply{{status: 400, body: fmt.Sprintf(`{"detail":%q}`, before(200))}}},
		{"JSON-RPC message", []reply{rpcFailure(-32603, before(delegate.MaxCause), "")}},
		{"JSON-RPC data", []reply{rpcFailure(-32603, "no", fmt.Sprintf("%q", before(delegate.MaxCause-23)))}},
		{"failure", []reply{result(inTask(taskV1("FAILED", before(delegate.MaxCause))))}},
		{"question", []reply{result(inTask(taskV1("INPUT_REQUIRED", before(maxQuestion))))}},
		{"report of state", []reply{result(inTask(taskV1("WORKING", before(maxReport)))), result(taskV1("COMPLETED", "", "done"))}},
		{"last status", []reply{result(inTask(taskV1("WORKING", before(200))))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := (&fakePeer{card: cardV1, replies: c.replies}).serve(t, func(c *Config) { c.PollTimeout = patienceOfTests })
			var shown strings.Builder
			got, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi", Timeout: 50 * time.Millisecond,
				Progress: func(p langrooms.Progress) { shown.WriteString(p.Text + "\n") }})
			fmt.Fprintln(&shown, got.Text, err)
			if i := strings.Index(shown.String(), secretToken[:6]); i >= 0 {
				t.Errorf("shown: …%s", shown.String()[max(0, i-10):])
			}
		})
	}
}
