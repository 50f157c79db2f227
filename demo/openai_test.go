package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// start serves the demo for a test.
func start(t *testing.T, dir string) *Peers {
	t.Helper()
	p, err := Start(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return p
}

// client has no idle connections left when the test ends.
func client(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// post sends a body to an endpoint and returns status and answer.
func post(t *testing.T, p *Peers, key, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.LeadModelURL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func chatBody(t *testing.T, model string, stream bool, messages ...map[string]any) string {
	t.Helper()
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(map[string]any{
		"model": model, "stream": stream, "messages": messages, "stream_options": map[string]any{"include_usage": true},
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{
			"name": "delegate_to", "description": "the roster: proto", "parameters": map[string]any{"type": "object"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func said(role string, content any) map[string]any {
	return map[string]any{"role": role, "content": content}
}

func TestACompletionIsPlainJSON(t *testing.T) {
	p := start(t, folder(t, broken))
	status, body := post(t, p, p.Key(), "/chat/completions", chatBody(t, "proto", false, said("user", "what broke?")))
	var got chatResponse
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %v: %s", status, err, body)
	}
	choice := got.Choices[0]
	wants(t, choice.Message.Content, "broken.go:4: ")
	if *choice.FinishReason != "stop" || choice.Message.Role != "assistant" || got.Object != "chat.completion" || got.Model != "proto" {
		t.Errorf("got %s", body)
	}
	if u := got.Usage; u.PromptTokens != 3 || u.CompletionTokens == 0 || u.TotalTokens != u.PromptTokens+u.CompletionTokens {
		t.Errorf("usage %+v", u)
	}
}

// streamed reads a stream to its end: the text, the tool calls, the last finish reason.
func streamed(t *testing.T, body string) (text string, calls []toolCall, finish string, usage *chatUsage) {
	t.Helper()
	rows, ended := bufio.NewScanner(strings.NewReader(body)), false
	for rows.Scan() {
		data, ok := strings.CutPrefix(rows.Text(), "data: ")
		switch {
		case rows.Text() == "":
			continue
		case !ok || ended:
			t.Fatalf("row %q", rows.Text())
		case data == "[DONE]":
			ended = true
			continue
		}
		var chunk chatResponse
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatal(err)
		}
		for _, c := range chunk.Choices {
			text += c.Delta.Content
			calls = append(calls, c.Delta.ToolCalls...)
			if c.FinishReason != nil {
				finish = *c.FinishReason
			}
		}
		usage = chunk.Usage
	}
	if !ended {
		t.Error("the stream has no end")
	}
	return text, calls, finish, usage
}

func TestAStreamCarriesTheSameAnswer(t *testing.T) {
	p := start(t, folder(t, healthy))
	_, body := post(t, p, p.Key(), "/chat/completions", chatBody(t, "oracle", true, said("user", "what broke?")))
	text, calls, finish, usage := streamed(t, body)
	wants(t, text, "I have been shown nothing but your question, so I have no answer to it.\n"+oracleSign)
	if len(calls) > 0 || finish != "stop" || usage == nil || usage.CompletionTokens == 0 {
		t.Errorf("calls %v, finish %q, usage %v", calls, finish, usage)
	}
}

func TestTheLeadCallsTheTool(t *testing.T) {
	p := start(t, "")
	for _, stream := range []bool{false, true} {
		_, body := post(t, p, p.Key(), "/chat/completions", chatBody(t, leadName, stream, said("user", "ask proto what broke")))
		var calls []toolCall
		var finish string
		if stream {
			_, calls, finish, _ = streamed(t, body)
		} else {
			var got chatResponse
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err)
			}
			calls, finish = got.Choices[0].Message.ToolCalls, *got.Choices[0].FinishReason
		}
		if finish != "tool_calls" || len(calls) != 1 || calls[0].Function.Name != "delegate_to" ||
			calls[0].Function.Arguments != `{"query":"what broke","target":"proto"}` || calls[0].ID == "" ||
			stream != (calls[0].Index != nil) {
			t.Errorf("stream %v: finish %q, calls %+v", stream, finish, calls)
		}
	}
}

func TestContentMayBeAListOfParts(t *testing.T) {
	p := start(t, "")
	parts := []any{
		map[string]any{"type": "text", "text": `<room-message from="proto">`},
		map[string]any{"type": "image_url", "image_url": map[string]any{"url": "x"}},
		map[string]any{"type": "text", "text": "all well\n</room-message>"},
	}
	_, body := post(t, p, p.Key(), "/chat/completions", chatBody(t, leadName, false, said("user", parts), said("assistant", nil), said("user", "who said what?")))
	wants(t, body, "- proto: all well")
}

func TestWhatTheEndpointRefuses(t *testing.T) {
	p := start(t, "")
	tests := []struct {
		rule, key, body string
		status          int
		want            string
	}{
		{"a wrong key", "wrong", chatBody(t, "oracle", false, said("user", "x")), http.StatusUnauthorized, "invalid_api_key"},
		{"no key", "", chatBody(t, "oracle", false, said("user", "x")), http.StatusUnauthorized, "answer only this program"},
		{"an unknown model", p.Key(), chatBody(t, "gpt", false, said("user", "x")), http.StatusNotFound, `there is no model \"gpt\" here`},
		{"no messages", p.Key(), `{"model":"lead"}`, http.StatusBadRequest, "messages is empty"},
		{"no JSON", p.Key(), `{`, http.StatusBadRequest, "cannot be read"},
		{"content of a wrong type", p.Key(), `{"model":"lead","messages":[{"role":"user","content":7}]}`, http.StatusBadRequest, "neither a text nor a list of parts"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			status, body := post(t, p, tt.key, "/chat/completions", tt.body)
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			wants(t, body, `{"error":{`, tt.want, "!"+p.Key())
		})
	}
}

func TestModelsAreListed(t *testing.T) {
	p := start(t, "")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.LeadModelURL()+"/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.Key())
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, string(body), `"object":"list"`, `"proto"`, `"reviewer"`, `"oracle"`, `"lead"`)
}

func TestResolve(t *testing.T) {
	p := start(t, "")
	for _, name := range []string{"proto", "reviewer", "oracle"} {
		if url, ok := p.Resolve(name, "openai"); !ok || !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(url, "/v1") {
			t.Errorf("%s: %q, %v", name, url, ok)
		}
	}
	if url, ok := p.Resolve("reviewer", "a2a"); !ok || !strings.HasSuffix(url, "/a2a/reviewer") {
		t.Errorf("reviewer over a2a: %q, %v", url, ok)
	}
	for _, unknown := range [][2]string{{"nobody", "openai"}, {"proto", "acp"}, {"proto", "a2a"}, {"lead", "openai"}, {"", ""}} {
		if url, ok := p.Resolve(unknown[0], unknown[1]); ok || url != "" {
			t.Errorf("%v: %q, %v", unknown, url, ok)
		}
	}
}

func TestTwoStartsHaveTwoKeys(t *testing.T) {
	if a, b := start(t, ""), start(t, ""); a.Key() == b.Key() || len(a.Key()) < 20 {
		t.Errorf("keys %q and %q", a.Key(), b.Key())
	}
}
