package demo

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
)

// The chat completions protocol, as far as it is served here (OpenAI API reference, "Create
// chat completion").

type chatRequest struct {
	Model         string        `json:"model"`
	Messages      []chatMessage `json:"messages"`
	Tools         []chatTool    `json:"tools"`
	Stream        bool          `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    chatText   `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// chatText is a message's text, sent as a string, as null or as a list of parts, of which
// those that are no text are left out.
type chatText string

// UnmarshalJSON reads any of the forms.
func (t *chatText) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if text != nil {
			*t = chatText(*text)
		}
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return fmt.Errorf("content is neither a text nor a list of parts: %w", err)
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	*t = chatText(strings.Join(texts, "\n"))
	return nil
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type toolCall struct {
	Index    *int   `json:"index,omitempty"` // in a stream only
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func newToolCall(name, arguments string) toolCall {
	c := toolCall{ID: "call_" + langrooms.NewID(), Type: "function"}
	c.Function.Name, c.Function.Arguments = name, arguments
	return c
}

type chatResponse struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`
}

type chatChoice struct {
	Index        int        `json:"index"`
	Message      *chatDelta `json:"message,omitempty"`
	Delta        *chatDelta `json:"delta,omitempty"`
	FinishReason *string    `json:"finish_reason"`
}

type chatDelta struct {
	Role      string     `json:"role,omitempty"`
	Content   string     `json:"content"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

type chatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// usageOf counts a token for every four characters: there is no tokenizer here.
func usageOf(messages []chatMessage, answer string) *chatUsage {
	chars := 0
	for _, m := range messages {
		chars += utf8.RuneCountInString(string(m.Content))
	}
	u := &chatUsage{PromptTokens: (chars + 3) / 4, CompletionTokens: (utf8.RuneCountInString(answer) + 3) / 4}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}
