package openaiagent

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/delegatetest"
)

func TestSuite(t *testing.T) {
	delegatetest.Run(t, delegatetest.Harness{
		Streams: true,
		Except: map[string]string{"parts": "an answer is one message", "files-returned": "a completion is text", "preamble": "a model is told its part by Config.SystemPrompt", "late-words": "nothing comes after the end of a response",
			"leave": asksNobody, "leave-stopped": asksNobody},
		Start: func(t testing.TB, script delegatetest.Script) delegate.Delegate {
			server := httptest.NewServer(endpoint{script})
			t.Cleanup(server.Close)
			return suiteAgent(t, server.URL, script.Secret, script.Accepts...)
		},
		Absent: func(t testing.TB) delegate.Delegate {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
			return suiteAgent(t, "http://"+l.Addr().String(), testKey)
		},
	})
}

func suiteAgent(t testing.TB, url, key string, accepts ...string) *Agent {
	a, err := New(Config{Name: "oracle", URL: url, Model: "demo", Accepts: accepts, HTTP: delegate.HTTP{Retries: 1}, APIKey: func() (string, error) { return key, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// endpoint is a chat completions server that follows a script.
type endpoint struct{ script delegatetest.Script }

func (e endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if refusal, err := e.script.Refusal(r.Context()); err != nil {
		panic(http.ErrAbortHandler)
	} else if refusal != nil {
		refusal.Write(w)
		return
	}
	if r.URL.Path == "/models" {
		io.WriteString(w, `{"object":"list","data":[]}`)
		return
	}
	var request struct {
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(request.Messages) == 0 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	m := contentOf(request.Messages[len(request.Messages)-1].Content)
	if e.script.Thought != "" {
		event(w, fmt.Sprintf(`{"choices":[{"delta":{"reasoning_content":%s}}]}`, quote([]byte(e.script.Thought))))
	}
	err := e.script.Play(r.Context(), m, func(piece []byte) error {
		return event(w, fmt.Sprintf(`{"choices":[{"delta":{"content":%s}}]}`, quote(piece)))
	})
	var failure *delegatetest.Failure
	switch {
	case err == nil:
		event(w, stop)
		if u := e.script.Usage; u != nil {
			event(w, fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, u.InputTokens, u.OutputTokens))
		}
		event(w, done)
	case errors.As(err, &failure):
		event(w, fmt.Sprintf(`{"error":{"message":%s}}`, quote([]byte(failure.Words))))
	default:
		panic(http.ErrAbortHandler) // cuts the connection
	}
}

// contentOf reads a message's content: text, or text and images.
func contentOf(content json.RawMessage) (m delegatetest.Message) {
	if json.Unmarshal(content, &m.Prompt) == nil {
		return m
	}
	var pieces []struct {
		Text     string
		ImageURL struct{ URL string } `json:"image_url"`
	}
	if json.Unmarshal(content, &pieces) != nil {
		return m
	}
	for _, p := range pieces {
		m.Prompt += p.Text
		if head, body, ok := strings.Cut(strings.TrimPrefix(p.ImageURL.URL, "data:"), ";base64,"); ok {
			data, _ := base64.StdEncoding.DecodeString(body) // what is none is seen to be missing
			m.Files = append(m.Files, delegate.File{MIMEType: head, Data: data})
		}
	}
	return m
}

func event(w http.ResponseWriter, data string) error {
	w.Header().Set("Content-Type", "text/event-stream")
	if _, err := io.WriteString(w, "data: "+data+"\n\n"); err != nil {
		return err
	}
	w.(http.Flusher).Flush()
	return nil
}

// quote makes a JSON string of raw bytes without touching those that are no UTF-8.
func quote(raw []byte) []byte {
	return fmt.Appendf(nil, `"%s"`, escape(raw))
}

func escape(raw []byte) []byte {
	raw = bytes.ReplaceAll(raw, []byte(`\`), []byte(`\\`))
	raw = bytes.ReplaceAll(raw, []byte(`"`), []byte(`\"`))
	return bytes.ReplaceAll(raw, []byte("\n"), []byte(`\n`))
}

const asksNobody = "a model is offered no tools"
