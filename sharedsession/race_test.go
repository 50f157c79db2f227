package sharedsession_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/sharedsession"
)

// Fifty posts at once that wake one agent: fifty consecutive numbers, one turn at a time, each
// post answered by exactly one turn.
func TestParallelWakes(t *testing.T) {
	const posts = 50
	stores(t, func(t *testing.T, saver checkpointer.Saver) {
		var working, most counter
		var mu sync.Mutex
		answered := map[string]int{}
		proto := &voice{"proto", func(_ context.Context, req delegate.Request) (delegate.Reply, error) {
			most.atLeast(working.add(1))
			defer working.add(-1)
			_, asked, _ := strings.Cut(req.Prompt, "You have been addressed directly as @proto.")
			mu.Lock()
			defer mu.Unlock()
			for i := range posts {
				if strings.Contains(asked, fmt.Sprintf("number %d.", i)) {
					answered[fmt.Sprint(i)]++
				}
			}
			return delegate.Reply{Text: "seen"}, nil
		}}
		w := serve(t, saver, nil, proto)
		many := 500
		// Two senders, as one wakes agents thirty times in five minutes.
		id := w.create(sharedsession.NewRoom{Name: "n", Agents: invite("proto"), Users: []string{"bob"}, MaxMessages: &many})
		seqs := make([]int64, posts)
		var group sync.WaitGroup
		for i := range posts {
			group.Go(func() {
				who := []sharedsession.Caller{ada, user("bob")}[i%2]
				p, err := w.Post(t.Context(), who, id, sharedsession.NewPost{Content: fmt.Sprintf("@proto number %d.", i)})
				if err != nil || len(p.Wakes) != 1 {
					t.Errorf("%+v, %v", p, err)
				}
				seqs[i] = p.Seq
			})
		}
		group.Wait()
		w.idle(id)
		if most.add(0) != 1 {
			t.Errorf("%d turns at once", most.add(0))
		}
		messages := w.read(id).Messages
		for i := range posts {
			if n := answered[fmt.Sprint(i)]; n != 1 {
				t.Errorf("post %d was answered %d times", i, n)
			}
			if m := messages[seqs[i]-1]; m.Content != fmt.Sprintf("@proto number %d.", i) {
				t.Errorf("seq %d is %q", seqs[i], m.Content)
			}
		}
		for i, m := range messages {
			if m.Seq != int64(i)+1 {
				t.Errorf("seq %d at %d", m.Seq, i)
			}
		}
	})
}

// A person closes the room at the moment at which its budget does: one of them does, and one
// line says which.
func TestOneCloses(t *testing.T) {
	stores(t, func(t *testing.T, saver checkpointer.Saver) {
		won := map[string]int{}
		w := serve(t, saver, nil, says("proto", "pass"))
		for range 30 {
			two := 2
			id := w.create(sharedsession.NewRoom{Name: "n", Agents: invite("proto"), MaxMessages: &two})
			var group sync.WaitGroup
			var told sharedsession.Closing
			group.Go(func() {
				var err error
				if told, err = w.Shut(t.Context(), ada, id, "by hand"); err != nil {
					t.Error(err)
				}
			})
			for i := range 3 {
				group.Go(func() {
					_, err := w.Post(t.Context(), ada, id, sharedsession.NewPost{Content: fmt.Sprint("note ", i)})
					if code := ofCode(err); code != "" && code != "room_closed" {
						t.Error(err)
					}
				})
			}
			group.Wait()
			d := w.read(id)
			closed := 0
			for _, line := range linesOf(d.Messages) {
				if strings.Contains(line, "closed") {
					closed++
				}
			}
			if d.Status != sharedsession.Closed || closed != 1 || told.StopReason != *d.StopReason || d.MessageCount > two {
				t.Errorf("%+v, told %+v: %q", d.Room, told, linesOf(d.Messages))
			}
			won[*d.StopReason]++
		}
		t.Log(won)
	})
}

// A ring of three, and three mentions in each reply: bounded, with one line for each time that
// somebody was not woken.
func TestRingsAreBounded(t *testing.T) {
	many := 500
	ring := serve(t, memory(t), nil, says("a", "@b next"), says("b", "@c next"), says("c", "@a next"))
	p := ring.ask(ring.create(sharedsession.NewRoom{Name: "n", Agents: invite("a", "b", "c"), MaxMessages: &many}), "@a begin")
	lines := linesOf(p.Messages)
	if len(lines) != 9 || lines[8] != "*: Not woken: @c (the chain is 8 turns deep)." {
		t.Errorf("a ring: %q", lines)
	}
	all := "@a @b @c @d"
	w := serve(t, memory(t), nil, says("a", all), says("b", all), says("c", all), says("d", all))
	p = w.ask(w.create(sharedsession.NewRoom{Name: "n", Agents: invite("a", "b", "c", "d"), MaxMessages: &many}), "@a begin")
	turns, refusals := 0, 0
	for i, m := range p.Messages {
		if m.Sender != nil {
			turns++
			continue
		}
		refusals++
		if !strings.HasPrefix(m.Content, "Not woken: @") || p.Messages[i-1].Sender == nil {
			t.Errorf("%d: %q", m.Seq, m.Content)
		}
	}
	if turns > 24 || refusals == 0 || refusals > turns {
		t.Errorf("%d turns and %d lines: %q", turns, refusals, linesOf(p.Messages))
	}
}
