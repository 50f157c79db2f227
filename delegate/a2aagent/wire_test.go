package a2aagent

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// patienceOfTests is the poll timeout where waiting must end soon.
const patienceOfTests = 60 * time.Millisecond

var longID = strings.Repeat("x", delegate.MaxContextID)

// situation is what a peer puts on the wire, and what must come of it.
type situation struct {
	name    string
	card    string
	replies []reply
	change  func(*Config)
	req     delegate.Request

	text     string        // the whole reply
	kind     delegate.Kind // or the error's kind
	says     []string      // and what its cause holds
	accepted bool
	task     string // of the error
}

func (s situation) run(t *testing.T) {
	t.Helper()
	f := &fakePeer{card: s.card, replies: s.replies}
	a := f.serve(t, s.change)
	if s.req.Prompt == "" {
		s.req.Prompt = "what broke?"
	}
	got, err := a.Ask(t.Context(), s.req)
	if kindOf(err) != s.kind || got.Text != s.text {
		t.Fatalf("Ask = %q, %v (kind %q); want %q, kind %q", got.Text, err, kindOf(err), s.text, s.kind)
	}
	if err == nil {
		return
	}
	var e *delegate.Error
	if !errors.As(err, &e) || e.Delegate != "proto" {
		t.Fatalf("the error is %#v, want a *delegate.Error of proto", err)
	}
	for _, want := range s.says {
		if !strings.Contains(e.Cause(), want) {
			t.Errorf("the cause %q is without %q", e.Cause(), want)
		}
	}
	if e.Accepted != s.accepted || e.Task != s.task {
		t.Errorf("accepted %v, task %q; want %v, %q", e.Accepted, e.Task, s.accepted, s.task)
	}
	if strings.Contains(e.Cause(), secretToken) || strings.ContainsAny(e.Cause(), "\n\x1b") {
		t.Errorf("the cause %q holds what must not be shown", e.Cause())
	}
}

// TestAnswers shows how every shape of an answer becomes text.
func TestAnswers(t *testing.T) {
	working := result(inTask(taskV1("WORKING", "")))
	for _, s := range []situation{
		{name: "message in its field", card: cardV1, text: "hi",
			replies: []reply{result(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`)}},
		{name: "message as such, 0.3", card: cardV03, text: "hi",
			replies: []reply{result(`{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"hi"}]}`)}},
		{name: "message as such, without a kind", card: cardV1, text: "hi",
			replies: []reply{result(`{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"h"},{"text":"i"}]}`)}},
		{name: "message in its field, 0.3", card: cardV03, text: "hi",
			replies: []reply{result(`{"message":{"kind":"message","parts":[{"kind":"text","text":"hi"}]}}`)}},
		{name: "message without text", card: cardV1, text: "", replies: []reply{result(`{"message":{"parts":[]}}`)}},
		{name: "task as such, 1.0", card: cardV1, text: "done", replies: []reply{result(taskV1("COMPLETED", "", "done"))}},
		{name: "task in its field, 0.3", card: cardV03, text: "done", replies: []reply{result(inTask(taskV03("COMPLETED", "", "done")))}},
		{name: "an artifact's parts joined verbatim", card: cardV1, text: "Let me see.\n It is auth",
			replies: []reply{result(`{"task":{"id":"task-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"Let"},{"text":" me see.\n"},{"text":" It is auth"}]}]}}`)}},
		{name: "artifacts in paragraphs", card: cardV1, text: "Let me see.\n\nIt is auth",
			replies: []reply{result(inTask(taskV1("COMPLETED", "status words", "Let me see.", "  ", "\nIt is auth")))}},
		{name: "status message where artifacts say nothing", card: cardV1, text: "status words",
			replies: []reply{result(inTask(taskV1("COMPLETED", "status words", "", "")))}},
		{name: "completed without any text", card: cardV1, text: "", replies: []reply{working, result(taskV1("COMPLETED", ""))}},
		{name: "canceled spelt the British way", card: cardV03, kind: delegate.KindCanceled, accepted: true, says: []string{"canceled"},
			replies: []reply{result(taskV03("CANCELLED", ""))}},
		{name: "0.3 states from a 1.0 peer", card: cardV1, text: "done",
			replies: []reply{result(inTask(taskV03("WORKING", ""))), result(taskV03("COMPLETED", "", "done"))}},
		{name: "data part", card: cardV1, text: "see\n[data] {\"a\":1}\nthere",
			replies: []reply{result(`{"message":{"parts":[{"text":"see"},{"data":{"a": 1}},{"text":"there"}]}}`)}},
		{name: "data part that is no object", card: cardV1, text: "[data] [1,2]",
			replies: []reply{result(`{"message":{"parts":[{"data":[1, 2],"mediaType":"application/json"}]}}`)}},
		{name: "file parts", card: cardV1,
			text:    "[file a.png image/png 3 bytes]\n[file https://files/b.pdf]\n[file c.txt text/plain]\nwords\n[file d unreadable]",
			replies: []reply{result(`{"message":{"parts":[{"raw":"AAEC","filename":"a.png","mediaType":"image/png"},{"url":"https://files/b.pdf"},{"raw":"d29yZHM=","filename":"c.txt","mediaType":"text/plain"},{"raw":"?","filename":"d"}]}}`)}},
		{name: "file parts, 0.3", card: cardV03, text: "[file a.png image/png 3 bytes]\n[file b.pdf application/pdf https://files/b.pdf]",
			replies: []reply{result(`{"kind":"message","parts":[{"kind":"file","file":{"name":"a.png","mimeType":"image/png","bytes":"AAEC"}},{"kind":"file","file":{"name":"b.pdf","mimeType":"application/pdf","uri":"https://files/b.pdf"}}]}`)}},
		{name: "parts of an unknown kind, and no parts at all", card: cardV1, text: "ab",
			replies: []reply{result(`{"message":{"parts":[null,{"text":"a"},{"hologram":1},{"text":"b"},7]}}`)}},
		{name: "response id of another type", card: cardV1, text: "hi",
			replies: []reply{{body: `{"jsonrpc":"2.0","id":7,"result":{"message":{"parts":[{"text":"hi"}]}}}`}}},
		{name: "response without id, error null", card: cardV1, text: "hi",
			replies: []reply{{body: `{"result":{"message":{"parts":[{"text":"hi"}]}},"error":null}`}}},
		{name: "task id in the wrong field", card: cardV1, text: "done",
			replies: []reply{result(`{"taskId":"task-1","status":{"state":"TASK_STATE_WORKING"}}`), result(taskV1("COMPLETED", "", "done"))}},
		{name: "task id in the status message only", card: cardV1, text: "done",
			replies: []reply{result(`{"task":{"status":{"state":"TASK_STATE_WORKING","message":{"taskId":"task-1","parts":[]}}}}`), result(taskV1("COMPLETED", "", "done"))}},
		{name: "task that leaves its state out is pending", card: cardV1, text: "done",
			replies: []reply{result(`{"task":{"id":"task-1"}}`), result(`{"id":"task-1","status":{}}`), result(taskV1("COMPLETED", "", "done"))}},
		{name: "fields of the wrong type", card: cardV1, text: "done",
			replies: []reply{result(`{"task":{"id":"task-1","contextId":{"x":1},"history":"none","status":{"state":"TASK_STATE_COMPLETED","timestamp":12},"artifacts":[{"artifactId":3,"parts":[{"text":"done"}]}]}}`)}},
		{name: "text that is no valid UTF-8", card: cardV1, text: "a\uFFFDb",
			replies: []reply{result("{\"message\":{\"parts\":[{\"text\":\"a\xffb\"}]}}")}},
		{name: "JSON under another content type", card: cardV1, text: "hi",
			replies: []reply{{mediaType: "text/plain; charset=utf-8", body: `{"result":{"message":{"parts":[{"text":"hi"}]}}}`}}},
		{name: "the credential is taken out of the answer", card: cardV1, text: "key [redacted]!",
			replies: []reply{result(`{"message":{"parts":[{"text":"key planted-token"},{"text":"-5e1f77!"}]}}`)}},
		{name: "a long task id is whole in a pause", card: cardV1,
			text: "⏸ @proto needs input before it can go on.\nParked task: " + longID +
				"\n\nTo answer it, write /answer @proto and the answer in the terminal chat, or ask the lead to pass it on. A message to @proto begins something new.",
			replies: []reply{result(`{"task":{"id":"` + longID + `","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}`)}},
		{name: "a failed look is made again", card: cardV1, text: "done",
			replies: []reply{working, {status: 502}, rpcFailure(-32603, "busy", ""), {hangUp: true}, result(taskV1("COMPLETED", "", "done"))}},
		{name: "looks that answer about something else are made again", card: cardV1, text: "done",
			replies: []reply{working, result(`{"id":"task-2","status":{"state":"TASK_STATE_COMPLETED"}}`),
				result(`{"message":{"parts":[{"text":"what?"}]}}`), result(taskV1("COMPLETED", "", "done"))}},
		{name: "redirect within the origin", card: cardV1, text: "hi",
			replies: []reply{{status: 307, location: "/a2a/"}, result(`{"message":{"parts":[{"text":"hi"}]}}`)}},
	} {
		t.Run(s.name, s.run)
	}
}

// TestFailures shows the kind and the words of every failure (spec: rooms, 6).
func TestFailures(t *testing.T) {
	working := result(inTask(taskV1("WORKING", "")))
	noToken := func(c *Config) { c.Scheme, c.Token = "", nil }
	for _, s := range []situation{
		{name: "-32009", card: cardV1, kind: delegate.KindRefused, says: []string{"-32009", "1.0 is too new"},
			replies: []reply{rpcFailure(-32009, "1.0 is too new", "")}},
		{name: "-32001", card: cardV1, kind: delegate.KindFailed, says: []string{"-32001", "no such task"},
			replies: []reply{rpcFailure(-32001, "no such task", "")}},
		{name: "-32603 with data", card: cardV1, kind: delegate.KindFailed, says: []string{"Internal error (JSON-RPC -32603): disk full in /var"},
			replies: []reply{rpcFailure(-32603, "Internal error", `"disk full\n  in /var"`)}},
		{name: "-32603 with an object", card: cardV1, kind: delegate.KindFailed, says: []string{`{"cause":"disk full"}`},
			replies: []reply{rpcFailure(-32603, "Internal error", `{"cause":"disk full"}`)}},
		{name: "-32603 as HTTP 500", card: cardV1, kind: delegate.KindFailed, says: []string{"HTTP 500", "-32603", "boom"},
			replies: []reply{{status: 500, body: rpcFailure(-32603, "boom", "").body}}},
		{name: "-32601 in both versions", card: cardV1, kind: delegate.KindFailed, says: []string{"-32601"},
			replies: []reply{rpcFailure(-32601, "method not found", "")}},
		{name: "an error's long data is clipped", card: cardV1, kind: delegate.KindFailed, says: []string{"xxxx…"},
			replies: []reply{rpcFailure(-32000, "long", `"`+strings.Repeat("x", 5000)+`"`)}},
		{name: "an error that echoes the credential", card: cardV1, kind: delegate.KindFailed, says: []string{"bad token [redacted]"},
			replies: []reply{rpcFailure(-32000, "bad token "+secretToken, "")}},
		{name: "401 with a token", card: cardV1, kind: delegate.KindRefused, says: []string{"HTTP 401", "does not accept the configured credential"},
			replies: []reply{{status: 401, mediaType: "text/plain", body: "no"}}},
		{name: "401 without a token", card: cardV1, change: noToken, kind: delegate.KindRefused, says: []string{"HTTP 401", "no credential is configured"},
			replies: []reply{{status: 401}}},
		{name: "403", card: cardV1, kind: delegate.KindRefused, says: []string{"HTTP 403", "not yours"},
			replies: []reply{{status: 403, body: `{"detail":"not yours"}`}}},
		{name: "404", card: cardV1, kind: delegate.KindRefused, says: []string{"HTTP 404", "see url, card_url and binding"}, replies: []reply{{status: 404, mediaType: "text/html"}}},
		{name: "429", card: cardV1, kind: delegate.KindRefused, says: []string{"HTTP 429", "slow down"},
			replies: []reply{{status: 429, mediaType: "text/plain", body: "slow\r\ndown \x1b[31m"}}},
		{name: "400 with a JSON-RPC error", card: cardV1, kind: delegate.KindRefused, says: []string{"HTTP 400", "-32600"},
			replies: []reply{{status: 400, body: rpcFailure(-32600, "bad", "").body}}},
		{name: "500", card: cardV1, kind: delegate.KindUnreachable, says: []string{"HTTP 500"}, replies: []reply{{status: 500, body: `{"error":"oops"}`}}},
		{name: "502 with a page", card: cardV1, kind: delegate.KindUnreachable, says: []string{"HTTP 502 Bad Gateway"},
			replies: []reply{{status: 502, mediaType: "text/html", body: "<html><h1>Bad gateway</h1></html>"}}},
		{name: "503", card: cardV1, kind: delegate.KindUnreachable, says: []string{"HTTP 503"}, replies: []reply{{status: 503}}},
		{name: "a page in place of an answer", card: cardV1, kind: delegate.KindProtocol, accepted: true, says: []string{"text/html"},
			replies: []reply{{mediaType: "text/html", body: "<html>log in</html>"}}},
		{name: "truncated JSON", card: cardV1, kind: delegate.KindProtocol, accepted: true,
			replies: []reply{{body: `{"jsonrpc":"2.0","result":{"task":{"id":"ta`}}},
		{name: "an empty answer", card: cardV1, kind: delegate.KindProtocol, accepted: true, replies: []reply{{body: ""}}},
		{name: "204", card: cardV1, kind: delegate.KindProtocol, accepted: true, replies: []reply{{status: http.StatusNoContent}}},
		{name: "JSON that is no object", card: cardV1, kind: delegate.KindProtocol, accepted: true, replies: []reply{{body: `[1]`}}},
		{name: "neither result nor error", card: cardV1, kind: delegate.KindProtocol, accepted: true, replies: []reply{{body: `{"jsonrpc":"2.0","id":"1"}`}}},
		{name: "a null result", card: cardV1, kind: delegate.KindProtocol, accepted: true, replies: []reply{result("null")}},
		{name: "a result that is neither task nor message", card: cardV1, kind: delegate.KindProtocol, accepted: true,
			says: []string{"neither a task nor a message"}, replies: []reply{result(`{"ok":true}`)}},
		{name: "a result of the wrong type", card: cardV1, kind: delegate.KindProtocol, accepted: true, replies: []reply{result(`"done"`)}},
		{name: "a pending task without an id", card: cardV1, kind: delegate.KindProtocol, accepted: true, says: []string{"neither an id nor"},
			replies: []reply{result(`{"task":{"status":{"state":"TASK_STATE_WORKING"}}}`)}},
		{name: "a pause without an id", card: cardV1, kind: delegate.KindProtocol, accepted: true, says: []string{"needs input", "which one?"},
			replies: []reply{result(`{"task":{"id":9,"status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"parts":[{"text":"which one?"}]}}}}`)}},
		{name: "an answer that breaks off", card: cardV1, kind: delegate.KindUnreachable, accepted: true, says: []string{"it ended the connection without an answer"}, replies: []reply{{hangUp: true}}},
		{name: "redirect with a lost message", card: cardV1, kind: delegate.KindRefused, says: []string{"redirects to", "/login"},
			replies: []reply{{status: 302, location: "/login"}}},
		{name: "redirects without end", card: cardV1, kind: delegate.KindRefused, says: []string{"redirects to"},
			replies: []reply{{status: 308, location: "/a2a"}}},
		{name: "a redirect to nowhere", card: cardV1, kind: delegate.KindRefused, says: []string{"HTTP 307"}, replies: []reply{{status: 307}}},
		{name: "no answer in time", card: cardV1, kind: delegate.KindTimeout, accepted: true, says: []string{"no answer within 0.06s; raise poll_timeout_s"},
			change: func(c *Config) { c.PollTimeout = patienceOfTests }, replies: []reply{{never: true}}},
		{name: "an answer that does not end in time", card: cardV1, kind: delegate.KindTimeout, accepted: true, says: []string{"no answer within 0.06s"},
			change: func(c *Config) { c.PollTimeout = patienceOfTests }, replies: []reply{{body: `{"result":`, endless: true}}},
		{name: "still running, in the spec's words", card: cardV1, kind: delegate.KindStillRunning, accepted: true, task: "task-1",
			says:   []string{"still running after 0.06s without observable progress — the peer may still be working", "task-1", "raise its poll timeout (poll_timeout_s)"},
			change: func(c *Config) { c.PollTimeout = patienceOfTests }, replies: []reply{working, result(taskV1("WORKING", ""))}},
		{name: "still running at a call's own limit", card: cardV1, kind: delegate.KindStillRunning, accepted: true, task: "task-1",
			says: []string{"still running after 0.05s, the time limit of this call", "task-1"},
			req:  delegate.Request{Timeout: 50 * time.Millisecond}, replies: []reply{working, result(taskV1("WORKING", ""))}},
		{name: "a task id that is too long to be kept", card: cardV1, kind: delegate.KindProtocol, accepted: true, says: []string{"neither an id nor a final state"},
			replies: []reply{result(`{"task":{"id":"` + strings.Repeat("x", delegate.MaxContextID+1) + `","status":{"state":"TASK_STATE_WORKING"}}}`)}},
		{name: "eight failed polls", card: cardV1, kind: delegate.KindTimeout, accepted: true, task: "task-1",
			says: []string{"lost touch with task task-1", "8 polls", "HTTP 503"}, replies: []reply{working, {status: 503}}},
		{name: "eight looks at an unknown task", card: cardV1, kind: delegate.KindFailed, accepted: true,
			says: []string{"lost touch with task task-1", "-32001"}, replies: []reply{working, rpcFailure(-32001, "no such task", "")}},
		{name: "a token that cannot be resolved", card: cardV1, kind: delegate.KindRefused, says: []string{"PROTO_TOKEN is not set"},
			change:  func(c *Config) { c.Token = func() (string, error) { return "", errors.New("PROTO_TOKEN is not set") } },
			replies: []reply{working}},
		{name: "a token that no header can carry", card: cardV1, kind: delegate.KindRefused, says: []string{"credential holds a character"},
			change: func(c *Config) { c.Token = func() (string, error) { return "a\nX-Evil: 1", nil } }, replies: []reply{working}},
	} {
		t.Run(s.name, s.run)
	}
}
