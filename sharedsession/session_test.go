package sharedsession_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/sharedsession"
)

func TestAMentionWakes(t *testing.T) {
	stores(t, func(t *testing.T, saver checkpointer.Saver) {
		w := serve(t, saver, nil, says("proto", "@reviewer please look"), says("reviewer", "looks fine"))
		id := w.open("proto", "reviewer")
		w.say(id, "a note that wakes nobody")
		p := w.ask(id, "@proto what broke?")
		if len(p.Wakes) != 1 || p.Wakes[0].State != sharedsession.Done {
			t.Errorf("wakes are %v", p.Wakes)
		}
		want := []string{
			"*: ada created the room with @proto, @reviewer.",
			"ada: a note that wakes nobody",
			"ada: @proto what broke?",
			"proto: @reviewer please look",
			"reviewer: looks fine",
		}
		if diff := cmp.Diff(want, w.lines(id)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want[3:], linesOf(p.Messages)); diff != "" {
			t.Errorf("the chain: %s", diff)
		}
		for i, m := range w.read(id).Messages {
			if m.Seq != int64(i)+1 {
				t.Errorf("seq %d at %d", m.Seq, i)
			}
		}
	})
}

// Fifty posts at once have fifty consecutive numbers, and none is lost.
func TestParallelPosts(t *testing.T) {
	stores(t, func(t *testing.T, saver checkpointer.Saver) {
		w := serve(t, saver, nil, says("proto", "ok"))
		id := w.open("proto")
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				if _, err := w.Post(t.Context(), ada, id, sharedsession.NewPost{Content: fmt.Sprint("note ", i)}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		d := w.read(id)
		if d.HeadSeq != 51 || d.MessageCount != 50 || len(d.Messages) != 51 {
			t.Errorf("head %d, count %d, %d messages", d.HeadSeq, d.MessageCount, len(d.Messages))
		}
	})
}

// Mentions that arrive while an agent works are answered by one further turn.
func TestOneTurnAtATime(t *testing.T) {
	proto := holds("proto")
	w := serve(t, memory(t), nil, proto.voice)
	id := w.open("proto")
	first := w.say(id, "@proto one")
	<-proto.asked
	second := w.say(id, "@proto two")
	third := w.say(id, "@proto three")
	if second.Wakes[0].ID == first.Wakes[0].ID || third.Wakes[0].ID != second.Wakes[0].ID {
		t.Errorf("wakes %v, %v, %v", first.Wakes, second.Wakes, third.Wakes)
	}
	proto.answer <- "answer to one"
	prompt := <-proto.asked
	if !strings.Contains(prompt, "@proto two") || !strings.Contains(prompt, "@proto three") || strings.Contains(prompt, "@proto one") {
		t.Errorf("the further turn's prompt is\n%s", prompt)
	}
	proto.answer <- "answer to both"
	w.idle(id)
	got := w.lines(id)
	if n := len(got); n != 6 || got[5] != "proto: answer to both" {
		t.Errorf("%q", got)
	}
}

// Two agents that mention each other for ever stop, with one line that says who was not woken.
func TestAChainIsBounded(t *testing.T) {
	w := serve(t, memory(t), nil, says("a", "@b go on"), says("b", "@a go on"))
	id := w.open("a", "b")
	p := w.ask(id, "@a begin")
	if n := len(p.Messages); n != 9 {
		t.Errorf("%d messages: %q", n, linesOf(p.Messages))
	}
	last := p.Messages[len(p.Messages)-1]
	if last.Sender != nil || last.Content != "Not woken: @a (the chain is 8 turns deep)." {
		t.Errorf("%+v", last)
	}
}

func TestPassFailureAndCursor(t *testing.T) {
	texts := []delegate.Reply{{Text: "pass"}, {}, {Text: "here"}}
	var prompts []string
	v := &voice{"proto", nil}
	v.ask = func(_ context.Context, req delegate.Request) (delegate.Reply, error) {
		prompts = append(prompts, req.Prompt)
		if len(prompts) == 2 {
			return delegate.Reply{}, &delegate.Error{Delegate: "proto", Kind: delegate.KindUnreachable, Err: fmt.Errorf("connection refused %s", strings.Repeat("x", 400))}
		}
		return texts[len(prompts)-1], nil
	}
	w := serve(t, memory(t), nil, v)
	id := w.open("proto")
	if p := w.ask(id, "@proto one"); p.Wakes[0].State != sharedsession.Passed {
		t.Errorf("%v", p.Wakes)
	}
	if p := w.ask(id, "@proto two"); p.Wakes[0].State != sharedsession.Failed {
		t.Errorf("%v", p.Wakes)
	}
	if p := w.ask(id, "@proto three"); p.Wakes[0].State != sharedsession.Done {
		t.Errorf("%v", p.Wakes)
	}
	if strings.Contains(prompts[1], "@proto one") {
		t.Error("a pass did not move the place")
	}
	if !strings.Contains(prompts[2], "@proto two") {
		t.Error("a failure moved the place")
	}
	got := w.lines(id)
	if len(got) != 6 || !strings.HasPrefix(got[3], "*: @proto failed: connection refused") || len(got[3]) > 250 {
		t.Errorf("%q", got)
	}
}

// The room closes right after the reply that reaches a budget, and the scribe's words are its
// summary.
func TestBudgetClosesAndScribeSums(t *testing.T) {
	w := serve(t, memory(t), nil, says("proto", "done"), says("scribe", "we were done"))
	two := 2
	id := w.create(sharedsession.NewRoom{Name: "n", Agents: invite("proto", "scribe"), MaxMessages: &two, Scribe: "scribe"})
	w.ask(id, "@proto go")
	w.idle(id)
	d := w.read(id)
	if d.Status != sharedsession.Closed || *d.StopReason != "max_messages" || d.Summary == nil || *d.Summary != "we were done" {
		t.Errorf("%+v", d.Room)
	}
	_, err := w.Post(t.Context(), ada, id, sharedsession.NewPost{Content: "more"})
	if ofCode(err) != "room_closed" {
		t.Error(err)
	}
	if got := w.lines(id); got[len(got)-1] != "*: The room closed: max_messages." || len(got) != 4 {
		t.Errorf("%q", got)
	}
}

func TestStop(t *testing.T) {
	proto := holds("proto")
	w := serve(t, memory(t), nil, proto.voice)
	id := w.open("proto")
	p := w.say(id, "@proto work")
	<-proto.asked
	got, err := w.Stop(t.Context(), ada, id, p.Wakes[0].ID)
	if err != nil || got.State != sharedsession.Stopped {
		t.Errorf("%v, %v", got, err)
	}
	w.idle(id)
	if lines := w.lines(id); lines[len(lines)-1] != "*: ada stopped @proto." {
		t.Errorf("%q", lines)
	}
}

// A reply that comes after the close is stored, and marked late.
func TestLateReply(t *testing.T) {
	proto := holds("proto")
	w := serve(t, memory(t), nil, proto.voice)
	id := w.open("proto")
	w.say(id, "@proto work")
	<-proto.asked
	if _, err := w.Shut(t.Context(), ada, id, ""); err != nil {
		t.Fatal(err)
	}
	c, err := w.Shut(t.Context(), ada, id, "again")
	if err != nil || !c.AlreadyClosed || c.StopReason != "user_closed" {
		t.Errorf("%+v, %v", c, err)
	}
	proto.answer <- "here it is"
	w.idle(id)
	lines := w.lines(id)
	if lines[len(lines)-1] != "proto (late): here it is" {
		t.Errorf("%q", lines)
	}
}

// busyStore stores something more once a room's messages are read.
type busyStore struct {
	*memorysaver.Saver
	once func()
}

func (b *busyStore) Messages(ctx context.Context, at checkpointer.Ref, r checkpointer.Range) iter.Seq2[langrooms.Message, error] {
	if do := b.once; do != nil {
		b.once = nil
		do()
	}
	return b.Saver.Messages(ctx, at, r)
}

// What a reader is shown of a room fits the messages beside it, whatever is said meanwhile.
func TestAReadIsOfOneMoment(t *testing.T) {
	saver := &busyStore{Saver: memorysaver.New()}
	t.Cleanup(func() { saver.Close() })
	w := serve(t, saver, nil, says("proto", "yes"))
	id := w.create(sharedsession.NewRoom{Name: "n", Agents: invite("proto"), Users: []string{"bob"}})
	post := func() {
		if _, err := w.Post(t.Context(), user("bob"), id, sharedsession.NewPost{Content: "meanwhile"}); err != nil {
			t.Error(err)
		}
	}
	post()
	saver.once = post
	d := w.read(id)
	if last := d.Messages[len(d.Messages)-1].Seq; d.HeadSeq != 2 || last != 2 || d.Unread != 0 {
		t.Errorf("the head is %d beside messages up to %d, %d unread", d.HeadSeq, last, d.Unread)
	}
	if d = w.read(id); d.HeadSeq != 3 || len(d.Messages) != 3 || d.Unread != 0 {
		t.Errorf("afterwards: head %d, %d messages, %d unread", d.HeadSeq, len(d.Messages), d.Unread)
	}
}
