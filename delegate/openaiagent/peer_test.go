package openaiagent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/completion"
)

// mockLLM is an OpenAI-compatible endpoint from other hands (npm @dwmkerr/mock-llm).
const mockLLM = "../../internal/peers/a2a/node_modules/.bin/mock-llm"

// Pieces of three UTF-16 units cut every emoji that they can.
const mockConfig = `
streaming: {chunkSize: 3, chunkIntervalMs: 1}
rules:
  - path: "/v1/chat/completions"
    match: "@"
    response:
      status: 200
      content: '{"choices":[{"message":{"role":"assistant","content":"{{jmes request body.messages[-1].content}}"},"finish_reason":"stop"}]}'
  - path: "/v1/chat/completions"
    match: "contains(body.messages[-1].content, 'error-401')"
    response:
      status: 401
      content: '{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}'
  - path: "/v1/models"
    response:
      status: 200
      content: '{"object":"list","data":[{"id":"demo","object":"model"}]}'
`

func TestAgainstMockLLM(t *testing.T) {
	a, err := New(Config{Name: "oracle", URL: startMockLLM(t) + "/v1", Model: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Probe(context.Background()); err != nil {
		t.Errorf("Probe = %v", err)
	}
	const prompt = "ab😀😀😀 what broke the build? é日本"
	var got recorder
	reply, err := a.Ask(context.Background(), delegate.Request{Prompt: prompt, Progress: got.note})
	if err != nil || reply.Text != prompt || got.text(langrooms.ProgressText) != prompt || len(got.all) < 3 {
		t.Errorf("Ask = %q, %v; %d pieces of progress: %q", reply.Text, err, len(got.all), got.text(langrooms.ProgressText))
	}
	// Asked to stream, it sends its 401 inside a stream of status 200.
	_, err = a.Ask(context.Background(), delegate.Request{Prompt: "error-401"})
	var e *delegate.Error
	if !errors.As(err, &e) || e.Kind != delegate.KindFailed || e.Cause() != "Incorrect API key provided." {
		t.Errorf("streamed: Ask = %v", err)
	}
	a.dialect.Store(&completion.Dialect{Plain: true})
	_, err = a.Ask(context.Background(), delegate.Request{Prompt: "error-401"})
	if !errors.As(err, &e) || e.Kind != delegate.KindRefused || e.Cause() != "HTTP 401 Unauthorized: Incorrect API key provided." {
		t.Errorf("plain: Ask = %v", err)
	}
}

// startMockLLM starts the endpoint for the test and returns its URL.
func startMockLLM(t *testing.T) string {
	t.Helper()
	command, err := filepath.Abs(mockLLM)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(command); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("mock-llm is not installed: %v", err)
		}
		t.Skipf("mock-llm is not installed (npm ci in internal/peers/a2a): %v", err)
	}
	config := filepath.Join(t.TempDir(), "mock-llm.yaml")
	if err := os.WriteFile(config, []byte(mockConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	cmd := exec.Command(command, "--config", config)
	cmd.Env = append(os.Environ(), "HOST=127.0.0.1", "PORT="+port)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-exited
	})
	url := "http://" + address
	if err := ready(url+"/health", exited); err != nil {
		t.Fatalf("mock-llm: %v", err)
	}
	return url
}

// ready waits until url answers.
func ready(url string, exited chan error) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for {
		resp, err := client.Get(url)
		if err == nil {
			return resp.Body.Close()
		}
		select {
		case status := <-exited:
			exited <- status
			return fmt.Errorf("it ended: %v", status)
		case <-limit:
			return err
		case <-tick.C:
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
