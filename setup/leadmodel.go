package setup

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/internal/completion"
	"github.com/langrooms/langrooms/internal/redact"
	"github.com/langrooms/langrooms/langchain"
	"github.com/langrooms/langrooms/middleware/cast"
)

// leadModel is the lead's model at its endpoint: it sends what is configured and nothing
// more, learns what the endpoint refuses by name, streams to whoever asks for it
// (llms.WithStreamingFunc: words alone), gives the endpoint its own fields back, and keeps the
// key out of what it may echo.
type leadModel struct {
	m      hotreload.Model
	key    string
	client *http.Client
	// dialect is the form of request that the endpoint was last seen to accept.
	dialect atomic.Pointer[completion.Dialect]
}

// GenerateContent implements llms.Model. An error is langchain.ErrHistory where the endpoint
// refused what the request holds.
func (l *leadModel) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	messages = sendable(messages)
	c := l.newCall(cast.Thread(ctx), options)
	for {
		answer, err := c.attempt(ctx, messages)
		if err == nil {
			known := c.dialect
			l.dialect.Store(&known)
			return c.response(answer), nil
		}
		var refused *completion.Refusal
		if !errors.As(err, &refused) {
			return nil, c.failure(ctx, err)
		}
		if !c.dialect.Adapt(refused, c.own(), c.streams()) {
			switch refused.Status {
			case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
				err = errors.Join(err, langchain.ErrHistory)
			}
			return nil, c.failure(ctx, err)
		}
	}
}

// Call implements llms.Model.
func (l *leadModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, l, prompt, options...)
}

// newCall fixes what is asked for: what is configured, unless the caller says otherwise.
func (l *leadModel) newCall(thread []langrooms.Message, options []llms.CallOption) *leadCall {
	c := &leadCall{leadModel: l, dialect: *l.dialect.Load(), secrets: redact.New(l.key), kept: keptOf(thread, l.identity())}
	asked := llms.CallOptions{Temperature: math.NaN(), MaxTokens: l.m.MaxTokens}
	for _, option := range options {
		option(&asked)
	}
	if !math.IsNaN(asked.Temperature) {
		c.temperature = &asked.Temperature
	} else {
		c.temperature = l.m.Temperature
	}
	c.words, c.thoughts, c.maxTokens = asked.StreamingFunc, asked.StreamingReasoningFunc, asked.MaxTokens
	c.options = append(options[:len(options):len(options)], llms.WithMaxTokens(asked.MaxTokens), llms.WithTemperature(0),
		llms.WithStreamingFunc(nil), llms.WithStreamingReasoningFunc(nil))
	return c
}

// response is what the client would have made of an answer.
func (c *leadCall) response(a *completion.Answer) *llms.ContentResponse {
	choice := &llms.ContentChoice{Content: c.secrets.Text(a.Text), StopReason: a.Finish, GenerationInfo: map[string]any{
		"PromptTokens": a.Input, "CompletionTokens": a.Output, "TotalTokens": a.Input + a.Output}}
	if a.CostUSD != nil {
		choice.GenerationInfo["CostUSD"] = *a.CostUSD
	}
	for _, call := range a.Calls {
		choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: call.ID, Type: "function",
			FunctionCall: &llms.FunctionCall{Name: call.Name, Arguments: call.Arguments}})
	}
	if kept := encodeKept(a.Kept, c.identity()); kept != nil {
		choice.GenerationInfo[langchain.KeptKey] = kept
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}
}

// failure is err in words that may be shown. The client keeps the words alone when ctx has
// ended.
func (c *leadCall) failure(ctx context.Context, err error) error {
	text := err.Error()
	var refused *completion.Refusal
	if errors.As(err, &refused) {
		text = refused.Error()
	}
	return &endpointError{c.secrets.Text(text), errors.Join(err, ctx.Err())}
}

// tooShort says that a limit was reached before anything was said.
func tooShort(tokens int) error {
	if tokens == 0 {
		return errors.New("the model reached its limit of tokens before it said anything, its reasoning counted; set model.max_tokens")
	}
	return fmt.Errorf("the model reached its limit of %d tokens before it said anything, its reasoning counted; raise model.max_tokens", tokens)
}

// silent reports whether a says nothing for being cut.
func silent(a *completion.Answer) bool {
	return a.Finish == completion.FinishLength && strings.TrimSpace(a.Text) == "" && len(a.Calls) == 0
}

// endpointError is a failure of the lead's endpoint in words that may be shown: one line,
// bounded, without the key. It is what the failure is; its words cannot be got at.
type endpointError struct {
	text string
	err  error
}

func (e *endpointError) Error() string        { return delegate.OneLine(e.text, delegate.MaxCause) }
func (e *endpointError) Is(target error) bool { return errors.Is(e.err, target) }
