package langchain

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// KeptKey is where a model's client puts, into the GenerationInfo of a choice, what its
// endpoint wants back with the history, as json.RawMessage. It is stored under that name in
// the message's Extra; the client finds it there (cast.Thread) when the message is sent again.
const KeptKey = "kept"

// FromChoices turns a model's answer into the lead's message: its words, if any, without
// reasoning in front of them (room.CutReasoning), and its tool calls, each with an ID of its
// own. Some clients give each block of one answer as a choice, so all of them belong to it. ok
// is false when they hold neither.
func FromChoices(choices []*llms.ContentChoice) (m langrooms.Message, ok bool) {
	m = langrooms.NewMessage(langrooms.RoleAI, "")
	m.Parts = nil
	var words []string
	var calls []langrooms.Part
	taken := map[string]bool{"": true}
	for _, c := range choices {
		if text, _ := room.CutReasoning(strings.ToValidUTF8(c.Content, "\uFFFD")); text != "" {
			words = append(words, text)
		}
		if kept, ok := c.GenerationInfo[KeptKey].(json.RawMessage); ok && m.Extra == nil {
			m.Extra = map[string]json.RawMessage{KeptKey: kept}
		}
		for _, call := range c.ToolCalls {
			if call.FunctionCall == nil {
				continue
			}
			id := call.ID
			if taken[id] {
				id = langrooms.NewID()
			}
			taken[id] = true
			calls = append(calls, langrooms.Part{Kind: langrooms.PartToolCall, ToolCall: &langrooms.ToolCall{
				ID: id, Name: call.FunctionCall.Name, Arguments: call.FunctionCall.Arguments}})
		}
	}
	if len(words) > 0 {
		m.Parts = append(m.Parts, langrooms.TextPart(strings.Join(words, "\n\n")))
	}
	m.Parts = append(m.Parts, calls...)
	return m, len(m.Parts) > 0
}

// Arguments returns the JSON object that a model wrote as the arguments of a call; nothing
// at all is an empty one. The error says in a model's terms what is wrong.
func Arguments(written string) (string, error) {
	if strings.TrimSpace(written) == "" {
		return "{}", nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(written), &object); err != nil {
		return "", errors.New("its arguments are not one whole JSON object; they may have been cut off; write the call anew")
	}
	return written, nil
}

// sendable is what goes out of a call's arguments: endpoints refuse a whole history for one
// call whose arguments are no JSON object.
func sendable(written string) string {
	arguments, err := Arguments(written)
	if err != nil {
		return "{}"
	}
	return arguments
}

// UsageOf is what the choices of one answer say of its tokens, by the names under which
// langchaingo's clients tell them; nil when they say nothing.
func UsageOf(choices []*llms.ContentChoice) *langrooms.Usage {
	for _, c := range choices {
		u := langrooms.Usage{InputTokens: tokens(c.GenerationInfo, "PromptTokens", "InputTokens", "input_tokens"),
			OutputTokens: tokens(c.GenerationInfo, "CompletionTokens", "OutputTokens", "output_tokens")}
		if cost, ok := c.GenerationInfo["CostUSD"].(float64); ok {
			u.CostUSD = &cost
		}
		if known := u.Plausible(); known != nil {
			return known
		}
	}
	return nil
}

// tokens is the first of the names that holds a number.
func tokens(info map[string]any, names ...string) int {
	for _, name := range names {
		switch n := info[name].(type) {
		case int:
			return n
		case int32:
			return int(n)
		case int64:
			return int(n)
		case float64:
			return int(n)
		}
	}
	return 0
}
