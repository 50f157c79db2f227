package setup

import (
	"context"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/langchain"
)

// summaryPrompt asks the lead's model for the summary of a compaction.
const summaryPrompt = "Summarize this conversation for those who take part in it, in plain text of at most 300 words: " +
	"what was asked, what each voice said by name, what was decided, what is open. Write nothing but the summary."

// demoLead reports whether the lead's model is the demo's.
func (a *App) demoLead() bool { return a.options.Model == nil && a.Config().Model.Provider == "demo" }

// Summarize has the lead's model write the summary of messages. It is what
// lifecycle.Threads.Summarize wants.
//
// The demo's model is none: it is refused, so that no phrase takes the place of real words.
func (a *App) Summarize(ctx context.Context, messages []langrooms.Message) (string, error) {
	if a.demoLead() {
		return "", errors.New("the demo's lead cannot write a summary; give its text (--summary) or configure a model")
	}
	model, err := a.Model()
	if err != nil {
		return "", err
	}
	prompt := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, summaryPrompt)}
	prompt = append(prompt, langchain.ToModel(messages)...)
	prompt = append(prompt, llms.TextParts(llms.ChatMessageTypeHuman, "Write the summary now."))
	response, err := model.GenerateContent(ctx, prompt)
	if err != nil {
		return "", fmt.Errorf("the lead's model: %w", err)
	}
	c := a.Config()
	exchange.Spend(ctx, leadName(c), langchain.UsageOf(response.Choices).Priced(c.Model.Cost.Price()))
	answer, _ := langchain.FromChoices(response.Choices)
	if answer.Text() == "" {
		return "", errors.New("the lead's model wrote nothing")
	}
	return answer.Text(), nil
}
