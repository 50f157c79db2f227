package openaiagent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/internal/httpx"
	"github.com/langrooms/langrooms/internal/completion"
	"github.com/langrooms/langrooms/internal/redact"
)

// call is one ask or probe. It is the HTTP client that langchaingo is given, so that the
// status, the body and the cause of a failure are seen here.
type call struct {
	agent    *Agent
	key      string
	secrets  redact.Set // the key, as what the endpoint says may repeat it
	progress func(langrooms.Progress)
	dialect  completion.Dialect
	headers  http.Header   // the configured ones
	silence  time.Duration // between two signs of life
	// refused and cut are why an answer with text is not a whole one.
	refused bool
	cut     *delegate.Error
	cost    *float64        // as the endpoint says
	files   []delegate.File // that go with the prompt
	// sent: the request of this attempt has gone out.
	sent atomic.Bool
	// failure is why the last attempt failed.
	failure *delegate.Error
}

// newCall resolves the key for one ask or probe.
func (a *Agent) newCall(ctx context.Context, progress func(langrooms.Progress)) (*call, error) {
	c := &call{agent: a, progress: progress, dialect: *a.dialect.Load(), silence: a.cfg.Timeout}
	if err := ctx.Err(); err != nil {
		return nil, c.broken(ctx, err)
	}
	var err error
	if c.headers, err = httpx.Headers(a.cfg.HTTP); err != nil {
		return nil, a.refuse(err.Error())
	}
	if a.cfg.APIKey != nil {
		key, err := a.cfg.APIKey()
		if err != nil {
			return nil, &delegate.Error{Delegate: a.cfg.Name, Kind: delegate.KindRefused, Err: fmt.Errorf("the API key: %w", err)}
		}
		c.key = strings.TrimSpace(key)
	}
	if strings.ContainsFunc(c.key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, a.refuse("the API key holds a control character, so it cannot be sent")
	}
	c.secrets = c.secretsOf()
	return c, nil
}

// secretsOf is what the endpoint may repeat: the key, and what a header carries.
func (c *call) secretsOf() redact.Set {
	values := []string{c.key}
	for _, header := range c.headers {
		values = append(values, header...)
	}
	return redact.New(values...)
}

// ask tries the dialects that the endpoint's refusals lead to, each of which leaves less to
// change.
func (c *call) ask(ctx context.Context, prompt string) (delegate.Reply, error) {
	for {
		reply, err := c.attempt(ctx, prompt)
		if err == nil {
			known := c.dialect
			c.agent.dialect.Store(&known)
			return reply, nil
		}
		var refused *completion.Refusal
		if !errors.As(err, &refused) || !c.adapt(refused) {
			return delegate.Reply{}, err
		}
	}
}

// adapt changes the dialect after a refusal of the request's form, and reports whether
// there was something left to change.
func (c *call) adapt(refused *completion.Refusal) bool {
	var own []string
	if c.agent.cfg.Temperature != nil {
		own = append(own, "temperature")
	}
	own = append(own, slices.Sorted(maps.Keys(c.agent.cfg.Params))...)
	return c.dialect.Adapt(refused, own, !c.agent.cfg.Whole)
}

// attempt sends the prompt once through langchaingo.
func (c *call) attempt(ctx context.Context, prompt string) (delegate.Reply, error) {
	c.failure, c.cut, c.refused = nil, nil, false
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
	options := []llms.CallOption{llms.WithMaxTokens(cfg.MaxTokens)}
	if !c.dialect.Modern {
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
	ctx, alive, done := quiet(req.Context(), c.silence, keyOf(c.silence == c.agent.cfg.Timeout, "timeout_s"))
	defer done()
	resp, failure := c.send(req.WithContext(ctx))
	if failure != nil {
		return nil, failure
	}
	defer resp.Body.Close()
	whole, err := completion.Read(&pulse{resp.Body, alive}, completion.NewReporter(c.secrets, c.progress))
	if err != nil {
		c.cut = c.unread(ctx, err)
		if whole == nil || c.cut.Kind != delegate.KindTimeout && c.cut.Kind != delegate.KindProtocol {
			return nil, c.cut
		}
	}
	if whole.Finish == completion.FinishLength && strings.TrimSpace(whole.Text) == "" {
		return nil, &delegate.Error{Delegate: c.agent.cfg.Name, Kind: delegate.KindFailed, Accepted: true, Err: fmt.Errorf(
			"it reached its limit of %d tokens before it said anything, its reasoning counted; raise max_tokens", c.agent.cfg.MaxTokens)}
	}
	c.refused, c.cost = whole.Refused, whole.CostUSD
	body, err := whole.Encode()
	if err != nil {
		return nil, c.protocol(err)
	}
	return body, nil
}

// shape writes the request as the endpoint is known to take it: with what is configured
// and nothing more, of which the client would send a temperature.
func (c *call) shape(req *http.Request) error {
	c.authorize(req)
	cfg := c.agent.cfg
	return c.dialect.Rewrite(req, func(fields map[string]any) {
		attach(fields, c.files)
		delete(fields, "temperature")
		if cfg.Temperature != nil {
			fields["temperature"] = *cfg.Temperature
		}
		if !c.dialect.Plain && !cfg.Whole {
			fields["stream"] = true
			fields["stream_options"] = map[string]any{"include_usage": true}
		}
		maps.Copy(fields, cfg.Params)
	})
}

// authorize sets the credential and the other headers, and the version of the API.
func (c *call) authorize(req *http.Request) {
	cfg := c.agent.cfg
	req.Header.Del("Authorization")
	for name, values := range c.headers {
		if req.Header.Get(name) == "" {
			req.Header[name] = values
		}
	}
	switch {
	case c.key == "":
	case cfg.KeyHeader != "":
		req.Header.Set(cfg.KeyHeader, c.key)
	default:
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if cfg.APIVersion != "" {
		req.URL.RawQuery = url.Values{"api-version": {cfg.APIVersion}}.Encode()
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

// probe lists the models, and looks for the configured one among them.
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
	names, err := completion.Models(resp.Body)
	if err != nil {
		return c.unread(ctx, err)
	}
	if cfg := c.agent.cfg; len(names) > 0 && cfg.APIVersion == "" && !completion.Listed(cfg.Model, names) {
		return c.agent.refuse(delegate.OneLine(fmt.Sprintf("the endpoint does not list the model %q; it lists %s", cfg.Model, strings.Join(names, ", ")), completion.MaxMessage))
	}
	return nil
}
