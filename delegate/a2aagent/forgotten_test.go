package a2aagent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

// TestForgottenContext shows what becomes of a peer that no longer knows the context which
// it gave us, in each form that peers say so: the message goes out once more without it, and
// the reply tells that a new conversation began.
func TestForgottenContext(t *testing.T) {
	learn := result(inTask(taskV1("COMPLETED", "", "hello")))
	anew := result(`{"message":{"contextId":"ctx-2","parts":[{"text":"who are you?"}]}}`)
	for _, c := range []struct {
		name    string
		refusal reply
		again   bool // the message goes out once more
	}{
		{"-32602", rpcFailure(-32602, "unknown context", ""), true},
		{"-32001", rpcFailure(-32001, "no such context", ""), true},
		{"-32603", rpcFailure(-32603, "internal", ""), true},
		{"-32603 as HTTP 500", reply{status: 500, body: rpcFailure(-32603, "internal", "").body}, true},
		{"400", reply{status: 400}, true},
		{"404", reply{status: 404}, true},
		{"410", reply{status: 410}, true},
		{"a custom error", rpcFailure(-32000, "no", ""), false},
		{"401", reply{status: 401}, false},
		{"403", reply{status: 403}, false},
		{"500 outside of the protocol", reply{status: 500}, false},
		{"a failed task", result(inTask(taskV1("FAILED", "no"))), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakePeer{card: cardV1, replies: []reply{learn, c.refusal, anew}}
			a := f.serve(t, func(cfg *Config) { cfg.Continuity = delegate.NewMemoryContinuity() })
			req := delegate.Request{Prompt: "what broke?", Conversation: "thread-1"}
			if got, err := a.Ask(t.Context(), req); err != nil || got.NewConversation {
				t.Fatalf("the first ask = %+v, %v", got, err)
			}
			got, err := a.Ask(t.Context(), req)
			sent := f.requests()[1:]
			if !c.again {
				if err == nil || len(sent) != 1 {
					t.Errorf("Ask = %+v, %v by %d messages", got, err, len(sent))
				}
				return
			}
			if err != nil || got.Text != "who are you?" || !got.NewConversation || len(sent) != 2 {
				t.Fatalf("Ask = %+v, %v by %d messages", got, err, len(sent))
			}
			for i, want := range []any{"ctx-1", nil} {
				if m := messageOf(sent[i]); m["contextId"] != want || fmt.Sprint(m["parts"]) != fmt.Sprint(messageOf(sent[0])["parts"]) {
					t.Errorf("message %d has context %v, parts %v", i, m["contextId"], m["parts"])
				}
			}
			if got, err = a.Ask(t.Context(), req); err != nil || got.NewConversation {
				t.Errorf("the next ask = %+v, %v", got, err)
			}
			if id := messageOf(f.requests()[3])["contextId"]; id != "ctx-2" {
				t.Errorf("the next message has context %v", id)
			}
		})
	}
}

// TestForgottenContextIsOpened shows that the message which goes out without the context is the
// opening one, which is asked for only then.
func TestForgottenContextIsOpened(t *testing.T) {
	learn := result(inTask(taskV1("COMPLETED", "", "hello")))
	f := &fakePeer{card: cardV1, replies: []reply{learn, {status: 404}, learn, learn}}
	a := f.serve(t, func(cfg *Config) { cfg.Continuity = delegate.NewMemoryContinuity() })
	opened := 0
	req := delegate.Request{Prompt: "what broke?", Conversation: "thread-1", Opening: func(context.Context) (string, error) {
		opened++
		return "from the start", nil
	}}
	for range 3 {
		if _, err := a.Ask(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	var sent []string
	for _, r := range f.requests() {
		sent = append(sent, fmt.Sprint(messageOf(r)["parts"]))
	}
	if opened != 1 || len(sent) != 4 || strings.Contains(sent[1], "from the start") || !strings.Contains(sent[2], "from the start") || sent[3] != sent[0] {
		t.Errorf("opened %d times; sent %q", opened, sent)
	}
	req.Opening = func(context.Context) (string, error) { return "", errors.New("the store is away") }
	f.replies = []reply{{status: 404}}
	if _, err := a.Ask(t.Context(), req); err == nil || len(f.requests()) != 5 {
		t.Errorf("an opening that cannot be had: %v after %d messages", err, len(f.requests()))
	}
}

// TestRefusedOtherwise shows that a message which is refused without the context too was not
// refused for it: the conversation stays. One without a context is sent once.
func TestRefusedOtherwise(t *testing.T) {
	f := &fakePeer{card: cardV1, replies: []reply{result(inTask(taskV1("COMPLETED", "", "hello"))), {status: 400}, {status: 410}}}
	a := f.serve(t, func(cfg *Config) { cfg.Continuity = delegate.NewMemoryContinuity() })
	req := delegate.Request{Prompt: "what broke?", Conversation: "thread-1"}
	a.Ask(t.Context(), req) // learns the context
	got, err := a.Ask(t.Context(), req)
	if kindOf(err) != delegate.KindRefused || got.NewConversation || delegate.AsError("", err).Status != 410 || len(f.requests()) != 3 {
		t.Errorf("Ask = %+v, %v by %q", got, err, f.methods())
	}
	a.Ask(t.Context(), req)
	if id := messageOf(f.requests()[3])["contextId"]; id != "ctx-1" {
		t.Errorf("the next message has context %v", id)
	}
	if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi", Conversation: "thread-2"}); err == nil || len(f.requests()) != 6 {
		t.Errorf("without a context: %v by %q", err, f.methods())
	}
}
