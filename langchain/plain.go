package langchain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// ErrHistory is what a model's client returns, wrapped, when its endpoint refused a request
// for what stands in it. The history may pass in its plain form: [Plain].
var ErrHistory = errors.New("the endpoint does not take the history")

// The bounds of [Plain]: messages, and bytes of their text.
const (
	plainMessages = 30
	plainBytes    = 64 << 10
)

// Plain renders the newest messages in the form that every endpoint takes: text only, the
// operator's side first and the two sides in turn; tool traffic is a <system-notice>. The
// newest message is always among them.
func Plain(messages []langrooms.Message) []llms.MessageContent {
	var newest []llms.MessageContent // newest first
	size := 0
	for i := len(messages) - 1; i >= 0 && len(newest) < plainMessages; i-- {
		role, text := plain(messages[i])
		if text == "" {
			continue
		}
		if size += len(text); size > plainBytes && len(newest) > 0 {
			break
		}
		if last := len(newest) - 1; last >= 0 && newest[last].Role == role {
			later := newest[last].Parts[0].(llms.TextContent).Text
			newest[last] = llms.TextParts(role, text+"\n\n"+later)
			continue
		}
		newest = append(newest, llms.TextParts(role, text))
	}
	if last := len(newest) - 1; last > 0 && newest[last].Role == llms.ChatMessageTypeAI {
		newest = newest[:last]
	}
	slices.Reverse(newest)
	return newest
}

// plain is one message as text, and whose side it stands on.
func plain(m langrooms.Message) (llms.ChatMessageType, string) {
	var texts []string
	for _, mc := range toModel(m) {
		for _, p := range mc.Parts {
			switch p := p.(type) {
			case llms.TextContent:
				texts = append(texts, p.Text)
			case llms.ToolCallResponse:
				texts = append(texts, room.Notice(fmt.Sprintf("Your tool %s returned: %s", p.Name, p.Content)))
			}
		}
	}
	role := llms.ChatMessageTypeHuman
	if m.Role == langrooms.RoleAI && m.Stamp == nil {
		role = llms.ChatMessageTypeAI
	}
	return role, strings.Join(texts, "\n\n")
}
