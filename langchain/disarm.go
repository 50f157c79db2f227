package langchain

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms/room"
)

// disarmed takes the tags of envelopes out of all that parts say, whoever said it: the
// operator may paste what a member wrote, a model repeat it, a tool return it. What is
// around it that is ours is added afterwards.
func disarmed(parts []llms.ContentPart) []llms.ContentPart {
	for i, p := range parts {
		switch p := p.(type) {
		case llms.TextContent:
			parts[i] = llms.TextContent{Text: room.NeutralizeTags(p.Text)}
		case llms.ToolCall:
			p.ID = room.NeutralizeTags(p.ID)
			if f := p.FunctionCall; f != nil {
				p.FunctionCall = &llms.FunctionCall{Name: room.NeutralizeTags(f.Name), Arguments: disarmedJSON(f.Arguments)}
			}
			parts[i] = p
		case llms.ToolCallResponse:
			parts[i] = llms.ToolCallResponse{ToolCallID: room.NeutralizeTags(p.ToolCallID),
				Name: room.NeutralizeTags(p.Name), Content: room.NeutralizeTags(p.Content)}
		}
	}
	return parts
}

// disarmedJSON does so in the strings of a JSON text, as they read once they are decoded:
// endpoints show a model decoded arguments. All else of it stays byte for byte.
func disarmedJSON(text string) string {
	if !json.Valid([]byte(text)) {
		return room.NeutralizeTags(text)
	}
	var b strings.Builder
	for {
		start := strings.IndexByte(text, '"')
		if start < 0 {
			return b.String() + text
		}
		end := stringEnd(text[start:]) + start
		b.WriteString(text[:start] + disarmedString(text[start:end]))
		text = text[end:]
	}
}

// stringEnd is the length of the JSON string that text starts with.
func stringEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func disarmedString(quoted string) string {
	var decoded string
	if err := json.Unmarshal([]byte(quoted), &decoded); err != nil {
		return room.NeutralizeTags(quoted)
	}
	safe := room.NeutralizeTags(decoded)
	if safe == decoded {
		return quoted
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(safe); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
