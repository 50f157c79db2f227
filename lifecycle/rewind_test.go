package lifecycle_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/langchain"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/thread"
)

// What follows the message is gone for every reader and the thread begins a new epoch; when
// nothing follows it nothing is changed or forgotten (spec: rooms, 7.3 and 11).
func TestRewind(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		for _, tt := range []struct {
			name string
			to   int // the message to keep last
			want []string
		}{
			{"in the middle", 1, []string{"human: a", "human: b"}},
			{"to the first", 0, []string{"human: a"}},
			{"to the last", 3, []string{"human: a", "human: b", "human: c", "human: d"}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				ids := say(t, s, tt.name, said("a", "b", "c", "d")...)
				before := epoch(t, s, tt.name)
				threads := threadsOf(s)
				n, err := threads.Rewind(t.Context(), tt.name, ids[tt.to])
				if err != nil {
					t.Fatal(err)
				}
				nothing := tt.to == 3
				expect(t, "dropped", 3-tt.to, n)
				expect(t, "thread", tt.want, texts(t, s, tt.name))
				expect(t, "the epoch stays", nothing, epoch(t, s, tt.name) == before)
				expect(t, "nothing is forgotten", nothing, len(threads.forgot) == 0)
				if found := readable(t, s, tt.name); !nothing && strings.Contains(found, "d") {
					t.Errorf("erased messages are readable through a checkpoint:\n%s", found)
				}
				say(t, s, tt.name, said("next")...)
				expect(t, "going on", append(tt.want, "human: next"), texts(t, s, tt.name))
			})
		}
	})
}

func TestRewindRefuses(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		say(t, s, "t", said("a", "b")...)
		threads := threadsOf(s)
		_, err := threads.Rewind(t.Context(), "t", "no-such-id")
		fails(t, err, lifecycle.ErrNoMessage, "no-such-id", `"t"`)
		_, err = threads.Rewind(t.Context(), "t", "")
		fails(t, err, lifecycle.ErrNoMessage)
		_, err = threads.Rewind(t.Context(), "nowhere", "x")
		fails(t, err, checkpointer.ErrNotFound, `"nowhere"`)
		_, err = threads.Rewind(t.Context(), "\xff", "x")
		fails(t, err, langrooms.ErrThreadID)
		expect(t, "thread", []string{"human: a", "human: b"}, texts(t, s, "t"))
		expect(t, "forgot", []string(nil), threads.forgot)
		expect(t, "nothing was made", []string(nil), texts(t, s, "nowhere"))
	})
}

// A member's window after a rewind knows nothing of what was erased, and the cast neither.
func TestRewindWindowAndCast(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		proto, late := &member{name: "proto", script: []string{"one", "two", "three"}}, &member{name: "reviewer", script: []string{"me too"}}
		address(t, s, "t", "first?", false, proto)
		keep := history(t, s, "t")[1].ID
		address(t, s, "t", "second?", false, proto, late)
		expect(t, "cast before", []string{"proto", "reviewer"}, room.Cast(history(t, s, "t"), ""))
		if _, err := threadsOf(s).Rewind(t.Context(), "t", keep); err != nil {
			t.Fatal(err)
		}
		expect(t, "cast", []string{"proto"}, room.Cast(history(t, s, "t"), ""))
		say(t, s, "t", said("a new start")...)
		address(t, s, "t", "third?", false, proto)
		prompt := proto.prompts[2]
		if strings.Contains(prompt, "second?") || strings.Contains(prompt, "me too") || !strings.Contains(prompt, "[operator] a new start") {
			t.Errorf("the prompt after the rewind:\n%s", prompt)
		}
	})
}

// A thread that was rewound into the middle of an update stays usable for a model.
func TestRewindIntoToolCalls(t *testing.T) {
	update := func() []langrooms.Message {
		call := langrooms.NewMessage(langrooms.RoleAI, "I will ask.")
		for _, id := range []string{"c1", "c2"} {
			call.Parts = append(call.Parts, langrooms.Part{Kind: langrooms.PartToolCall,
				ToolCall: &langrooms.ToolCall{ID: id, Name: "delegate_to", Arguments: "{}"}})
		}
		messages := []langrooms.Message{said("go")[0], call}
		for _, id := range []string{"c1", "c2"} {
			m := langrooms.NewMessage(langrooms.RoleTool, "")
			m.Parts = []langrooms.Part{{Kind: langrooms.PartToolResult, ToolResult: &langrooms.ToolResult{CallID: id, Name: "delegate_to", Content: "ok"}}}
			messages = append(messages, m)
		}
		return messages
	}
	s := closing(t, memorysaver.New(), nil)
	for to, want := range map[int]int{1: 2, 2: 3, 3: 4} { // the message to keep, and how many a model is shown
		thread := string(rune('a' + to))
		ids := say(t, s, thread, append(update(), said("and then")...)...)
		if _, err := threadsOf(s).Rewind(t.Context(), thread, ids[to]); err != nil {
			t.Fatal(err)
		}
		expect(t, "shown", want, len(langchain.ToModel(history(t, s, thread))))
	}
}

// pruneFails is a store whose pruning is away once.
type pruneFails struct {
	store
	failures int
}

func (p *pruneFails) Prune(ctx context.Context, thread string, keep checkpointer.Retention) (int, error) {
	if p.failures > 0 {
		p.failures--
		return 0, checkpointer.ErrUnavailable
	}
	return p.store.Prune(ctx, thread, keep)
}

// A rewind whose pruning failed says so, and whoever takes the thread next makes it good.
func TestRewindPrunesLater(t *testing.T) {
	s := &pruneFails{store: closing(t, memorysaver.New(), nil), failures: 1}
	ids := say(t, s, "t", said("a", "secret")...)
	_, err := threadsOf(s).Rewind(t.Context(), "t", ids[0])
	fails(t, err, checkpointer.ErrUnavailable, "still in the store")
	expect(t, "rewound", []string{"human: a"}, texts(t, s, "t"))
	if _, err := threadsOf(s).Rewind(t.Context(), "t", ids[0]); err != nil {
		t.Fatal(err)
	}
	if found := readable(t, s, "t"); strings.Contains(found, "secret") {
		t.Errorf("still readable:\n%s", found)
	}
}

// A checkpoint that a prune keeps, because an interrupt waits there, is told of.
func TestRewindTellsWhatIsKept(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		ids := say(t, s, "t", said("a", "secret")...)
		cp, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t"})
		if err != nil {
			t.Fatal(err)
		}
		write := checkpointer.Write{Channel: checkpointer.ChannelInterrupt, Value: []byte("?")}
		if err := s.PutWrites(t.Context(), cp.Ref, checkpointer.Task{ID: "task"}, []checkpointer.Write{write}); err != nil {
			t.Fatal(err)
		}
		_, err = threadsOf(s).Rewind(t.Context(), "t", ids[0])
		fails(t, err, thread.ErrNotErased, cp.Ref.ID)
		expect(t, "rewound", []string{"human: a"}, texts(t, s, "t"))
	})
}

// When the past cannot be forgotten the thread stays as it is.
func TestForgetFails(t *testing.T) {
	s := closing(t, memorysaver.New(), nil)
	ids := say(t, s, "t", said("a", "b")...)
	refused := errors.New("refused")
	threads := &lifecycle.Threads{Saver: s, Forget: func(context.Context, string) error { return refused }}
	_, err := threads.Rewind(t.Context(), "t", ids[0])
	fails(t, err, refused)
	fails(t, threads.Delete(t.Context(), "t"), refused)
	fails(t, threads.Fork(t.Context(), "t", "u", ""), refused)
	expect(t, "thread", []string{"human: a", "human: b"}, texts(t, s, "t"))
	expect(t, "fork", []string(nil), texts(t, s, "u"))
}

func TestDelete(t *testing.T) {
	onEachStore(t, func(t *testing.T, s store) {
		say(t, s, "t", said("a", "b")...)
		before := epoch(t, s, "t")
		threads := threadsOf(s)
		if err := threads.Delete(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		expect(t, "forgot", []string{"t"}, threads.forgot)
		expect(t, "readable", "", readable(t, s, "t"))
		for info, err := range s.Threads(t.Context()) {
			t.Errorf("still listed: %v, %v", info, err)
		}
		fails(t, threads.Delete(t.Context(), "t"), checkpointer.ErrNotFound, `"t"`)
		say(t, s, "t", said("c")...)
		expect(t, "begun anew", []string{"human: c"}, texts(t, s, "t"))
		expect(t, "another epoch", true, epoch(t, s, "t") != before)
	})
}
