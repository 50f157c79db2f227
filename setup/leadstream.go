package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sort"
	"strings"

	"github.com/tmaxmax/go-sse"
)

// streamKey finds in a request's context who wants the pieces of the answer.
type streamKey struct{}

type pieces = func(ctx context.Context, chunk []byte) error

// withPieces has an answer streamed to f.
func withPieces(ctx context.Context, f pieces) context.Context {
	return context.WithValue(ctx, streamKey{}, f)
}

// streaming asks for an answer as a stream, reports its words as they come, and hands the
// client the whole as if it had come at once. The client's own reader of streams drops calls
// without a type, errors in the stream, and lines of 64 KiB.
type streaming struct{ inner http.RoundTripper }

// RoundTrip implements http.RoundTripper. An endpoint that answers at once is left alone, and
// one that refuses to stream is asked again without.
func (s streaming) RoundTrip(r *http.Request) (*http.Response, error) {
	report, ok := r.Context().Value(streamKey{}).(pieces)
	if !ok || r.Body == nil || r.Method != http.MethodPost {
		return s.inner.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil {
		return nil, err
	}
	resp, err := s.inner.RoundTrip(withBody(r, asStream(body)))
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode == http.StatusOK && kind == "text/event-stream":
		return fold(r, resp, report)
	case resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusUnprocessableEntity:
		why, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		resp.Body.Close()
		if err == nil && bytes.Contains(bytes.ToLower(why), []byte("stream")) {
			return s.inner.RoundTrip(withBody(r, body))
		}
		resp.Body = io.NopCloser(bytes.NewReader(why))
	}
	return resp, nil
}

func withBody(r *http.Request, body []byte) *http.Request {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return r
}

// asStream is the request that asks for a stream; what is no JSON object stays as it is.
func asStream(body []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || fields == nil {
		return body
	}
	fields["stream"] = json.RawMessage("true")
	fields["stream_options"] = json.RawMessage(`{"include_usage":true}`)
	out, err := json.Marshal(fields)
	if err != nil {
		return body
	}
	return out
}

// errBrokenOff says that a stream ended before its answer did.
var errBrokenOff = errors.New("the answer broke off")

// fold reads a stream and returns its answer as one that came at once. A stream that fails is
// an answer of the endpoint's with the reason: of a failed request the client keeps no word.
func fold(r *http.Request, resp *http.Response, report pieces) (*http.Response, error) {
	defer resp.Body.Close()
	var a streamed
	err := a.read(r.Context(), resp.Body, report)
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	status, whole := http.StatusOK, any(a.answer())
	if err != nil {
		status, whole = http.StatusBadGateway, map[string]any{"error": map[string]string{"message": err.Error()}}
	} else if a.fault != nil {
		status, whole = http.StatusBadGateway, map[string]json.RawMessage{"error": a.fault}
	}
	body, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	header := resp.Header.Clone()
	header.Set("Content-Type", "application/json")
	header.Del("Content-Length")
	return &http.Response{Status: http.StatusText(status), StatusCode: status, Proto: resp.Proto, ProtoMajor: resp.ProtoMajor,
		ProtoMinor: resp.ProtoMinor, Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
}

// read takes all events of a stream.
func (a *streamed) read(ctx context.Context, body io.Reader, report pieces) error {
	in := io.MultiReader(body, strings.NewReader("\n\n")) // an end without the last blank line is forgiven
	for e, err := range sse.Read(in, &sse.ReadConfig{MaxEventSize: maxResponse}) {
		if err != nil {
			return fmt.Errorf("%w: %w", errBrokenOff, err)
		}
		data := strings.TrimSpace(e.Data)
		if data == "[DONE]" {
			return nil
		}
		if err := a.add(ctx, []byte(data), report); err != nil {
			return err
		}
	}
	if !a.finished && a.fault == nil {
		return errBrokenOff
	}
	return nil
}

// streamed is an answer that is being put together.
type streamed struct {
	head     map[string]json.RawMessage
	choices  map[int]*streamedChoice
	fault    json.RawMessage
	finished bool
}

type streamedChoice struct {
	text, reasoning strings.Builder
	finish          string
	calls           map[int]*streamedCall
	other           map[string]json.RawMessage // fields of the message that only some endpoints have
}

type streamedCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// chunk is one event of a stream.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Index        int                        `json:"index"`
		Delta        map[string]json.RawMessage `json:"delta"`
		Message      map[string]json.RawMessage `json:"message"` // of endpoints that send it whole
		FinishReason string                     `json:"finish_reason"`
	} `json:"choices"`
}

// add takes one event. What cannot be read is an error, not a gap.
func (a *streamed) add(ctx context.Context, data []byte, report pieces) error {
	if len(data) == 0 {
		return nil
	}
	var c chunk
	var head map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(data, &head), json.Unmarshal(data, &c)); err != nil {
		return fmt.Errorf("an event of the answer's stream: %w", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		a.fault = c.Error
		return nil
	}
	if a.head == nil {
		a.head, a.choices = map[string]json.RawMessage{}, map[int]*streamedChoice{}
	}
	for key, value := range head {
		if key != "choices" && string(value) != "null" {
			a.head[key] = value
		}
	}
	for _, piece := range c.Choices {
		choice := a.choices[piece.Index]
		if choice == nil {
			choice = &streamedChoice{calls: map[int]*streamedCall{}, other: map[string]json.RawMessage{}}
			a.choices[piece.Index] = choice
		}
		if piece.FinishReason != "" {
			choice.finish, a.finished = piece.FinishReason, true
		}
		delta := piece.Delta
		if delta == nil {
			delta = piece.Message
		}
		said := choice.add(delta)
		if said != "" && piece.Index == 0 {
			if err := report(ctx, []byte(said)); err != nil {
				return err
			}
		}
	}
	return nil
}

// add takes the pieces of a message and returns what has been said.
func (c *streamedChoice) add(delta map[string]json.RawMessage) (said string) {
	for key, value := range delta {
		var text string
		switch isText := json.Unmarshal(value, &text) == nil; {
		case string(value) == "null":
		case key == "content" && isText:
			c.text.WriteString(text)
			said = text
		case key == "reasoning_content" && isText:
			c.reasoning.WriteString(text)
		case key == "tool_calls":
			c.call(value)
		default:
			c.other[key] = value
		}
	}
	return said
}

// call takes pieces of tool calls. One with an index goes on where that index was; one without
// begins a call when it has an id of its own, and else goes on with the last.
func (c *streamedChoice) call(value json.RawMessage) {
	var list []struct {
		Index *int `json:"index"`
		streamedCall
	}
	if json.Unmarshal(value, &list) != nil {
		return
	}
	for _, piece := range list {
		at := len(c.calls)
		switch last := c.calls[at-1]; {
		case piece.Index != nil:
			at = *piece.Index
			// Some number every call 0: another id is another call.
			if was := c.calls[at]; was != nil && piece.ID != "" && was.ID != "" && was.ID != piece.ID {
				at = len(c.calls)
			}
		case last != nil && (piece.ID == "" || piece.ID == last.ID):
			at--
		}
		call := c.calls[at]
		if call == nil {
			call = &streamedCall{Type: "function"}
			c.calls[at] = call
		}
		if piece.ID != "" {
			call.ID = piece.ID
		}
		if piece.Function.Name != "" {
			call.Function.Name = piece.Function.Name
		}
		call.Function.Arguments += piece.Function.Arguments
	}
}

// answer is the whole as one response.
func (a *streamed) answer() map[string]any {
	whole := map[string]any{}
	for key, value := range a.head {
		whole[key] = value
	}
	whole["object"] = "chat.completion"
	var list []any
	for _, i := range sorted(a.choices) {
		list = append(list, a.choices[i].whole(i))
	}
	whole["choices"] = list
	return whole
}

func (c *streamedChoice) whole(index int) map[string]any {
	message := map[string]any{}
	for key, value := range c.other {
		message[key] = value
	}
	message["role"], message["content"] = "assistant", c.text.String()
	if c.reasoning.Len() > 0 {
		message["reasoning_content"] = c.reasoning.String()
	}
	if len(c.calls) > 0 {
		var calls []*streamedCall
		for _, i := range sorted(c.calls) {
			calls = append(calls, c.calls[i])
		}
		message["tool_calls"] = calls
	}
	return map[string]any{"index": index, "message": message, "finish_reason": c.finish}
}

func sorted[V any](m map[int]V) []int {
	var all []int
	for i := range m {
		all = append(all, i)
	}
	sort.Ints(all)
	return all
}
