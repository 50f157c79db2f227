package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
)

// The thread is held for the whole run: another turn on it waits, in order of arrival, and
// gives up when its context ends; a turn on another thread does not wait.
func TestTurnsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory(t)
		answer := make(chan string)
		slow := &voice{"slow", func(context.Context, delegate.Request) (delegate.Reply, error) {
			return delegate.Reply{Text: <-answer}, nil
		}}
		r := roomOf(t, 1, slow, says("a", "second", "elsewhere"))
		ended := make(chan string, 4)
		turn := func(ctx context.Context, thread, message, to string) {
			result, err := take(ctx, s, thread, r, address(message, to))
			ended <- fmt.Sprintf("%s: %s %t", message, result.Text, errors.Is(err, context.Canceled))
		}
		go turn(t.Context(), "t", "one", "slow")
		synctest.Wait()
		impatient, giveUp := context.WithCancel(t.Context())
		go turn(impatient, "t", "never", "a")
		synctest.Wait()
		go turn(t.Context(), "t", "two", "a")
		synctest.Wait()
		if len(ended) != 0 {
			t.Fatalf("a turn did not wait: %s", <-ended)
		}
		giveUp()
		if got := <-ended; got != "never:  true" {
			t.Errorf("the impatient turn ended with %q", got)
		}
		go turn(t.Context(), "other", "three", "a")
		if got := <-ended; got != "three: second false" {
			t.Errorf("the turn on another thread ended with %q", got)
		}
		answer <- "first"
		if got := []string{<-ended, <-ended}; !slices.Equal(got, []string{"one: first false", "two: elsewhere false"}) {
			t.Errorf("ended %q", got)
		}
		checkWhole(t, messages(t, s, "t"))
	})
}

// There is no wall clock on a round: a member may work for as long as its own bound allows
// (spec 4.7).
func TestNoClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		worker := func(name string) *voice {
			return &voice{name, func(context.Context, delegate.Request) (delegate.Reply, error) {
				<-time.After(72 * time.Hour)
				return delegate.Reply{Text: "deployed"}, nil
			}}
		}
		result, err := take(t.Context(), memory(t), "t", roomOf(t, 10, worker("a"), worker("b")), address("deploy", "a", "b"))
		if err != nil || result.Reason != langrooms.ReasonCapped || len(result.Outcomes) != 20 {
			t.Fatalf("%d outcomes, %s, error %v", len(result.Outcomes), result.Reason, err)
		}
		if took := result.Outcomes[19].Duration; took != 72*time.Hour {
			t.Errorf("the last dispatch took %v", took)
		}
	})
}

// An address in the lead's superstep is staged: the tool's call and result come first, then
// the room's records, all in one checkpoint; a second address in it reads the first one's.
func TestReserveAndFlush(t *testing.T) {
	s := &watched{Saver: memory(t)}
	turn, err := exchange.Begin(t.Context(), s, "t")
	if err != nil {
		t.Fatal(err)
	}
	defer turn.End()
	if err := turn.Put("input", langrooms.NewMessage(langrooms.RoleHuman, "ask them")); err != nil {
		t.Fatal(err)
	}
	var prompts []string
	member := func(name, text string) *voice {
		return &voice{name, func(_ context.Context, req delegate.Request) (delegate.Reply, error) {
			prompts = append(prompts, req.Prompt)
			return delegate.Reply{Text: text}, nil
		}}
	}
	r := roomOf(t, 1, member("a", "auth did"), member("b", "I agree"))
	s.calls = nil
	call := langrooms.NewMessage(langrooms.RoleAI, "I ask")
	turn.Reserve(2, call)
	for _, name := range []string{"a", "b"} {
		if _, err := turn.Address(t.Context(), r, exchange.Address{From: room.Speaker{Kind: room.SpeakerLead, Name: "assistant"}, To: []string{name}, Message: "what broke?"}); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Contains(s.calls, "put") {
		t.Errorf("put before Flush: %v", s.calls)
	}
	if !strings.Contains(prompts[0], "[operator] ask them\n[assistant] I ask\n") {
		t.Errorf("a was not shown what the lead said beside its call:\n%s", prompts[0])
	}
	if !strings.Contains(prompts[1], "[operator] ask them\n[assistant] I ask\n[assistant] what broke?\n[a] auth did\n") {
		t.Errorf("b was not shown what was said in the same superstep:\n%s", prompts[1])
	}
	front := []langrooms.Message{call, langrooms.NewMessage(langrooms.RoleTool, "auth did")}
	if err := turn.Flush("loop", front[:1]...); err == nil {
		t.Error("fewer messages than were reserved: no error")
	}
	if err := turn.Flush("loop", front...); err != nil {
		t.Fatal(err)
	}
	want := []string{"human: ask them", "ai: I ask", "tool: auth did",
		"assistant to a: what broke?", "a 1: auth did", "assistant to b: what broke?", "b 1: I agree"}
	all := messages(t, s.Saver, "t")
	if got := lines(all); !slices.Equal(got, want) {
		t.Errorf("the thread holds %q", got)
	}
	for _, m := range all {
		if m.Stamp != nil && m.Stamp.Round == 1 && m.Stamp.Seen != m.Seq {
			t.Errorf("%s at %d has seen %d", m.Stamp.From, m.Seq, m.Stamp.Seen)
		}
	}
}

// Who resumes a task is sent the message alone, without a conversation key: nothing was shown,
// so nothing counts as seen.
func TestResume(t *testing.T) {
	s := memory(t)
	var asked delegate.Request
	a := &voice{"a", func(_ context.Context, req delegate.Request) (delegate.Reply, error) {
		asked = req
		return delegate.Reply{Text: "deleted"}, nil
	}}
	if _, err := take(t.Context(), s, "t", roomOf(t, 1, says("b", "hello")), address("hi", "b")); err != nil {
		t.Fatal(err)
	}
	resume := address("yes, delete it", "a")
	resume.Resume, resume.Timeout = "task-1", time.Minute
	result, err := take(t.Context(), s, "t", roomOf(t, 1, a), resume)
	if err != nil {
		t.Fatal(err)
	}
	if asked.Prompt != "yes, delete it" || asked.Conversation != "" || asked.ResumeTask != "task-1" || asked.Timeout != time.Minute {
		t.Errorf("asked with %+v", asked)
	}
	last := messages(t, s, "t")[3]
	if result.Outcomes[0].CaughtUp != 0 || last.Stamp.Seen != 0 {
		t.Errorf("caught up %d, seen %d, though nothing was shown", result.Outcomes[0].CaughtUp, last.Stamp.Seen)
	}
}

// What the peer says of the cost is handed on, and how long the dispatch took is measured.
func TestOutcomeTellsTheCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		usage := &langrooms.Usage{InputTokens: 12, OutputTokens: 3}
		a := &voice{"a", func(context.Context, delegate.Request) (delegate.Reply, error) {
			<-time.After(3 * time.Second)
			return delegate.Reply{Text: "auth did", Usage: usage}, nil
		}}
		began := time.Now()
		result, err := take(t.Context(), memory(t), "t", roomOf(t, 1, a), address("what broke?", "a"))
		if err != nil {
			t.Fatal(err)
		}
		if o := result.Outcomes[0]; *o.Usage != *usage || o.Duration != 3*time.Second || !o.Started.Equal(began) {
			t.Errorf("got %+v", o)
		}
	})
}

// A peer that had forgotten the conversation is told of, as a fact and in words.
func TestNewConversationIsTold(t *testing.T) {
	a := &voice{"a", func(context.Context, delegate.Request) (delegate.Reply, error) {
		return delegate.Reply{Text: "auth did", NewConversation: true}, nil
	}}
	result, err := take(t.Context(), memory(t), "t", roomOf(t, 1, a), address("what broke?", "a"))
	if err != nil || !result.Outcomes[0].NewConversation || !slices.Equal(result.Notes.NewConversation, []string{"a"}) {
		t.Fatalf("got %+v, %v", result, err)
	}
	if !strings.Contains(result.Aside, "conversation with @a had been forgotten") {
		t.Errorf("the operator reads %q", result.Text)
	}
}

// What a delegate sends is made valid, and an answer that was cut short says so.
func TestReplyIsMadeFit(t *testing.T) {
	tests := []struct {
		rule  string
		reply delegate.Reply
		want  string
	}{
		{"invalid UTF-8 is replaced", delegate.Reply{Text: "a\xffb"}, "a\uFFFDb"},
		{"trimmed at both ends", delegate.Reply{Text: "\n a\u2003\n"}, "a"},
		{"cut short", delegate.Reply{Text: "a", Incomplete: "max_tokens\nreached"}, "a\n\n(The answer is incomplete: max_tokens reached)"},
		{"nothing to cut short", delegate.Reply{Text: " ", Incomplete: "refusal"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			a := &voice{"a", func(context.Context, delegate.Request) (delegate.Reply, error) { return tt.reply, nil }}
			result, err := take(t.Context(), memory(t), "t", roomOf(t, 1, a), address("hi", "a"))
			if err != nil || result.Outcomes[0].Reply != tt.want {
				t.Errorf("got %q, error %v, want %q", result.Outcomes[0].Reply, err, tt.want)
			}
		})
	}
}

// An error that is no *delegate.Error is an outcome all the same.
func TestForeignError(t *testing.T) {
	s := memory(t)
	a := &voice{"a", func(context.Context, delegate.Request) (delegate.Reply, error) {
		return delegate.Reply{}, errors.New("two\nlines")
	}}
	result, err := take(t.Context(), s, "t", roomOf(t, 1, a), address("hi", "a"))
	if err != nil || result.Text != "Delegate @a failed: two lines" {
		t.Errorf("told %q, error %v", result.Text, err)
	}
	want := []string{"operator to a: hi", "a 1 failed: (could not be reached: two lines)"}
	if got := lines(messages(t, s, "t")); !slices.Equal(got, want) {
		t.Errorf("the thread holds %q", got)
	}
}

// A saver without leases serves a program that sees to it by itself that one turn at a time is
// on a thread; another writer is ErrConflict and nothing of its words is lost.
func TestWithoutLeases(t *testing.T) {
	plain := struct{ checkpointer.Saver }{memory(t)}
	a := &voice{"a", func(ctx context.Context, _ delegate.Request) (delegate.Reply, error) {
		cp, err := plain.Get(ctx, checkpointer.Ref{Thread: "t"})
		if err == nil {
			step := checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, "me too"))}
			_, err = plain.Put(ctx, cp.Ref, step)
		}
		return delegate.Reply{Text: "the answer"}, err
	}}
	result, err := take(t.Context(), plain, "t", roomOf(t, 1, a), address("hi", "a"))
	if err != nil || !strings.Contains(result.Text, "the answer") || !strings.Contains(result.Text, "the thread has moved on") {
		t.Errorf("told %q, error %v", result.Text, err)
	}
	if got := lines(messages(t, plain, "t")); !slices.Equal(got, []string{"operator to a: hi", "human: me too"}) {
		t.Errorf("the thread holds %q", got)
	}
}
