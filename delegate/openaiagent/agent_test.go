package openaiagent

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

func TestNewNamesTheBadField(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	tests := []struct {
		field  string
		change func(*Config)
	}{
		{"name", func(c *Config) { c.Name = "a b" }},
		{"name", func(c *Config) { c.Name = "" }},
		{"url", func(c *Config) { c.URL = "" }},
		{"url", func(c *Config) { c.URL = "127.0.0.1:80" }},
		{"url", func(c *Config) { c.URL = "ftp://host/v1" }},
		{"url", func(c *Config) { c.URL = "http:///v1" }},
		{"url", func(c *Config) { c.URL = "http://me:" + testKey + "@host/v1" }},
		{"url", func(c *Config) { c.URL = "http://host/v1?key=" + testKey }},
		{"url", func(c *Config) { c.URL = "http://ho st/" + testKey }},
		{"model", func(c *Config) { c.Model = " " }},
		{"max_tokens", func(c *Config) { c.MaxTokens = -1 }},
		{"temperature", func(c *Config) { c.Temperature = f(2.1) }},
		{"temperature", func(c *Config) { c.Temperature = f(-0.1) }},
		{"temperature", func(c *Config) { c.Temperature = f(math.NaN()) }},
		{"timeout_s", func(c *Config) { c.Timeout = -time.Second }},
	}
	for _, test := range tests {
		cfg := Config{Name: "oracle", URL: "http://host/v1", Model: "demo"}
		test.change(&cfg)
		_, err := New(cfg)
		if err == nil || !strings.Contains(err.Error(), `: `+test.field+`: `) || !strings.Contains(err.Error(), cfg.Name) {
			t.Errorf("%s: New(%+v) = %v, want an error that names the field", test.field, cfg, err)
		}
		if err != nil && strings.Contains(err.Error(), testKey) {
			t.Errorf("%s: the error says the secret: %v", test.field, err)
		}
	}
}

func TestRequestIsWhatTheConfigSays(t *testing.T) {
	zero := 0.0
	var got map[string]any
	var auth string
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got, auth = asked(t, r), r.Header.Get("Authorization")
		sendEvents(w, chunk("ok"), stop, done)
	}, func(c *Config) { c.SystemPrompt, c.Temperature = "be brief", &zero })
	if _, err := a.Ask(context.Background(), delegate.Request{Prompt: "what broke?"}); err != nil {
		t.Fatal(err)
	}
	if temperature, sent := got["temperature"]; !sent || temperature != 0.0 {
		t.Errorf("temperature = %v, sent %v; 0 is kept", temperature, sent)
	}
	if got["max_tokens"] != 1024.0 || got["model"] != "demo" || got["stream"] != true || auth != "Bearer "+testKey {
		t.Errorf("request = %v, authorization %q", got, auth)
	}
	messages := got["messages"].([]any)
	if len(messages) != 2 || messages[0].(map[string]any)["content"] != "be brief" ||
		messages[1].(map[string]any)["content"] != "what broke?" {
		t.Errorf("messages = %v", messages)
	}
}

func TestTheEnvironmentChangesNothing(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-other")
	t.Setenv("OPENAI_ORGANIZATION", "org-other")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("OpenAI-Organization") != "" {
			t.Errorf("headers = %v", r.Header)
		}
		io.WriteString(w, whole("ok"))
	}, func(c *Config) { c.APIKey = nil })
	if _, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi"}); err != nil {
		t.Error(err)
	}
}

func TestConversationAndResumeAreRefused(t *testing.T) {
	a := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	for _, req := range []delegate.Request{{Prompt: "hi", Conversation: "main"}, {Prompt: "hi", ResumeTask: "t1"}} {
		_, err := a.Ask(context.Background(), req)
		var e *delegate.Error
		if !errors.As(err, &e) || e.Kind != delegate.KindRefused || !strings.Contains(e.Cause(), "stateless") {
			t.Errorf("Ask(%+v) = %v, want refused as stateless", req, err)
		}
	}
	if info := a.Info(); info.Conversational || info.Resumable || info.Type != "openai" {
		t.Errorf("Info = %+v", info)
	}
}

func TestConnectionRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	a, err := New(Config{Name: "oracle", URL: "http://" + l.Addr().String(), Model: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	e := failure(t, a, context.Background())
	if e.Error() != "Delegate @oracle failed: connection refused" || e.Kind != delegate.KindUnreachable || e.Accepted {
		t.Errorf("error = %+v, %q", e, e.Error())
	}
	if _, err := a.Probe(context.Background()); err == nil || !strings.HasSuffix(err.Error(), ": connection refused") {
		t.Errorf("Probe = %v", err)
	}
}

func TestKeyIsResolvedAtUse(t *testing.T) {
	keys := []string{"sk-one-000", " sk-two-000\n", "", "sk\x00bad-secret"}
	next := 0
	var seen []string
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		io.WriteString(w, whole("ok"))
	}, func(c *Config) {
		c.APIKey = func() (string, error) {
			if next == len(keys) {
				return "", errors.New("ORACLE_KEY is not set")
			}
			next++
			return keys[next-1], nil
		}
	})
	for range 3 {
		if _, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi"}); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Join(seen, "|") != "Bearer sk-one-000|Bearer sk-two-000|" {
		t.Errorf("authorizations = %q", seen)
	}
	if e := failure(t, a, context.Background()); e.Kind != delegate.KindRefused || strings.Contains(e.Error(), "bad-secret") {
		t.Errorf("a key with a control character: %v", e)
	}
	if e := failure(t, a, context.Background()); e.Kind != delegate.KindRefused || !strings.Contains(e.Error(), "ORACLE_KEY is not set") {
		t.Errorf("no key: %v", e)
	}
}

func TestCancelAndCloseEndAnAsk(t *testing.T) {
	tests := []struct {
		name string
		end  func(cancel context.CancelFunc, a *Agent)
		kind delegate.Kind
	}{
		{"the caller cancels", func(cancel context.CancelFunc, _ *Agent) { cancel() }, delegate.KindCanceled},
		{"Close", func(_ context.CancelFunc, a *Agent) { a.Close() }, delegate.KindUnreachable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			gone := make(chan struct{})
			a := serve(t, func(w http.ResponseWriter, r *http.Request) {
				sendEvents(w, chunk("I think"))
				<-r.Context().Done()
				close(gone)
			})
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var ending sync.WaitGroup
			defer ending.Wait()
			_, err := a.Ask(ctx, delegate.Request{Prompt: "hi", Progress: func(langrooms.Progress) {
				ending.Go(func() { test.end(cancel, a) })
			}})
			var e *delegate.Error
			if !errors.As(err, &e) || e.Kind != test.kind || !e.Accepted {
				t.Errorf("Ask = %v, want kind %s", err, test.kind)
			}
			<-gone // the endpoint noticed
		})
	}
}

func TestAfterClose(t *testing.T) {
	a := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	a.Close()
	if e := failure(t, a, context.Background()); e.Kind != delegate.KindUnreachable {
		t.Errorf("Ask after Close = %v", e)
	}
	if _, err := a.Probe(context.Background()); err == nil {
		t.Error("Probe after Close succeeded")
	}
}

func TestTimeout(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		a := serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked(t, r)
			if streamed {
				sendEvents(w, chunk("I think"))
			}
			<-r.Context().Done()
		})
		reply, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi", Timeout: 50 * time.Millisecond})
		if streamed { // what was shown is kept
			if err != nil || reply.Text != "I think" || !strings.Contains(reply.Incomplete, "50ms") {
				t.Errorf("streamed: %+v, %v", reply, err)
			}
			continue
		}
		var e *delegate.Error
		if !errors.As(err, &e) || e.Kind != delegate.KindTimeout || !e.Accepted || !strings.Contains(e.Cause(), "50ms") {
			t.Errorf("streamed %v: Ask = %v, want a timeout of 50ms", streamed, err)
		}
	}
}

func TestNoConnectionInTimeIsUnreachable(t *testing.T) {
	over := make(chan struct{})
	a := serve(t, nil, func(c *Config) {
		c.HTTPClient = &http.Client{Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				<-over
				return nil, net.ErrClosed
			},
		}}
		c.Timeout = 20 * time.Millisecond
	})
	e := failure(t, a, context.Background())
	close(over)
	if e.Kind != delegate.KindUnreachable || e.Accepted {
		t.Errorf("error = %v, kind %s", e, e.Kind)
	}
}

// net/http lets an attempt to connect outlive its request.
func TestCloseEndsAConnectionAttempt(t *testing.T) {
	a, err := New(Config{Name: "oracle", URL: "http://host/v1", Model: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{})
	dial := a.dialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ended := make(chan error)
	go func() {
		_, err := dial(context.Background(), "tcp", "host:80")
		ended <- err
	}()
	<-began
	a.Close()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("dial = %v", err)
	}
}

func TestManyAsksLeaveNoConnection(t *testing.T) {
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	none := sync.NewCond(&mu)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sendEvents(w, chunk("one "), chunk("two"), stop, done)
	}))
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		open[conn] = true
		if state == http.StateClosed {
			delete(open, conn)
		}
		none.Broadcast()
	}
	server.Start()
	defer server.Close()
	a, err := New(Config{Name: "oracle", URL: server.URL, Model: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi"}); err != nil {
			t.Fatal(err)
		}
	}
	a.Close()
	mu.Lock()
	defer mu.Unlock()
	for len(open) > 0 { // a connection left open hangs the test
		none.Wait()
	}
}

func TestProbeListsModels(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		kind   delegate.Kind
	}{
		{"models", 200, `{"object":"list","data":[{"id":"demo"}]}`, ""},
		{"a tag of the server's", 200, `{"data":[{"id":"demo:latest"}]}`, ""},
		{"another model", 200, `{"data":[{"id":"small"},{"id":"large"}]}`, delegate.KindRefused},
		{"another model in a bare list", 200, `[{"id":"small"}]`, delegate.KindRefused},
		{"a bare list", 200, `[{"id":"demo"}]`, ""},
		{"a long list", 200, `{"data":["` + strings.Repeat("x", 200<<10) + `"]}`, ""},
		{"HTML", 200, "<html>hello</html>", delegate.KindProtocol},
		{"nothing", 200, "", delegate.KindProtocol},
		{"error object", 200, `{"error":{"message":"no"}}`, delegate.KindFailed},
		{"bad key", 401, `{"error":{"message":"Incorrect API key provided: ` + testKey + `"}}`, delegate.KindRefused},
		{"down", 503, "", delegate.KindUnreachable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer "+testKey {
					t.Errorf("%s %s", r.Method, r.URL)
				}
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			})
			health, err := a.Probe(context.Background())
			var e *delegate.Error
			errors.As(err, &e)
			switch {
			case test.kind == "" && (err != nil || health.Protocol != "openai" || health.Latency <= 0):
				t.Errorf("Probe = %+v, %v", health, err)
			case test.kind == delegate.KindRefused && e != nil && e.Status == 0 && !strings.Contains(e.Cause(), `does not list the model "demo"; it lists small`):
				t.Errorf("Probe = %v", err)
			case test.kind != "" && (e == nil || e.Kind != test.kind || strings.Contains(err.Error(), testKey)):
				t.Errorf("Probe = %v, want kind %s", err, test.kind)
			}
		})
	}
}
