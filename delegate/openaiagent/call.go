package openaiagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/redact"
)

// dialect is what differs between endpoints that all call themselves compatible.
type dialect struct {
	// plain: it refuses "stream".
	plain bool
	// modern: it refuses "max_tokens" and wants "max_completion_tokens".
	modern bool
}

// call is one ask or probe. It is the HTTP client that langchaingo is given, so that the
// status, the body and the cause of a failure are seen here.
type call struct {
	agent    *Agent
	key      string
	secrets  redact.Set // the key, as what the endpoint says may repeat it
	progress func(langrooms.Progress)
	dialect  dialect
	// sent: the request of this attempt has gone out.
	sent atomic.Bool
	// failure is why the last attempt failed.
	failure *delegate.Error
}

// newCall resolves the key for one ask or probe.
func (a *Agent) newCall(ctx context.Context, progress func(langrooms.Progress)) (*call, error) {
	c := &call{agent: a, progress: progress, dialect: *a.dialect.Load()}
	if err := ctx.Err(); err != nil {
		return nil, c.broken(ctx, err)
	}
	if a.cfg.APIKey == nil {
		return c, nil
	}
	key, err := a.cfg.APIKey()
	if err != nil {
		return nil, &delegate.Error{Delegate: a.cfg.Name, Kind: delegate.KindRefused, Err: fmt.Errorf("the API key: %w", err)}
	}
	c.key = strings.TrimSpace(key)
	c.secrets = redact.New(c.key)
	if strings.ContainsFunc(c.key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, a.refuse("the API key holds a control character, so it cannot be sent")
	}
	return c, nil
}

// ask tries the dialects that the endpoint's refusals lead to: three attempts at most.
func (c *call) ask(ctx context.Context, prompt string) (delegate.Reply, error) {
	for {
		reply, err := c.attempt(ctx, prompt)
		if err == nil {
			known := c.dialect
			c.agent.dialect.Store(&known)
			return reply, nil
		}
		var refused *statusError
		if !errors.As(err, &refused) || !c.adapt(refused) {
			return delegate.Reply{}, err
		}
	}
}

// adapt changes the dialect after a refusal of the request's form, and reports whether
// there was something left to change.
func (c *call) adapt(refused *statusError) bool {
	if refused.status != http.StatusBadRequest && refused.status != http.StatusUnprocessableEntity {
		return false
	}
	switch {
	case refused.param == "max_tokens" && !c.dialect.modern:
		c.dialect.modern = true
	case !c.dialect.plain:
		c.dialect.plain = true
	default:
		return false
	}
	return true
}

// attempt sends the prompt once through langchaingo.
func (c *call) attempt(ctx context.Context, prompt string) (delegate.Reply, error) {
	c.failure = nil
	c.sent.Store(false)
	cfg := c.agent.cfg
	model, err := openai.New(
		openai.WithBaseURL(cfg.URL),
		openai.WithModel(cfg.Model),
		openai.WithToken("none"), // Do sets the real one, or none
		openai.WithOrganization(""),
		openai.WithHTTPClient(c),
	)
	if err != nil {
		return delegate.Reply{}, c.protocol(err)
	}
	options := []llms.CallOption{llms.WithMaxTokens(cfg.MaxTokens), llms.WithTemperature(*cfg.Temperature)}
	if !c.dialect.modern {
		options = append(options, openai.WithLegacyMaxTokensField())
	}
	response, err := model.GenerateContent(httptrace.WithClientTrace(ctx, c.trace()), c.messages(prompt), options...)
	switch {
	case c.failure != nil:
		return delegate.Reply{}, c.failure
	case err != nil:
		return delegate.Reply{}, c.protocol(err)
	}
	return c.reply(response), nil
}

func (c *call) messages(prompt string) []llms.MessageContent {
	user := llms.TextParts(llms.ChatMessageTypeHuman, prompt)
	if c.agent.cfg.SystemPrompt == "" {
		return []llms.MessageContent{user}
	}
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, c.agent.cfg.SystemPrompt), user}
}

func (c *call) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{WroteRequest: func(info httptrace.WroteRequestInfo) {
		if info.Err == nil {
			c.sent.Store(true)
		}
	}}
}

// Do sends a request of langchaingo's and returns the answer as one whole completion,
// whatever form the endpoint gave it. A failure is also kept in c.failure.
func (c *call) Do(req *http.Request) (*http.Response, error) {
	if err := c.shape(req); err != nil {
		c.failure = c.protocol(err)
		return nil, c.failure
	}
	body, failure := c.complete(req)
	if failure != nil {
		c.failure = failure
		return nil, failure
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(bytes.NewReader(body)),
		Request:    req,
	}, nil
}

// complete sends req and returns its answer as a whole completion.
func (c *call) complete(req *http.Request) ([]byte, *delegate.Error) {
	resp, failure := c.send(req)
	if failure != nil {
		return nil, failure
	}
	defer resp.Body.Close()
	whole, err := readAnswer(resp.Body, c.reporter())
	if err != nil {
		return nil, c.unread(req.Context(), err)
	}
	body, err := whole.encode()
	if err != nil {
		return nil, c.protocol(err)
	}
	return body, nil
}

// shape asks for a stream, unless the endpoint refuses one, and sets the credential.
func (c *call) shape(req *http.Request) error {
	c.authorize(req)
	if c.dialect.plain {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.NewDecoder(req.Body).Decode(&fields); err != nil {
		return err
	}
	fields["stream"] = json.RawMessage(`true`)
	fields["stream_options"] = json.RawMessage(`{"include_usage":true}`)
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	return err
}

func (c *call) authorize(req *http.Request) {
	req.Header.Del("Authorization")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
}

// send returns the answer of a request that was accepted.
func (c *call) send(req *http.Request) (*http.Response, *delegate.Error) {
	resp, err := c.agent.client.Do(req)
	if err != nil {
		return nil, c.broken(req.Context(), err)
	}
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, c.status(resp)
}

// probe lists the models and reads no more than a part of the list.
func (c *call) probe(ctx context.Context) error {
	ctx = httptrace.WithClientTrace(ctx, c.trace())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.agent.cfg.URL+"/models", nil)
	if err != nil {
		return c.protocol(err)
	}
	c.authorize(req)
	resp, failure := c.send(req)
	if failure != nil {
		return failure
	}
	defer resp.Body.Close()
	if err := readModels(resp.Body); err != nil {
		return c.unread(ctx, err)
	}
	return nil
}
