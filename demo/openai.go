package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
)

// leadName is the model of the graph's own agent.
const leadName = "lead"

// maxRequest bounds a request's body in bytes: the lead is sent whole threads.
const maxRequest = 64 << 20

// openaiServer serves the members and the lead as models of the chat completions protocol.
type openaiServer struct {
	dir      string
	members  map[string]agent
	memories memories
}

func (s *openaiServer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	return mux
}

func (s *openaiServer) models(w http.ResponseWriter, _ *http.Request) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		OwnedBy string `json:"owned_by"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list"}
	for _, name := range []string{"proto", "reviewer", "oracle", leadName} {
		list.Data = append(list.Data, model{name, "model", "langrooms-demo"})
	}
	writeJSON(w, http.StatusOK, list)
}

func (s *openaiServer) complete(w http.ResponseWriter, r *http.Request) {
	var req chatRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&req); err != nil {
		status := http.StatusBadRequest
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		writeError(w, status, "invalid_request", "the request cannot be read: "+err.Error())
		return
	}
	if len(req.Messages) == 0 {
		writeError(w, http.StatusBadRequest, "invalid_request", "messages is empty")
		return
	}
	member, known := s.members[req.Model]
	if !known && req.Model != leadName {
		writeError(w, http.StatusNotFound, "model_not_found", fmt.Sprintf("there is no model %q here", req.Model))
		return
	}
	if !known {
		text, calls := leadAnswer(req.Messages, req.Tools)
		s.respond(w, req, text, calls)
		return
	}
	text, err := s.ask(r.Context(), member, req.Messages)
	if err != nil {
		writeError(w, http.StatusServiceUnavailable, "stopped", "the demo agent was stopped: "+err.Error())
		return
	}
	s.respond(w, req, text, nil)
}

// ask puts the newest message of the human side before a member.
func (s *openaiServer) ask(ctx context.Context, member agent, messages []chatMessage) (string, error) {
	text := ""
	for _, m := range messages {
		if m.Role == "user" {
			text = string(m.Content)
		}
	}
	return member.reply(ctx, situation{prompt: parsePrompt(text), dir: s.dir}, s.memories.of(member.name))
}

// respond sends the answer whole or as a stream.
func (s *openaiServer) respond(w http.ResponseWriter, req chatRequest, text string, calls []toolCall) {
	finish := "stop"
	if len(calls) > 0 {
		finish = "tool_calls"
	}
	resp := chatResponse{
		ID: "chatcmpl-" + langrooms.NewID(), Object: "chat.completion", Created: time.Now().Unix(), Model: req.Model,
	}
	usage := usageOf(req.Messages, text)
	if !req.Stream {
		message := &chatDelta{Role: "assistant", Content: text, ToolCalls: calls}
		resp.Choices, resp.Usage = []chatChoice{{Message: message, FinishReason: &finish}}, usage
		writeJSON(w, http.StatusOK, resp)
		return
	}
	resp.Object = "chat.completion.chunk"
	out := newEventStream(w)
	send := func(d chatDelta, finish *string) {
		resp.Choices = []chatChoice{{Delta: &d, FinishReason: finish}}
		out.send(resp)
	}
	send(chatDelta{Role: "assistant"}, nil)
	for _, piece := range strings.SplitAfter(text, " ") {
		send(chatDelta{Content: piece}, nil)
	}
	for i := range calls {
		calls[i].Index = &i
	}
	if len(calls) > 0 {
		send(chatDelta{ToolCalls: calls}, nil)
	}
	send(chatDelta{}, &finish)
	if req.StreamOptions.IncludeUsage {
		resp.Choices, resp.Usage = []chatChoice{}, usage
		out.send(resp)
	}
	out.done()
}

// eventStream writes server-sent events. After a failed write the rest is dropped: the
// client has gone.
type eventStream struct {
	w     http.ResponseWriter
	flush func()
	err   error
}

func newEventStream(w http.ResponseWriter) *eventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	s := &eventStream{w: w, flush: func() {}}
	if f, ok := w.(http.Flusher); ok {
		s.flush = f.Flush
	}
	return s
}

func (s *eventStream) send(v any) {
	data, err := json.Marshal(v)
	if s.err = errors.Join(s.err, err); s.err == nil {
		s.write(string(data))
	}
}

func (s *eventStream) done() { s.write("[DONE]") }

func (s *eventStream) write(data string) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, "data: %s\n\n", data)
		s.flush()
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has gone needs no answer
}

func writeError(w http.ResponseWriter, status int, code, message string) {
	type body struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    string `json:"code"`
	}
	writeJSON(w, status, map[string]body{"error": {message, "invalid_request_error", code}})
}
