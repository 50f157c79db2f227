package roomnode_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/nodes/roomnode"
)

// deployer asks for a branch before it deploys, and forgets nothing.
type deployer struct {
	asked []delegate.Request
	fails error // the next ask
}

func (d *deployer) Info() delegate.Info {
	return delegate.Info{Name: "proto", Type: "test", Conversational: true, Resumable: true}
}
func (d *deployer) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (d *deployer) Close() error                                   { return nil }

func (d *deployer) Ask(_ context.Context, req delegate.Request) (delegate.Reply, error) {
	d.asked = append(d.asked, req)
	if err := d.fails; err != nil {
		d.fails = nil
		return delegate.Reply{}, err
	}
	switch {
	case req.ResumeTask != "":
		return delegate.Reply{Text: "deployed " + req.Prompt}, nil
	case len(d.asked) == 1:
		return delegate.Reply{Text: "⏸ which branch?", Paused: true, Task: "task-7"}, nil
	}
	return delegate.Reply{Text: "hello"}, nil
}

// A member's question is answered straight by Answer, and by no ordinary address; what stands
// on the thread says which task waits, for another process too.
func TestAnswer(t *testing.T) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			saver := s.open(t)
			proto := &deployer{}
			members := []delegate.Delegate{proto, echo("reviewer")}
			node := func() *roomnode.Node {
				registry, err := delegate.NewRegistry(members...)
				if err != nil {
					t.Fatal(err)
				}
				live := delegate.NewLive(registry)
				t.Cleanup(func() { live.Close() })
				n, err := roomnode.New(roomnode.Config{Saver: saver, Room: exchange.RoomOf(live)})
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			type take = func(*roomnode.Node, context.Context, roomnode.Turn) (langrooms.Result, error)
			said := func(how take, text, want string) langrooms.Result {
				t.Helper()
				r, err := how(node(), t.Context(), roomnode.Turn{Thread: "t", Text: text})
				if err != nil || r.Text != want {
					t.Errorf("%s: %q, %v; want %q", text, r.Text, err, want)
				}
				return r
			}
			refused := func(text, want string, reason langrooms.Reason) {
				t.Helper()
				before := length(t, saver)
				if r := said((*roomnode.Node).Answer, text, want); r.Reason != reason || length(t, saver) != before {
					t.Errorf("%s: reason %q", text, r.Reason)
				}
			}
			refused("@proto main", "@proto does not wait for an answer. Write @proto and a message to speak to it.", langrooms.ReasonNotWaiting)
			r := said((*roomnode.Node).Handle, "@proto deploy", "⏸ which branch?")
			if r.Outcomes[0].Task != "task-7" {
				t.Errorf("the outcome's task is %q", r.Outcomes[0].Task)
			}
			said((*roomnode.Node).Handle, "@proto hi", "hello") // no resume, and the task waits on
			refused("@proto", "There is no message for @proto. Write it after the name, as in: @proto what broke the build?", langrooms.ReasonNoMessage)
			refused("@prto main", "Unknown or unreachable delegate: @prto. Available: proto, reviewer.\nDid you mean @proto?", langrooms.ReasonUnknown)
			refused("main", "An answer goes to one delegate that waits for it, as in: /answer @name main", langrooms.ReasonNotWaiting)
			refused("@reviewer main", "@reviewer does not wait for an answer. Write @reviewer and a message to speak to it.", langrooms.ReasonNotWaiting)
			proto.fails = &delegate.Error{Delegate: "proto", Kind: delegate.KindUnreachable, Err: errors.New("connection refused")}
			said((*roomnode.Node).Answer, "@proto main", "Delegate @proto failed: connection refused")
			r = said((*roomnode.Node).Answer, "@proto main", "deployed main") // it could not be asked, so it waited
			last := proto.asked[len(proto.asked)-1]
			if last.ResumeTask != "task-7" || last.Prompt != "main" || last.Conversation != "" || r.Outcomes[0].CaughtUp != 0 {
				t.Errorf("asked %+v", last)
			}
			refused("@proto main", "@proto does not wait for an answer. Write @proto and a message to speak to it.", langrooms.ReasonNotWaiting)
			if len(proto.asked) != 4 {
				t.Errorf("asked %d times", len(proto.asked))
			}
			checkStamps(t, saver)
		})
	}
}

func length(t *testing.T, s checkpointer.Saver) int64 {
	cp, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t"})
	if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
		t.Fatal(err)
	}
	return cp.Length
}

func checkStamps(t *testing.T, s checkpointer.Saver) {
	t.Helper()
	var got []string
	for m, err := range s.Messages(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s→%v %s%s", m.Stamp.From, m.Stamp.To, m.Stamp.Task, m.Stamp.ErrorKind))
	}
	want := "[operator→[proto]  proto→[] task-7 operator→[proto]  proto→[]  operator→[proto] task-7 proto→[] unreachable operator→[proto] task-7 proto→[] ]"
	if fmt.Sprint(got) != want {
		t.Errorf("the stamps are\n%v, want\n%s", got, want)
	}
}
