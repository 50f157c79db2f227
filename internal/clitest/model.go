package clitest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Message is one message that a model was sent.
type Message struct {
	Role    string
	Content string
}

// Question is one request to a model.
type Question struct {
	// Ctx ends when the client goes away.
	Ctx      context.Context
	Messages []Message
	// Header and Body are those of the request.
	Header http.Header
	Body   string
}

// Last returns the text of the last message.
func (q Question) Last() string {
	if len(q.Messages) == 0 {
		return ""
	}
	return q.Messages[len(q.Messages)-1].Content
}

// System returns the system messages, joined.
func (q Question) System() string {
	var texts []string
	for _, m := range q.Messages {
		if m.Role == "system" {
			texts = append(texts, m.Content)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Answer is what a model says.
type Answer struct {
	Text string
	// Tool is the name of a tool to call with Arguments, JSON; empty calls none.
	Tool, Arguments string
	// Status, when set, is an HTTP status that is sent with Text as its body.
	Status int
}

// Say is an answer in words.
func Say(text string) Answer { return Answer{Text: text} }

// Model is a peer that speaks the OpenAI chat protocol.
type Model struct {
	// URL is its base.
	URL string

	answer func(Question) Answer
	mu     sync.Mutex
	asked  []Question
}

// NewModel serves answer until the end of t.
func NewModel(t testing.TB, answer func(Question) Answer) *Model {
	m := &Model{answer: answer}
	server := httptest.NewServer(m)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	m.URL = server.URL + "/v1"
	return m
}

// Asked returns the requests so far.
func (m *Model) Asked() []Question {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Question(nil), m.asked...)
}

// ServeHTTP answers a chat completion, or the list of models.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
		return
	}
	body, err := io.ReadAll(r.Body)
	var req struct {
		Stream   bool
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q := Question{Ctx: r.Context(), Header: r.Header, Body: string(body)}
	for _, msg := range req.Messages {
		q.Messages = append(q.Messages, Message{msg.Role, contentText(msg.Content)})
	}
	m.mu.Lock()
	m.asked = append(m.asked, q)
	m.mu.Unlock()
	reply(w, m.answer(q), req.Stream)
}

// contentText reads both forms of a content: text, and a list of parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}

func reply(w http.ResponseWriter, a Answer, stream bool) {
	if a.Status != 0 {
		http.Error(w, a.Text, a.Status)
		return
	}
	message, finish := map[string]any{"role": "assistant", "content": a.Text}, "stop"
	if a.Tool != "" {
		finish = "tool_calls"
		message["tool_calls"] = []any{map[string]any{"index": 0, "id": "call_1", "type": "function",
			"function": map[string]any{"name": a.Tool, "arguments": a.Arguments}}}
	}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, completion("message", message, finish))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\n", completion("delta", message, ""))
	fmt.Fprintf(w, "data: %s\n\n", completion("delta", map[string]any{}, finish))
	io.WriteString(w, "data: [DONE]\n\n")
}

// completion is a response, or with key "delta" a piece of one.
func completion(key string, message map[string]any, finish string) string {
	choice := map[string]any{"index": 0, key: message}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	data, err := json.Marshal(map[string]any{"id": "c", "object": "chat.completion", "model": "m", "choices": []any{choice},
		"usage": map[string]any{"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})
	if err != nil {
		panic("clitest: texts do not marshal: " + err.Error())
	}
	return string(data)
}
