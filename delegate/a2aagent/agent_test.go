package a2aagent

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// TestNew shows that a bad field is named, and that no secret of a URL is repeated.
func TestNew(t *testing.T) {
	token := func() (string, error) { return secretToken, nil }
	for _, c := range []struct {
		name string
		cfg  Config
		says string // "" means that it is accepted
	}{
		{"least", Config{Name: "proto", URL: "http://h"}, ""},
		{"everything", Config{Name: "proto", Description: "d", URL: "https://h:1/a2a?v=1", Scheme: SchemeAPIKey, Token: token, PollTimeout: time.Second, HTTPClient: http.DefaultClient}, ""},
		{"no name", Config{URL: "http://h"}, "name: "},
		{"reserved name", Config{Name: "lead", URL: "http://h"}, "name: "},
		{"no url", Config{Name: "proto"}, "url: is empty"},
		{"relative url", Config{Name: "proto", URL: "h/a2a"}, "url: scheme"},
		{"other scheme", Config{Name: "proto", URL: "ftp://h"}, "url: scheme \"ftp\""},
		{"no host", Config{Name: "proto", URL: "http:///a2a"}, "url: names no host"},
		{"unreadable url", Config{Name: "proto", URL: "http://h/%zz" + secretToken}, "url: cannot be read"},
		{"password in the url", Config{Name: "proto", URL: "http://u:" + secretToken + "@h"}, "url: holds credentials"},
		{"fragment", Config{Name: "proto", URL: "http://h/#x"}, "url: has a fragment"},
		{"unknown auth scheme", Config{Name: "proto", URL: "http://h", Scheme: "basic", Token: token}, "auth.scheme: \"basic\""},
		{"scheme without a token", Config{Name: "proto", URL: "http://h", Scheme: SchemeBearer}, "auth.token: "},
		{"negative time", Config{Name: "proto", URL: "http://h", PollTimeout: -1}, "poll_timeout_s: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := New(c.cfg)
			switch {
			case c.says == "" && err != nil, c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Fatalf("New = %v, want %q", err, c.says)
			case err != nil && strings.Contains(err.Error(), secretToken):
				t.Errorf("the error %q holds a secret", err)
			case err == nil:
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestHundredAsks shows that asks leave nothing behind, neither connections nor
// goroutines (which TestMain looks for).
func TestHundredAsks(t *testing.T) {
	f := &fakePeer{card: cardV1, replies: []reply{result(inTask(taskV1("COMPLETED", "", "hi")))}}
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	server := httptest.NewUnstartedServer(f)
	server.Config.ConnState = func(c net.Conn, s http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		if open[c] = true; s == http.StateClosed {
			delete(open, c)
		}
	}
	server.Start()
	defer server.Close()
	f.card = strings.ReplaceAll(f.card, "$URL", server.URL)
	a := newAgent(t, Config{Name: "proto", URL: server.URL + "/a2a"})
	for range 100 {
		if got, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil || got.Text != "hi" {
			t.Fatalf("Ask = %q, %v", got.Text, err)
		}
	}
	mu.Lock()
	if len(open) > 1 {
		t.Errorf("%d connections are open after asks in a row", len(open))
	}
	mu.Unlock()
	a.Close()
	server.Close() // waits for connections
	if len(open) > 0 {
		t.Errorf("%d connections are open after Close", len(open))
	}
}

// TestUnknownAuthority shows that a peer whose certificate nobody here has signed is said to
// want a key of the file, and which.
func TestUnknownAuthority(t *testing.T) {
	peer := httptest.NewUnstartedServer(http.NotFoundHandler())
	peer.Config.ErrorLog = log.New(io.Discard, "", 0)
	peer.StartTLS()
	defer peer.Close()
	_, err := newAgent(t, Config{Name: "proto", URL: peer.URL}).Ask(t.Context(), delegate.Request{Prompt: "hi"})
	if kindOf(err) != delegate.KindUnreachable || !strings.Contains(err.Error(), "ca_file") {
		t.Errorf("Ask = %v", err)
	}
}

// TestTooLarge shows that an answer beyond the bound is an error and takes no more memory.
func TestTooLarge(t *testing.T) {
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		block := []byte(strings.Repeat(" ", 1<<20))
		for range maxAnswer>>20 + 2 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	defer peer.Close()
	_, err := newAgent(t, Config{Name: "proto", URL: peer.URL}).Ask(t.Context(), delegate.Request{Prompt: "hi"})
	if kindOf(err) != delegate.KindProtocol || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("Ask = %v", err)
	}
}
