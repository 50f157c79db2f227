package setup_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/nodes/leadnode"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/thread"
)

// countingModel answers everything, writes summaries, and counts what it was sent.
type countingModel struct {
	mu                              sync.Mutex
	turns, summaries, changes, most int
	before                          []string
	fails                           error // of summaries
}

func (m *countingModel) GenerateContent(_ context.Context, messages []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var texts []string
	size := 0
	for _, mc := range messages {
		for _, p := range mc.Parts {
			text := fmt.Sprint(p)
			texts = append(texts, text)
			size += room.TokensOf(text)
		}
	}
	m.most = max(m.most, size)
	if strings.Contains(texts[0], "Summarize this conversation") {
		if m.summaries++; m.fails != nil {
			return nil, m.fails
		}
		return saying(strings.Repeat("and then ", 100)), nil
	}
	m.turns++
	if len(texts) < len(m.before) || strings.Join(texts[:len(m.before)], "\x00") != strings.Join(m.before, "\x00") {
		m.changes++
	}
	m.before = texts
	return saying(strings.Repeat("an answer ", 30)), nil
}

func (m *countingModel) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", errors.New("not called")
}

func saying(text string) *llms.ContentResponse {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: text}}}
}

// A thread of 5,000 messages: each request of the lead stays under the bound, summaries cost less
// than one turn in twenty, requests begin with the one before but for as many times, and nothing that
// was said is lost.
func TestLongThread(t *testing.T) {
	model, saver := &countingModel{}, memorysaver.New()
	defer saver.Close()
	a := open(t, setup.Options{Path: newFile(t, "lead: { history_max_tokens: 24000 }\n").path, Required: true, Saver: saver, Model: model})
	_, lead, err := a.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	const turns = 2500
	var said []string
	for n := range turns {
		text := fmt.Sprintf("question %d %s", n, strings.Repeat("why ", 40))
		said = append(said, text)
		if _, err := lead.Run(t.Context(), leadnode.Input{Thread: "t", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil { // what is being summarized ends
		t.Fatal(err)
	}
	if model.most > 24_000 {
		t.Errorf("a request of %d tokens", model.most)
	}
	if model.turns != turns || model.summaries == 0 || model.summaries > turns/20 {
		t.Errorf("%d turns, %d summaries", model.turns, model.summaries)
	}
	if model.changes > turns/20 {
		t.Errorf("the beginning changed %d times in %d turns", model.changes, turns)
	}
	t.Logf("%d turns, %d summaries, %d changes of the beginning, at most %d tokens", model.turns, model.summaries, model.changes, model.most)
	whole, err := thread.Whole(t.Context(), saver, "t")
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, m := range whole {
		if m.Role == langrooms.RoleHuman {
			kept = append(kept, m.Text())
		}
	}
	if strings.Join(kept, "\n") != strings.Join(said, "\n") || len(whole) != 2*turns {
		t.Errorf("%d messages are kept of %d", len(whole), 2*turns)
	}
}

// Where no summary can be had the lead is sent the newest messages alone, and the operator is told
// once.
func TestLongThreadWithoutSummaries(t *testing.T) {
	for name, config := range map[string]string{"off": "lead: { history_max_tokens: 2000, compact: off }\n", "the model fails": "lead: { history_max_tokens: 2000 }\n"} {
		t.Run(name, func(t *testing.T) {
			model, saver := &countingModel{fails: errors.New("planted")}, memorysaver.New()
			defer saver.Close()
			a := open(t, setup.Options{Path: newFile(t, config).path, Required: true, Saver: saver, Model: model})
			_, lead, err := a.Nodes()
			if err != nil {
				t.Fatal(err)
			}
			for range 60 {
				if _, err := lead.Run(t.Context(), leadnode.Input{Thread: "t", Text: strings.Repeat("why ", 40)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			if model.most > 2000 || !strings.Contains(strings.Join(model.before, "\n"), "messages that came before are not shown") {
				t.Errorf("at most %d tokens, the last %.300q", model.most, model.before)
			}
			told := strings.Count(a.all(), "could not be summarized")
			if want := map[string]int{"off": 0, "the model fails": 1}[name]; told != want || model.summaries != want {
				t.Errorf("%d summaries were tried, told %q", model.summaries, a.all())
			}
			n := 0
			for _, err := range saver.Messages(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Range{}) {
				if n++; err != nil {
					t.Fatal(err)
				}
			}
			if n != 120 {
				t.Errorf("%d messages are left", n)
			}
		})
	}
}
