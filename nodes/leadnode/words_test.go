package leadnode_test

import (
	"context"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/nodes/leadnode"
)

// The lead's words come as events while the model writes them, under the id of the message
// that they become, and whole where a tool call follows. Pieces of tool calls, which some
// clients mix in, are no words.
func TestWordsAreReported(t *testing.T) {
	saver := memorysaver.New()
	defer saver.Close()
	m := &model{script: []*llms.ContentChoice{toolCall("look"), words("[done]")},
		pieces: [][]string{{"I will ", "ask.", `[{"id":"c","type":"function","function":{"name":"look"}}]`}, {"[done]", ""}}}
	look := tool{"look", func(context.Context, string) (string, error) { return "seen", nil }}
	var got []string
	ids := map[string]string{}
	_, err := newNode(t, m, saver, look).Run(t.Context(), leadnode.Input{Thread: "t", Text: "go", Events: func(e langrooms.Event) {
		text := e.Text
		if e.Progress != nil {
			text = string(e.Progress.Kind) + " " + e.Progress.Text
			ids[e.Progress.Text] = e.MessageID
		}
		got = append(got, string(e.Type)+" "+text)
	}})
	expect(t, "error", nil, err)
	expect(t, "events", []string{"progress thought ", "progress text I will ", "progress text ask.", "lead_text I will ask.",
		"tool_call look", "progress thought ", "progress text [done]"}, got)
	for msg, err := range saver.Messages(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		if msg.Text() == "[done]" {
			expect(t, "the message's id", ids["[done]"], msg.ID)
		}
	}
}
