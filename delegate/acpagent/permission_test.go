package acpagent

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/redact"
)

func TestPermissionRequestsAreAnsweredByPolicy(t *testing.T) {
	c := testConfig(t, "scripted", "")
	c.Permissions = PermissionsAllowlist
	a := newAgent(t, c)
	var got reports
	reply, err := a.Ask(t.Context(), delegate.Request{
		// The kind stands in the request, or in the tool call that it names, or nowhere.
		Prompt:   "permit t1 edit\npermit t2 execute\ntool t3 delete\npermit t3 -\ntool t4 read\npermit t4 -\npermit t5 -",
		Progress: got.add,
	})
	if want := "allow reject reject allow allow"; err != nil || strings.Join(strings.Fields(reply.Text), " ") != want {
		t.Errorf("the answers are %q, %v; want %q", reply.Text, err, want)
	}
	const said = `a tool call of kind execute was refused by permissions: allowlist; “Title of t3” (delete) was refused by permissions: allowlist`
	if reply.Incomplete != said {
		t.Errorf("the reply says %q", reply.Incomplete)
	}
	var refused []langrooms.Progress
	for _, p := range got.of(langrooms.ProgressTool) {
		if p.State == "refused" {
			refused = append(refused, p)
		}
	}
	want := []langrooms.Progress{{Kind: langrooms.ProgressTool, State: "refused"}, {Kind: langrooms.ProgressTool, Text: "Title of t3", State: "refused"}}
	if diff := cmp.Diff(want, refused); diff != "" {
		t.Errorf("the refusals reported (-want +got):\n%s", diff)
	}
}

// A tool call's kind is remembered however many came before it: one that is not known counts
// as "other", which more policies allow.
func TestKindOfALateToolCall(t *testing.T) {
	p := &process{config: Config{Permissions: PermissionsAllowlist}}
	p.turn.Store(testTurn("s"))
	say := func(id string) { // what the turn's own goroutine would take is taken here
		p.updated([]byte(`{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"` + id + `","kind":"execute"}}`))
		<-p.turn.Load().updates
	}
	for i := range maxToolCalls + 1 {
		say(strconv.Itoa(i))
	}
	say(strings.Repeat("x", maxCallID+1))
	turn := p.turn.Load()
	close(turn.over)
	options := []acp.PermissionOption{{Kind: acp.PermissionOptionKindAllowOnce, OptionId: "allow"}, {Kind: acp.PermissionOptionKindRejectOnce, OptionId: "reject"}}
	got := p.permit(permissionRequest{SessionID: "s", ToolCall: callInfo{ID: strconv.Itoa(maxToolCalls)}, Options: options})
	if got.Selected == nil || got.Selected.OptionId != "reject" {
		t.Errorf("the answer is %+v, want a refusal", got)
	}
	if n := len(turn.calls.known); n != maxToolCalls || n != len(turn.calls.order) {
		t.Errorf("%d calls are remembered, %d in order", n, len(turn.calls.order))
	}
}

// A title or plan that is cut inside a secret shows no part of it.
func TestHalfASecret(t *testing.T) {
	const secret = "planted-secret-5e1f77"
	p := &process{redact: redact.New(secret)}
	long := strings.Repeat("x", maxTitle-10) + secret
	call, _, _ := p.note(testTurn("s"), callInfo{ID: "t", Title: long, Status: long})
	plan := planText(p.redact, []planEntry{{Status: "pending", Content: long[10:]}})
	for _, text := range []string{call.Title, call.Status, plan} {
		if strings.Contains(text, "plan") {
			t.Errorf("shown: %s", text)
		}
	}
}

// What an agent asks for a sub-agent's session is judged, and told, as its own.
func TestPermissionOfASubAgent(t *testing.T) {
	options := []acp.PermissionOption{{OptionId: "yes", Kind: acp.PermissionOptionKindAllowOnce}, {OptionId: "no", Kind: acp.PermissionOptionKindRejectOnce}}
	p := &process{config: Config{Permissions: PermissionsReadonly}}
	turn := testTurn("s")
	p.turn.Store(turn)
	p.permit(permissionRequest{SessionID: "s", ToolCall: callInfo{ID: "1", Title: "read a", ToolKind: "read"}, Options: options})
	for kind, want := range map[string]acp.PermissionOptionId{"read": "yes", "execute": "no"} {
		got := p.permit(permissionRequest{SessionID: "sub", ToolCall: callInfo{ID: "1", Title: kind + " b", ToolKind: kind}, Options: options})
		if got.Selected == nil || got.Selected.OptionId != want {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	p.updated([]byte(`{"sessionId":"sub","update":{"sessionUpdate":"tool_call","toolCallId":"2","title":"rm b","kind":"delete"}}`))
	if got := p.permit(permissionRequest{SessionID: "sub", ToolCall: callInfo{ID: "2"}, Options: options}); got.Selected == nil || got.Selected.OptionId != "no" {
		t.Errorf("a call whose kind was told before: %+v", got)
	}
	if got, want := turn.refusals(), "“execute b” (execute) was refused by permissions: readonly; “rm b” (delete) was refused by permissions: readonly"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

// Protocol document "Prompt Turn", cancellation: pending permission requests are answered
// "cancelled".
func TestPermissionWhileStopping(t *testing.T) {
	p := &process{config: Config{Permissions: PermissionsAuto}}
	request := permissionRequest{SessionID: "s"}
	if p.permit(request).Cancelled == nil {
		t.Error("without a turn, the answer is not cancelled")
	}
	turn := testTurn("s")
	p.turn.Store(turn)
	turn.stopping = true
	if p.permit(request).Cancelled == nil {
		t.Error("while stopping, the answer is not cancelled")
	}
	turn.stopping = false
	if p.permit(permissionRequest{}).Cancelled == nil {
		t.Error("without a session, the answer is not cancelled")
	}
	if _, err := p.handle(context.Background(), "session/request_permission", []byte("7")); err == nil || err.Code != -32602 {
		t.Errorf("an unreadable request: %v", err)
	}
	if _, err := p.handle(context.Background(), "terminal/create", nil); err == nil || err.Code != -32601 {
		t.Errorf("an unknown method: %v", err)
	}
}
