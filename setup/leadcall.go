package setup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/internal/completion"
	"github.com/langrooms/langrooms/internal/redact"
)

// noKey stands for a credential at an endpoint that wants none: the client insists on one.
const noKey = "none"

// leadCall is one call of the lead's model. It is the HTTP client that langchaingo is given:
// that writes the messages, and the rest of the request, and the answer, are seen to here.
type leadCall struct {
	*leadModel
	dialect     completion.Dialect
	secrets     redact.Set
	options     []llms.CallOption
	temperature *float64
	maxTokens   int
	words       func(ctx context.Context, piece []byte) error
	thoughts    func(ctx context.Context, thought, piece []byte) error
	kept        keptFields
	// answer or err is what the last attempt came to.
	answer *completion.Answer
	err    error
}

// streams reports whether anybody wants the words as they come.
func (c *leadCall) streams() bool { return c.words != nil || c.thoughts != nil }

// own are the fields that may be left out of the request.
func (c *leadCall) own() []string {
	var names []string
	if c.temperature != nil {
		names = append(names, "temperature")
	}
	return append(names, c.kept.names()...)
}

// attempt sends the messages once through langchaingo.
func (c *leadCall) attempt(ctx context.Context, messages []llms.MessageContent) (*completion.Answer, error) {
	c.answer, c.err = nil, nil
	client := []openai.Option{openai.WithModel(c.m.Model), openai.WithToken(cmp.Or(c.key, noKey)), openai.WithHTTPClient(c)}
	if c.m.URL != "" {
		client = append(client, openai.WithBaseURL(strings.TrimSuffix(c.m.URL, "/")))
	}
	model, err := openai.New(client...)
	if err != nil {
		return nil, err
	}
	options := c.options
	if !c.dialect.Modern {
		options = append(options[:len(options):len(options)], openai.WithLegacyMaxTokensField())
	}
	_, err = model.GenerateContent(ctx, messages, options...)
	if err = cmp.Or(c.err, err); err != nil {
		return nil, err
	}
	return c.answer, nil
}

// Do sends a request of langchaingo's. What it returns is there for the client to be content;
// c.answer and c.err are what came of it.
func (c *leadCall) Do(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	c.answer, c.err = c.send(ctx, req.WithContext(ctx), cancel)
	if c.err != nil {
		return nil, c.err
	}
	body, err := c.answer.Encode()
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
}

// send returns the answer of a request that was accepted. stop ends it from within, when
// whoever hears the words wants no more.
func (c *leadCall) send(ctx context.Context, req *http.Request, stop context.CancelCauseFunc) (*completion.Answer, error) {
	if err := c.dialect.Rewrite(req, c.edit); err != nil {
		return nil, err
	}
	resp, err := c.client.Do(req)
	if err != nil {
		var where *url.Error
		if errors.As(err, &where) {
			err = where.Err // without the URL
		}
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return nil, completion.ReadRefusal(resp, c.secrets)
	}
	answer, err := completion.Read(resp.Body, completion.NewReporter(c.secrets, func(p langrooms.Progress) {
		if err := c.tell(ctx, p); err != nil {
			stop(err)
		}
	}))
	if err == nil && silent(answer) {
		err = tooShort(c.maxTokens)
	}
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return answer, nil
}

func (c *leadCall) tell(ctx context.Context, p langrooms.Progress) error {
	switch {
	case p.Kind == langrooms.ProgressThought && c.thoughts != nil:
		return c.thoughts(ctx, []byte(p.Text), nil)
	case p.Kind == langrooms.ProgressText && c.words != nil:
		return c.words(ctx, []byte(p.Text))
	}
	return nil
}

// edit makes of the client's request what is asked for: the client writes a temperature
// always, or for some names of models never.
func (c *leadCall) edit(fields map[string]any) {
	delete(fields, "temperature")
	if c.temperature != nil {
		fields["temperature"] = *c.temperature
	}
	if c.streams() && !c.dialect.Plain {
		fields["stream"] = true
		fields["stream_options"] = map[string]any{"include_usage": true}
	}
	messages, _ := fields["messages"].([]any)
	c.kept.giveBack(messages, c.dialect.Without)
}

// keptFields are what an endpoint wants back, by the message that it stands in. Messages of
// one text have several, oldest first.
type keptFields map[string][]completion.Kept

// names are the fields' names.
func (k keptFields) names() []string {
	found := map[string]bool{}
	for _, of := range k {
		for _, kept := range of {
			for name := range kept.Message {
				found[name] = true
			}
			for _, call := range kept.Calls {
				for name := range call {
					found[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// giveBack puts the fields into the assistant's messages of a request, but for those of the
// names in without. A field that is there already stays.
func (k keptFields) giveBack(messages []any, without []string) {
	taken := map[string]int{}
	for _, m := range messages {
		message, _ := m.(map[string]any)
		if message["role"] != "assistant" {
			continue
		}
		calls, _ := message["tool_calls"].([]any)
		place := placeOf(message, calls)
		if taken[place] >= len(k[place]) {
			continue
		}
		kept := k[place][taken[place]]
		taken[place]++
		fill(message, kept.Message, without)
		for _, c := range calls {
			if call, ok := c.(map[string]any); ok {
				id, _ := call["id"].(string)
				fill(call, kept.Calls[id], without)
			}
		}
	}
}

func fill(object map[string]any, kept map[string]json.RawMessage, without []string) {
	for name, value := range kept {
		if _, there := object[name]; !there && !slices.Contains(without, name) {
			object[name] = value
		}
	}
}

// placeOf names a message of a request by its first call, or its text.
func placeOf(message map[string]any, calls []any) string {
	if len(calls) > 0 {
		call, _ := calls[0].(map[string]any)
		id, _ := call["id"].(string)
		return "call " + id
	}
	text, _ := message["content"].(string)
	return "text " + text
}
