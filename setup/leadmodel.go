package setup

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/hotreload"
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
	resp, err := l.inner.GenerateContent(ctx, messages, append(own, options...)...)
	if err != nil { // of which the client keeps the words alone when ctx has ended
		return nil, &endpointError{scrub(err.Error(), l.key), errors.Join(err, ctx.Err())}
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

// minSecret is the shortest key that is looked for in what an endpoint says; a shorter one
// would be found in ordinary words.
const minSecret = 4

// scrub returns text without the key, in the forms in which a URL or JSON may hold it.
func scrub(text, key string) string {
	if len(key) < minSecret {
		return text
	}
	forms := []string{key, url.QueryEscape(key), url.PathEscape(key)}
	if quoted, err := json.Marshal(key); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	for _, form := range forms {
		text = strings.ReplaceAll(text, form, "(hidden)")
	}
	return text
}
