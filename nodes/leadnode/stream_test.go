package leadnode_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/langchain"
	"github.com/langrooms/langrooms/nodes/leadnode"
)

// streamer says its pieces as they are, as langchaingo's clients do, then answers.
type streamer struct {
	answers [][]string
	refuse  func(messages []llms.MessageContent) error
	prompt  []llms.MessageContent
}

func (s *streamer) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	if s.refuse != nil {
		if err := s.refuse(messages); err != nil {
			return nil, err
		}
	}
	s.prompt = messages
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	pieces := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	choice := &llms.ContentChoice{}
	for _, piece := range pieces {
		if o.StreamingFunc != nil {
			if err := o.StreamingFunc(ctx, []byte(piece)); err != nil {
				return nil, err
			}
		}
		if strings.HasPrefix(piece, `[{"id"`) {
			choice.ToolCalls = toolCall("look").ToolCalls
		} else {
			choice.Content += piece
		}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

func (s *streamer) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", errors.New("not used")
}

func newStreamer(t *testing.T, s *streamer, saver checkpointer.Saver) *leadnode.Node {
	t.Helper()
	n, err := leadnode.New(leadnode.Config{Saver: saver, MaxSteps: 4, Model: func() (llms.Model, error) { return s, nil },
		Tools: []leadnode.Tool{tool{"look", func(context.Context, string) (string, error) { return "seen", nil }}}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What the model says is told while it says it, beside a tool call too, under the id that it
// is stored as. Pieces of tool calls are no words; reasoning in front is a thought, and is not
// stored.
func TestStreaming(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	s := &streamer{answers: [][]string{
		{"I ", "look.", `[{"id":"c0","type":"function","function":{"name":"look","arguments":"{}"}}]`},
		{" <th", "ink>Two", " things", "</think>", "\n\n<b>It ", "is [1]", "."},
	}}
	var said []string
	ids := map[string]string{}
	result, err := newStreamer(t, s, saver).Run(t.Context(), leadnode.Input{Thread: "t", Text: "go", Events: func(e langrooms.Event) {
		if e.Type == langrooms.EventLeadText {
			said = append(said, fmt.Sprintf("%s beside a call %q", e.Member, e.Text))
		}
		if e.Type == langrooms.EventProgress && e.Progress.Text != "" {
			said = append(said, fmt.Sprintf("%s %s %q", e.Member, e.Progress.Kind, e.Progress.Text))
			ids[e.MessageID] += e.Progress.Text
		}
	}})
	expect(t, "error", nil, err)
	expect(t, "result", "<b>It is [1].", result.Text)
	expect(t, "told", []string{
		`assistant text "I "`, `assistant text "look."`, `assistant beside a call "I look."`,
		`assistant thought "Two"`, `assistant thought " things"`, `assistant text "<b>It "`, `assistant text "is [1]"`, `assistant text "."`,
	}, said)
	expect(t, "thread", []string{"0 human go", "1 ai I look. call look", "2 tool result error=false seen", "3 ai <b>It is [1]."}, thread(t, saver))
	for m, err := range saver.Messages(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Role == langrooms.RoleAI && !strings.HasSuffix(ids[m.ID], m.Text()) {
			t.Errorf("%q was told as %q", m.Text(), ids[m.ID])
		}
	}
}

// Reasoning of a model that does not stream is told too, and not stored.
func TestReasoningIsNotStored(t *testing.T) {
	saver, m := memorysaver.New(), &model{script: []*llms.ContentChoice{words("<think>hm</think>Yes.")}}
	defer saver.Close()
	var thoughts string
	_, err := newNode(t, m, saver).Run(t.Context(), leadnode.Input{Thread: "t", Text: "go", Events: func(e langrooms.Event) {
		if e.Progress != nil && e.Progress.Kind == langrooms.ProgressThought {
			thoughts += e.Progress.Text
		}
	}})
	expect(t, "error", nil, err)
	expect(t, "thoughts", "hm", thoughts)
	expect(t, "thread", []string{"0 human go", "1 ai Yes."}, thread(t, saver))
}

// A history that is refused is sent once more, plainly; a refusal of that too is the first
// one's.
func TestRefusedHistory(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	tries := 0
	refusal := fmt.Errorf("bad tool_calls: %w", langchain.ErrHistory)
	s := &streamer{answers: [][]string{
		{`[{"id":"c0","type":"function","function":{"name":"look","arguments":"{}"}}]`}, {"done"},
	}, refuse: func(messages []llms.MessageContent) error {
		tries++
		for _, m := range messages {
			if m.Role == llms.ChatMessageTypeTool {
				return refusal
			}
		}
		return nil
	}}
	var notices []string
	run := func() error {
		_, err := newStreamer(t, s, saver).Run(t.Context(), leadnode.Input{Thread: "t", Text: "go", Events: func(e langrooms.Event) {
			if e.Type == langrooms.EventNotice {
				notices = append(notices, e.Text)
			}
		}})
		return err
	}
	expect(t, "error", nil, run())
	expect(t, "tries", 3, tries)
	if len(notices) != 1 || !strings.Contains(notices[0], "as plain text") {
		t.Errorf("notices: %q", notices)
	}
	last := s.prompt[len(s.prompt)-1].Parts[0].(llms.TextContent).Text
	expect(t, "shown", "go\n\n<system-notice>\nYour tool look returned: seen\n</system-notice>", last)

	tries = 0
	s.refuse = func([]llms.MessageContent) error { tries++; return refusal }
	if err := run(); !errors.Is(err, leadnode.ErrModel) || !errors.Is(err, langchain.ErrHistory) || tries != 2 {
		t.Errorf("%v after %d tries", err, tries)
	}
}
