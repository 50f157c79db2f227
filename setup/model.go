package setup

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/langrooms/langrooms/hotreload"
)

// newModel makes the lead's model. a.mu is held.
func (a *App) newModel(m hotreload.Model) (llms.Model, error) {
	if m.Provider == "demo" {
		peers, err := a.demoPeers()
		if err != nil {
			return nil, err
		}
		return openAIModel(hotreload.Model{URL: peers.LeadModelURL(), Model: "lead", Timeout: m.Timeout}, peers.Key())
	}
	key, err := m.APIKey.Resolve()
	if err != nil {
		return nil, err
	}
	return openAIModel(m, key)
}

// noKey stands for a credential at an endpoint that wants none: the client insists on one.
const noKey = "none"

func openAIModel(m hotreload.Model, key string) (llms.Model, error) {
	if key == "" {
		key = noKey
	}
	options := []openai.Option{
		openai.WithModel(m.Model), openai.WithToken(key),
		openai.WithHTTPClient(&http.Client{Timeout: m.Timeout}),
	}
	if m.URL != "" {
		options = append(options, openai.WithBaseURL(strings.TrimSuffix(m.URL, "/")))
	}
	inner, err := openai.New(options...)
	if err != nil {
		return nil, err
	}
	return &leadModel{inner: inner, m: m, key: key}, nil
}

// leadModel applies the configured call options, and keeps the key out of what the
// endpoint may echo in its errors.
type leadModel struct {
	inner llms.Model
	m     hotreload.Model
	key   string
}

func (l *leadModel) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var own []llms.CallOption
	if l.m.Temperature != nil {
		own = append(own, llms.WithTemperature(*l.m.Temperature))
	}
	if l.m.MaxTokens > 0 {
		own = append(own, llms.WithMaxTokens(l.m.MaxTokens))
	}
	resp, err := l.inner.GenerateContent(ctx, messages, append(own, options...)...)
	if err != nil && l.key != noKey && strings.Contains(err.Error(), l.key) {
		err = fmt.Errorf("%s", strings.ReplaceAll(err.Error(), l.key, "(hidden)"))
	}
	return resp, err
}

func (l *leadModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, l, prompt, options...)
}

// LeadPrompt is the lead's system prompt in the module's own programs.
const LeadPrompt = "You are the lead agent of a chat between one person, the operator, and several agents. " +
	"Answer the operator from the conversation. Be brief and say when you do not know."
