package langchain_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/langchain"
)

// calling is the lead's message with these calls and, unless empty, words.
func calling(words string, ids ...string) langrooms.Message {
	m := message(langrooms.RoleAI)
	if words != "" {
		m.Parts = append(m.Parts, langrooms.TextPart(words))
	}
	for _, id := range ids {
		m.Parts = append(m.Parts, langrooms.Part{Kind: langrooms.PartToolCall,
			ToolCall: &langrooms.ToolCall{ID: id, Name: "delegate_to", Arguments: call.Arguments}})
	}
	return m
}

// results is a tool message that answers these calls.
func results(ids ...string) langrooms.Message {
	m := message(langrooms.RoleTool)
	for _, id := range ids {
		m.Parts = append(m.Parts, langrooms.Part{Kind: langrooms.PartToolResult,
			ToolResult: &langrooms.ToolResult{CallID: id, Name: "delegate_to", Content: "done " + id}})
	}
	return m
}

// outline says what a model is shown, a message a string.
func outline(shown []llms.MessageContent) []string {
	var lines []string
	for _, m := range shown {
		line := string(m.Role)
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llms.TextContent:
				line += " " + p.Text
			case llms.ToolCall:
				line += fmt.Sprintf(" call(%s %s %s %s)", p.ID, p.Type, p.FunctionCall.Name, p.FunctionCall.Arguments)
			case llms.ToolCallResponse:
				line += fmt.Sprintf(" result(%s %s %s)", p.ToolCallID, p.Name, p.Content)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// A model is shown every call with its result right behind it, and no other: whatever a
// rewind left of an update, the thread stays usable.
func TestToolCallsArePaired(t *testing.T) {
	said := message(langrooms.RoleHuman, langrooms.TextPart("go on"))
	called := func(id string) string { return "call(" + id + " function delegate_to " + call.Arguments + ")" }
	answer := func(id string) string { return "tool result(" + id + " delegate_to done " + id + ")" }
	for name, tt := range map[string]struct {
		in   []langrooms.Message
		want []string
	}{
		"a whole update, one message a result": {
			[]langrooms.Message{calling("", "a", "b"), results("a", "b"), said},
			[]string{"ai " + called("a") + " " + called("b"), answer("a"), answer("b"), "human go on"}},
		"rewound to the call": {
			[]langrooms.Message{calling("I will ask.", "a"), said}, []string{"ai I will ask.", "human go on"}},
		"rewound to a call without words": {
			[]langrooms.Message{calling("", "a"), said}, []string{"human go on"}},
		"rewound between the results": {
			[]langrooms.Message{calling("", "a", "b"), results("a"), said},
			[]string{"ai " + called("a"), answer("a"), "human go on"}},
		"the thread ends with the call": {[]langrooms.Message{said, calling("", "a")}, []string{"human go on"}},
		"a result without its call":     {[]langrooms.Message{results("a"), said}, []string{"human go on"}},
		"a result that comes too late": {
			[]langrooms.Message{calling("", "a"), said, results("a")}, []string{"human go on"}},
		"a result of another call": {
			[]langrooms.Message{calling("", "a"), results("b", "a")}, []string{"ai " + called("a"), answer("a")}},
		"a second result": {
			[]langrooms.Message{calling("", "a"), results("a"), results("a")}, []string{"ai " + called("a"), answer("a")}},
		"an id that comes again in a later update": {
			[]langrooms.Message{calling("", "a"), results("a"), calling("", "a")}, []string{"ai " + called("a"), answer("a")}},
		"two calls of one id": {
			[]langrooms.Message{calling("", "a", "a"), results("a")}, []string{"ai " + called("a"), answer("a")}},
		"nothing": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var before []langrooms.Message
			for _, m := range tt.in {
				before = append(before, m.Clone())
			}
			if diff := cmp.Diff(tt.want, outline(langchain.ToModel(tt.in))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tt.in); diff != "" {
				t.Errorf("the caller's messages changed (-before +after):\n%s", diff)
			}
		})
	}
}
