package openaiagent

import (
	"fmt"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/completion"
)

// maxReply is the longest answer that is taken, in bytes of text.
const maxReply = completion.MaxReply

// reply returns what langchaingo made of an answer.
func (c *call) reply(response *llms.ContentResponse) delegate.Reply {
	choice := response.Choices[0]
	reply := delegate.Reply{Text: c.secrets.Text(choice.Content)}
	reply.Incomplete = c.incomplete(choice.StopReason)
	input, _ := choice.GenerationInfo["PromptTokens"].(int)
	output, _ := choice.GenerationInfo["CompletionTokens"].(int)
	reply.Usage = (&langrooms.Usage{InputTokens: input, OutputTokens: output, CostUSD: c.cost}).Plausible()
	return reply
}

// incomplete says why the answer is not whole; empty when it is.
func (c *call) incomplete(finish string) string {
	switch {
	case c.cut != nil:
		return c.cut.Cause()
	case finish == completion.FinishLength:
		return fmt.Sprintf("it was cut at the limit of %d tokens (max_tokens)", c.agent.cfg.MaxTokens)
	case finish == completion.FinishFilter:
		return "it was cut by the endpoint's content filter"
	case c.refused:
		return "the model refused to answer"
	}
	return ""
}
