package leadnode_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/nodes/leadnode"
	holds "github.com/langrooms/langrooms/thread"
)

// wish has the lead want the tool on the thread t, and puts the turn aside.
func wish(t *testing.T, n *leadnode.Node) leadnode.Wish {
	t.Helper()
	turn, err := n.Start(t.Context(), leadnode.Input{Thread: "t", Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if tools, err := n.Think(t.Context(), turn); !tools || err != nil {
		t.Fatal(tools, err)
	}
	if err := n.Wait(turn); err != nil {
		t.Fatal(err)
	}
	w, err := n.Waiting(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A turn that is put aside holds nothing, shows what it wants, and goes on once, at another
// node over the same store, behind what was said meanwhile.
func TestWaitAndResume(t *testing.T) {
	saver, ran := memorysaver.New(), 0
	defer saver.Close()
	count := tool{"count", func(context.Context, string) (string, error) { ran++; return "counted", nil }}
	first := newNode(t, &model{script: []*llms.ContentChoice{toolCall("count")}}, saver, count)
	_, err := first.Waiting(t.Context(), "t")
	if !errors.Is(err, leadnode.ErrNothingWaits) {
		t.Errorf("on a new thread: %v", err)
	}
	w := wish(t, first)
	expect(t, "what waits", []langrooms.ToolCall{{ID: "c0", Name: "count", Arguments: `{"name":"count"}`}}, []langrooms.ToolCall{*w.Calls[0]})
	expect(t, "the thread while it waits", []string{"0 human go"}, thread(t, saver))

	hold, err := holds.Try(t.Context(), saver, "t")
	if err != nil {
		t.Fatalf("the thread is held: %v", err)
	}
	if err := errors.Join(hold.Put(holds.Step{Messages: []langrooms.Message{langrooms.NewMessage(langrooms.RoleHuman, "meanwhile")}}), hold.End()); err != nil {
		t.Fatal(err)
	}
	m := &model{script: []*llms.ContentChoice{words("Done.")}}
	second := newNode(t, m, saver, count)
	if _, err := second.Resume(t.Context(), leadnode.Input{Thread: "t"}, "other"); !errors.Is(err, leadnode.ErrNothingWaits) {
		t.Errorf("a wish that does not wait: %v", err)
	}
	turn, err := second.Resume(t.Context(), leadnode.Input{Thread: "t"}, w.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Act(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	_, err = second.Think(t.Context(), turn)
	result, err := second.Finish(t.Context(), turn, err)
	expect(t, "error", nil, err)
	expect(t, "result", langrooms.Result{Thread: "t", Text: "Done."}, result)
	expect(t, "thread", []string{"0 human go", "1 human meanwhile", "2 ai I will ask. call count",
		"3 tool result error=false counted", "4 ai Done."}, thread(t, saver))
	if _, err := second.Resume(t.Context(), leadnode.Input{Thread: "t"}, w.ID); !errors.Is(err, leadnode.ErrNothingWaits) || ran != 1 {
		t.Errorf("a second approval: %v, the tool ran %d times", err, ran)
	}
}

// A refusal is a result that the model reads, and no tool runs.
func TestRefuse(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	never := tool{"never", func(context.Context, string) (string, error) { t.Error("the tool ran"); return "", nil }}
	n := newNode(t, &model{script: []*llms.ContentChoice{toolCall("never", "never")}}, saver, never)
	w := wish(t, n)
	turn, err := n.Resume(t.Context(), leadnode.Input{Thread: "t"}, w.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(n.Refuse(t.Context(), turn, "too dear"), turn.Close()); err != nil {
		t.Fatal(err)
	}
	refused := "tool result error=true Error: the operator refused this call: too dear"
	expect(t, "thread", []string{"0 human go", "1 ai I will ask. call never call never", "2 " + refused, "3 " + refused}, thread(t, saver))
}

// What waits is gone once the operator says something else, and once what was said is erased
// or copied to another thread.
func TestNothingWaitsAnyMore(t *testing.T) {
	gone := map[string]func(*leadnode.Node, checkpointer.Saver) (string, error){
		"another message": func(n *leadnode.Node, _ checkpointer.Saver) (string, error) {
			turn, err := n.Start(t.Context(), leadnode.Input{Thread: "t", Text: "no, wait"})
			return "t", errors.Join(err, turn.Close())
		},
		"a rewind": func(_ *leadnode.Node, saver checkpointer.Saver) (string, error) {
			hold, err := holds.Begin(t.Context(), saver, "t")
			if err != nil {
				return "t", err
			}
			return "t", errors.Join(hold.Rewind(0), hold.End())
		},
		"a fork": func(_ *leadnode.Node, saver checkpointer.Saver) (string, error) {
			from, err := holds.Begin(t.Context(), saver, "t")
			if err != nil {
				return "", err
			}
			to, err := holds.Begin(t.Context(), saver, "copy")
			if err != nil {
				return "", errors.Join(err, from.End())
			}
			return "copy", errors.Join(from.Fork(nil, to), to.End(), from.End())
		},
	}
	for name, do := range gone {
		t.Run(name, func(t *testing.T) {
			saver := memorysaver.New()
			defer saver.Close()
			n := newNode(t, &model{script: []*llms.ContentChoice{toolCall("any")}}, saver)
			w := wish(t, n)
			on, err := do(n, saver)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := n.Waiting(t.Context(), on); !errors.Is(err, leadnode.ErrNothingWaits) {
				t.Errorf("waiting: %v", err)
			}
			if _, err := n.Resume(t.Context(), leadnode.Input{Thread: on}, w.ID); !errors.Is(err, leadnode.ErrNothingWaits) {
				t.Errorf("resume: %v", err)
			}
		})
	}
}

// A channel that is not ours is an error that names it, and nothing is lost.
func TestUnreadableWish(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	_, err := saver.Put(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{Channels: map[string][]byte{"lead.waits": []byte("[")}})
	if err != nil {
		t.Fatal(err)
	}
	n := newNode(t, &model{}, saver)
	if _, err := n.Waiting(t.Context(), "t"); !errors.Is(err, checkpointer.ErrFormat) {
		t.Errorf("waiting: %v, want ErrFormat", err)
	}
	if _, err := n.Resume(t.Context(), leadnode.Input{Thread: "t"}, "x"); !errors.Is(err, checkpointer.ErrFormat) {
		t.Errorf("resume: %v, want ErrFormat", err)
	}
}

// A turn that an engine has made of what it stored is refused, and nothing panics.
func TestTurnThatWasNotBegun(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	n := newNode(t, &model{}, saver)
	for name, turn := range map[string]*leadnode.Turn{"nil": nil, "empty": {}} {
		_, think := n.Think(t.Context(), turn)
		_, finish := n.Finish(t.Context(), turn, nil)
		for call, err := range map[string]error{"Think": think, "Act": n.Act(t.Context(), turn), "Finish": finish,
			"Refuse": n.Refuse(t.Context(), turn, ""), "Wait": n.Wait(turn), "Close": turn.Close()} {
			if !errors.Is(err, leadnode.ErrNotBegun) {
				t.Errorf("%s of a turn that is %s: %v", call, name, err)
			}
		}
	}
}
