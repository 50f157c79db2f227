package setup

import (
	"context"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// instructed is the lead's model with the system prompt that was in force when its turn began.
type instructed struct {
	llms.Model
	system llms.MessageContent
}

// instructedModel is the model of the lead's own turns: what else asks the model, such as a
// summary, is not told the lead's part.
func (a *App) instructedModel() (llms.Model, error) {
	c := a.Config()
	model, err := a.lead.get(c)
	if err != nil {
		return nil, err
	}
	return instructed{model, llms.TextParts(llms.ChatMessageTypeSystem, systemPrompt(c.Lead.Instructions))}, nil
}

// systemPrompt puts the instructions behind the programs' own words.
func systemPrompt(instructions string) string {
	if instructions = strings.TrimSpace(instructions); instructions == "" {
		return leadPrompt
	}
	return leadPrompt + "\n\n" + instructions
}

// GenerateContent implements llms.Model.
func (m instructed) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	return m.Model.GenerateContent(ctx, slices.Insert(slices.Clone(messages), 0, m.system), options...)
}
