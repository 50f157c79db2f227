package setup

import (
	"context"
	"errors"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/internal/redact"
)

// leadModel applies the configured call options, and keeps the key out of what the
// endpoint may echo in its errors.
type leadModel struct {
	inner llms.Model
	m     hotreload.Model
	key   string
}

// GenerateContent implements llms.Model.
func (l *leadModel) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var own []llms.CallOption
	if l.m.Temperature != nil {
		own = append(own, llms.WithTemperature(*l.m.Temperature))
	}
	if l.m.MaxTokens > 0 {
		own = append(own, llms.WithMaxTokens(l.m.MaxTokens))
	}
	all := append(own, options...)
	var asked llms.CallOptions
	for _, option := range all {
		option(&asked)
	}
	if asked.StreamingFunc != nil { // which the transport serves
		ctx = withPieces(ctx, asked.StreamingFunc)
		all = append(all, llms.WithStreamingFunc(nil))
	}
	resp, err := l.inner.GenerateContent(ctx, messages, all...)
	if err != nil { // of which the client keeps the words alone when ctx has ended
		return nil, &endpointError{redact.New(l.key).Text(err.Error()), errors.Join(err, ctx.Err())}
	}
	return resp, nil
}

// Call implements llms.Model.
func (l *leadModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, l, prompt, options...)
}

// endpointError is a failure of the lead's endpoint in words that may be shown: one line,
// bounded, without the key. It is what the failure is; its words cannot be got at.
type endpointError struct {
	text string
	err  error
}

func (e *endpointError) Error() string        { return delegate.OneLine(e.text, delegate.MaxCause) }
func (e *endpointError) Is(target error) bool { return errors.Is(e.err, target) }
