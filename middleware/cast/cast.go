// Package cast is a model middleware that tells the lead's model who is in the room. It
// ends the system prompt of each call with one block, derived at that moment from the
// stamps of the thread (spec: rooms, section 9), and is otherwise transparent: streaming,
// call options and the optional interfaces of the wrapped model are its own.
//
// # Concurrency
//
// A [Model] is safe for concurrent use if the wrapped one is.
package cast

import (
	"context"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

type threadKey struct{}

// WithThread returns a context under which a wrapped model knows the thread: the messages
// as stored, oldest first. They are read at each call and never changed.
func WithThread(ctx context.Context, messages []langrooms.Message) context.Context {
	return context.WithValue(ctx, threadKey{}, messages)
}

// Thread returns the thread of [WithThread], for models that look at what is stored; nil
// without one.
func Thread(ctx context.Context) []langrooms.Message {
	thread, _ := ctx.Value(threadKey{}).([]langrooms.Message)
	return thread
}

// Model adds the cast to each call of the model it wraps. Make one with [Wrap].
type Model struct {
	inner llms.Model
	lead  func() string
}

// Wrap returns inner with the cast added. lead gives the lead's name at each call, so that
// it can be reloaded; nil or an empty name means "assistant". A model that says whether it
// supports reasoning (llms.ReasoningModel) keeps saying so.
func Wrap(inner llms.Model, lead func() string) llms.Model {
	m := &Model{inner: inner, lead: lead}
	if r, ok := inner.(llms.ReasoningModel); ok {
		return &reasoningModel{m, r}
	}
	return m
}

// Unwrap returns the model that m wraps.
func (m *Model) Unwrap() llms.Model { return m.inner }

// GenerateContent calls the wrapped model with the cast block at the end of the system
// prompt. The caller's messages are not changed. Without a cast, or without a thread in
// ctx, the call goes through as it is.
func (m *Model) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	return m.inner.GenerateContent(ctx, m.prompt(ctx, messages), options...)
}

// Call is GenerateContent for a single text prompt.
//
// Deprecated: llms.Model asks for it; use GenerateContent.
func (m *Model) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

type reasoningModel struct {
	*Model
	reasoning llms.ReasoningModel
}

// SupportsReasoning is the wrapped model's answer.
func (m *reasoningModel) SupportsReasoning() bool { return m.reasoning.SupportsReasoning() }

func (m *Model) prompt(ctx context.Context, messages []llms.MessageContent) []llms.MessageContent {
	lead := langrooms.Assistant
	if m.lead != nil && m.lead() != "" {
		lead = m.lead()
	}
	return withBlock(messages, room.CastBlock(lead, room.Cast(Thread(ctx), lead)))
}

// withBlock ends the last leading system message with block, in place of an earlier one;
// an empty block only takes the earlier one away.
func withBlock(messages []llms.MessageContent, block string) []llms.MessageContent {
	last := lastSystem(messages)
	if last < 0 {
		if block == "" {
			return messages
		}
		front := llms.TextParts(llms.ChatMessageTypeSystem, block)
		return append([]llms.MessageContent{front}, messages...)
	}
	parts := slices.Clone(messages[last].Parts)
	at := lastText(parts)
	if at < 0 {
		parts = append(parts, llms.TextContent{})
		at = len(parts) - 1
	}
	before := parts[at].(llms.TextContent).Text
	after := join(withoutBlock(before), block)
	if after == before {
		return messages
	}
	out := slices.Clone(messages)
	if after == "" && len(parts) == 1 {
		return slices.Delete(out, last, last+1) // the block was all there was
	}
	parts[at] = llms.TextContent{Text: after}
	out[last] = llms.MessageContent{Role: messages[last].Role, Parts: parts}
	return out
}

// lastSystem returns the index of the last of the system messages in front, or -1.
func lastSystem(messages []llms.MessageContent) int {
	i := 0
	for i < len(messages) && messages[i].Role == llms.ChatMessageTypeSystem {
		i++
	}
	return i - 1
}

func lastText(parts []llms.ContentPart) int {
	for i := len(parts) - 1; i >= 0; i-- {
		if _, ok := parts[i].(llms.TextContent); ok {
			return i
		}
	}
	return -1
}

// withoutBlock cuts a block of an earlier call off. The block is always the last thing of
// the prompt and starts a paragraph with the words that room.CastBlock starts with.
func withoutBlock(text string) string {
	if strings.HasPrefix(text, blockStart) {
		return ""
	}
	if i := strings.LastIndex(text, "\n\n"+blockStart); i >= 0 {
		return text[:i]
	}
	return text
}

// blockStart is how every block starts, whoever is in the room.
const blockStart = room.CastMark + " You are "

func join(prompt, block string) string {
	switch {
	case block == "":
		return prompt
	case prompt == "":
		return block
	}
	return prompt + "\n\n" + block
}
