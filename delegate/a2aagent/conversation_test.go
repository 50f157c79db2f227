package a2aagent

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

func messageOf(r received) map[string]any {
	m, _ := r.params["message"].(map[string]any)
	return m
}

// TestContinuity shows when a context id is learnt, kept and dropped (spec: rooms, 7.1 to
// 7.3): first an answer teaches "ctx-1", then something happens, then a third message is
// sent with the context id that is left.
func TestContinuity(t *testing.T) {
	learn := result(inTask(taskV1("COMPLETED", "", "hello")))
	message := func(fields string) reply { return result(`{"message":{` + fields + `}}`) }
	for _, c := range []struct {
		name    string
		happens reply
		timeout bool // our wait ends
		want    string
	}{
		{"another answer keeps it", learn, false, "ctx-1"},
		{"another context replaces it", message(`"contextId":"ctx-2","parts":[{"text":"hi"}]`), false, "ctx-2"},
		{"a context in the status message", result(`{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED","message":{"contextId":"ctx-3","parts":[{"text":"hi"}]}}}}`), false, "ctx-3"},
		{"an answer without a context keeps it", message(`"parts":[{"text":"hi"}]`), false, "ctx-1"},
		{"a context that is no string is absent", message(`"contextId":42,"parts":[{"text":"hi"}]`), false, "ctx-1"},
		{"a context that is too long is absent", message(`"contextId":"` + strings.Repeat("x", delegate.MaxContextID+1) + `","parts":[{"text":"hi"}]`), false, "ctx-1"},
		{"a pause drops it", result(inTask(taskV1("INPUT_REQUIRED", "which one?"))), false, ""},
		{"an answer without text drops it", result(inTask(taskV1("COMPLETED", ""))), false, ""},
		{"an answer of white space drops it", result(inTask(taskV1("COMPLETED", "", " \n"))), false, ""},
		{"a failed task drops it", result(inTask(taskV1("FAILED", "no"))), false, ""},
		{"a canceled task drops it", result(inTask(taskV1("CANCELED", ""))), false, ""},
		{"a peer still at work drops it", result(inTask(taskV1("WORKING", ""))), true, ""},
		{"an unreachable peer keeps it", reply{status: 503}, false, "ctx-1"},
		{"a refusal keeps it", reply{status: 403}, false, "ctx-1"},
		{"a JSON-RPC error keeps it", rpcFailure(-32603, "busy", ""), false, "ctx-1"},
		{"an answer that cannot be read drops it", reply{body: "{"}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakePeer{card: cardV1, replies: []reply{learn, c.happens}}
			a := f.serve(t, func(cfg *Config) { cfg.Continuity = delegate.NewMemoryContinuity() })
			ask := func(conversation string) received {
				req := delegate.Request{Prompt: "hi", Conversation: conversation}
				if c.timeout && len(f.requests()) == 1 {
					req.Timeout = patienceOfTests / 2
				}
				n := len(f.requests())
				a.Ask(t.Context(), req) // what comes of it is shown elsewhere
				return f.requests()[n]
			}
			if id, sent := messageOf(ask("thread-1"))["contextId"]; sent {
				t.Errorf("the first message invents the context %v", id)
			}
			if id := messageOf(ask("thread-1"))["contextId"]; id != "ctx-1" {
				t.Errorf("the second message has context %v", id)
			}
			f.answer(learn)
			if id, _ := messageOf(ask("thread-1"))["contextId"].(string); id != c.want {
				t.Errorf("the third message has context %q, want %q", id, c.want)
			}
			for _, other := range []string{"thread-2", ""} {
				if id, sent := messageOf(ask(other))["contextId"]; sent {
					t.Errorf("conversation %q has context %v", other, id)
				}
			}
		})
	}
}

// brokenContinuity fails in everything.
type brokenContinuity struct{}

var errStore = errors.New("the store is away")

func (brokenContinuity) Get(context.Context, delegate.ContextKey) (string, error) {
	return "", errStore
}
func (brokenContinuity) Learn(context.Context, delegate.ContextKey, string) error { return errStore }
func (brokenContinuity) Drop(context.Context, delegate.ContextKey) error          { return errStore }
func (brokenContinuity) DropThread(context.Context, string) error                 { return errStore }

// TestBrokenContinuity shows that a store which fails costs the conversation and not the
// answer, and that it is said.
func TestBrokenContinuity(t *testing.T) {
	var log strings.Builder
	f := &fakePeer{card: cardV1, replies: []reply{result(inTask(taskV1("COMPLETED", "", "the answer")))}}
	a := f.serve(t, func(c *Config) {
		c.Continuity, c.Logger = brokenContinuity{}, slog.New(slog.NewTextHandler(&log, nil))
	})
	got, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi", Conversation: "thread-1"})
	if err != nil || got.Text != "the answer" {
		t.Errorf("Ask = %q, %v", got.Text, err)
	}
	if said := log.String(); strings.Count(said, errStore.Error()) != 2 || strings.Contains(said, "the answer") || strings.Contains(said, secretToken) {
		t.Errorf("the log says %q", said)
	}
}

// TestResume shows what resuming means for each state of the task (spec: rooms, 8).
func TestResume(t *testing.T) {
	done := result(taskV1("COMPLETED", "", "done"))
	for _, c := range []struct {
		name    string
		replies []reply
		text    string
		kind    delegate.Kind
		methods string
	}{
		{"paused: the answer goes to it", []reply{result(taskV1("INPUT_REQUIRED", "which?")), result(inTask(taskV1("WORKING", ""))), done}, "done", "", "GetTask SendMessage GetTask"},
		{"paused, and handed back as it was", []reply{result(taskV1("INPUT_REQUIRED", "which?")), result(inTask(taskV1("INPUT_REQUIRED", "which?"))), result(taskV1("WORKING", "")), done}, "done", "", "GetTask SendMessage GetTask GetTask"},
		{"paused, answered without an id", []reply{result(taskV1("INPUT_REQUIRED", "which?")), result(`{"task":{"status":{"state":"TASK_STATE_WORKING"}}}`), done}, "done", "", "GetTask SendMessage GetTask"},
		{"waiting to be authorized: likewise", []reply{result(taskV1("AUTH_REQUIRED", "")), result(inTask(taskV1("COMPLETED", "", "done")))}, "done", "", "GetTask SendMessage"},
		{"working: it is only waited for", []reply{result(taskV1("WORKING", "")), result(taskV1("WORKING", "")), done}, "done", "", "GetTask GetTask GetTask"},
		{"ended: its result", []reply{done}, "done", "", "GetTask"},
		{"failed: its failure", []reply{result(taskV1("FAILED", "no"))}, "", delegate.KindFailed, "GetTask"},
		{"unknown", []reply{rpcFailure(-32001, "no such task", "")}, "", delegate.KindFailed, "GetTask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakePeer{card: cardV1, replies: c.replies}
			a := f.serve(t, func(cfg *Config) { cfg.Continuity = delegate.NewMemoryContinuity() })
			got, err := a.Ask(t.Context(), delegate.Request{Prompt: "the second", ResumeTask: "task-1", Conversation: "thread-1"})
			if got.Text != c.text || kindOf(err) != c.kind || f.methods() != c.methods {
				t.Fatalf("Ask = %q, %v by %q; want %q, kind %q by %q", got.Text, err, f.methods(), c.text, c.kind, c.methods)
			}
			if c.kind != "" && !strings.Contains(err.Error(), "task") {
				t.Errorf("the error %q does not speak of the task", err)
			}
			for _, r := range f.requests() {
				if m := messageOf(r); m != nil && (m["taskId"] != "task-1" || m["contextId"] != "ctx-1") {
					t.Errorf("the message names task %v, context %v", m["taskId"], m["contextId"])
				}
			}
			if id, _ := a.cfg.Continuity.Get(t.Context(), delegate.ContextKey{Thread: "thread-1", Delegate: "proto", URL: a.cfg.URL,
				Credential: delegate.CredentialDigest(SchemeBearer, secretToken)}); id != "" {
				t.Errorf("a resumed task taught the conversation %q", id)
			}
		})
	}
}

// TestReadTask shows a look at a task for a late answer: one GetTask without history, and
// nothing else (spec: rooms, 7.5), unless it has settled without a word.
func TestReadTask(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer reply
		state  delegate.TaskState
		text   string
		kind   delegate.Kind // of a failed task
	}{
		{"working", result(taskV1("WORKING", "on it", "half")), delegate.TaskWorking, "", ""},
		{"unknown state", result(taskV1("PONDERING", "")), delegate.TaskWorking, "", ""},
		{"completed", result(taskV1("COMPLETED", "", "done")), delegate.TaskAnswered, "done", ""},
		{"paused", result(taskV1("INPUT_REQUIRED", "which?")), delegate.TaskPaused, "which?", ""},
		{"failed", result(taskV1("FAILED", "no")), delegate.TaskFailed, "", delegate.KindFailed},
		{"rejected", result(taskV1("REJECTED", "no")), delegate.TaskFailed, "", delegate.KindRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakePeer{card: cardV1, replies: []reply{c.answer}}
			view, err := f.serve(t, nil).ReadTask(t.Context(), "task-1")
			if err != nil || view.State != c.state || view.ContextID != "ctx-1" || !strings.Contains(view.Reply.Text, c.text) {
				t.Fatalf("ReadTask = %+v, %v", view, err)
			}
			if view.Err != nil != (c.kind != "") || view.Err != nil && view.Err.Kind != c.kind {
				t.Errorf("the failure is %v, want kind %q", view.Err, c.kind)
			}
			if sent := f.requests(); len(sent) != 1 || sent[0].method != "GetTask" || sent[0].params["historyLength"] != 0.0 || sent[0].params["id"] != "task-1" {
				t.Errorf("the peer was sent %+v", sent)
			}
		})
	}
	silent := &fakePeer{card: cardV1, replies: []reply{result(taskV1("COMPLETED", "")), result(inHistory("COMPLETED", "agent:It is auth."))}}
	view, err := silent.serve(t, nil).ReadTask(t.Context(), "task-1")
	if err != nil || view.Reply.Text != "It is auth." || silent.methods() != "GetTask GetTask" || silent.requests()[1].params["historyLength"] != nil {
		t.Errorf("a task without words = %+v, %v by %+v", view, err, silent.requests())
	}
	f := &fakePeer{card: cardV1, replies: []reply{rpcFailure(-32001, "gone", ""), {status: 502}}}
	a := f.serve(t, nil)
	if _, err := a.ReadTask(t.Context(), "task-1"); !errors.Is(err, delegate.ErrUnknownTask) {
		t.Errorf("an unknown task = %v", err)
	}
	if _, err := a.ReadTask(t.Context(), "task-1"); err == nil || errors.Is(err, delegate.ErrUnknownTask) {
		t.Errorf("a lost peer = %v", err)
	}
}

// TestPeerKey shows that a peer's key changes with the url, the scheme and the credential,
// and that a context can be rejoined under the conversation's key.
func TestPeerKey(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []struct{ name, url, scheme, token string }{
		{"a", "http://h/a", SchemeBearer, "one"}, {"another url", "http://h/b", SchemeBearer, "one"},
		{"another scheme", "http://h/a", SchemeAPIKey, "one"}, {"another token", "http://h/a", SchemeBearer, "two"},
	} {
		key, err := newAgent(t, Config{Name: "proto", URL: c.url, Scheme: c.scheme, Token: func() (string, error) { return c.token, nil }}).PeerKey()
		if err != nil || seen[key] != "" || strings.Contains(key, c.token) {
			t.Errorf("%s: PeerKey = %q, %v; as %q", c.name, key, err, seen[key])
		}
		seen[key] = c.name
	}
	f := &fakePeer{card: cardV1, replies: []reply{result(inTask(taskV1("COMPLETED", "", "hi")))}}
	a := f.serve(t, func(c *Config) { c.Continuity = delegate.NewMemoryContinuity() })
	if err := a.Rejoin(t.Context(), "thread-1", "", "ctx-late"); err != nil {
		t.Fatal(err)
	}
	a.Ask(t.Context(), delegate.Request{Prompt: "hi", Conversation: "thread-1"})
	if id := messageOf(f.requests()[0])["contextId"]; id != "ctx-late" {
		t.Errorf("the message has context %v", id)
	}
}

// spec 7.3: an answer that comes late does not take the conversation from a newer address.
func TestRejoinLeavesANewerConversation(t *testing.T) {
	f := &fakePeer{card: cardV1, replies: []reply{
		result(inTask(taskV1("COMPLETED", "", "hi"))), result(inTask(taskV1("COMPLETED", "", "hi")))}}
	a := f.serve(t, func(c *Config) { c.Continuity = delegate.NewMemoryContinuity() })
	a.Ask(t.Context(), delegate.Request{Prompt: "hi", Conversation: "thread-1"})
	if err := a.Rejoin(t.Context(), "thread-1", "", "ctx-late"); err != nil {
		t.Fatal(err)
	}
	a.Ask(t.Context(), delegate.Request{Prompt: "hi", Conversation: "thread-1"})
	if id := messageOf(f.requests()[1])["contextId"]; id == "ctx-late" || id == nil {
		t.Errorf("the next message has context %v", id)
	}
}
