package httpx

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

type trips func(*http.Request) (*http.Response, error)

func (f trips) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, after string) *http.Response {
	resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("x"))}
	if after != "" {
		resp.Header.Set("Retry-After", after)
	}
	return resp
}

// TestRetry shows which refusals are tried again, after how long, and how often.
func TestRetry(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name   string
		status int
		after  string
		times  int
		bound  time.Duration
		tries  int
		waited time.Duration
	}{
		{"429", 429, "", 1, day, 2, time.Second},
		{"429 that says when", 429, "7", 1, day, 2, 7 * time.Second},
		{"a fraction", 429, "0.5", 1, day, 2, 500 * time.Millisecond},
		{"a date", 503, time.Date(2000, 1, 1, 0, 0, 9, 0, time.UTC).Format(http.TimeFormat), 1, day, 2, 9 * time.Second},
		{"a date in the past", 503, time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).Format(http.TimeFormat), 1, day, 2, 0},
		{"503 that says when", 503, "2", 2, day, 3, 4 * time.Second},
		{"503 alone", 503, "", 1, day, 1, 0},
		{"too long", 429, "31", 1, day, 1, 0},
		{"absurd", 429, "1e300", 1, day, 1, 0},
		{"no number", 429, "NaN", 1, day, 2, time.Second},
		{"negative", 429, "-1", 1, day, 2, time.Second},
		{"no time left", 429, "20", 1, 10 * time.Second, 1, 0},
		{"not wanted", 429, "1", 0, day, 1, 0},
		{"another status", 500, "1", 1, day, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.bound)
				defer cancel()
				tries, began := 0, time.Now()
				base := trips(func(r *http.Request) (*http.Response, error) {
					if body, _ := io.ReadAll(r.Body); string(body) != "hello" {
						t.Errorf("the body is %q", body)
					}
					tries++
					return answer(c.status, c.after), nil
				})
				req, _ := http.NewRequestWithContext(ctx, "POST", "http://h/", strings.NewReader("hello"))
				resp, err := Retry(base, c.times).RoundTrip(req)
				if err != nil || resp.StatusCode != c.status || tries != c.tries || time.Since(began) != c.waited {
					t.Errorf("%v, %v after %d tries and %v", resp, err, tries, time.Since(began))
				}
			})
		})
	}
}

// A stop while it waits returns at once with what the peer had said.
func TestRetryStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		req, _ := http.NewRequestWithContext(ctx, "GET", "http://h/", nil)
		began := time.Now()
		resp, err := Retry(trips(func(*http.Request) (*http.Response, error) { return answer(429, "20"), nil }), 1).RoundTrip(req)
		if err != nil || resp.StatusCode != 429 || time.Since(began) != time.Second {
			t.Errorf("%v, %v after %v", resp, err, time.Since(began))
		}
	})
}

func plain(value string) func() (string, error) { return func() (string, error) { return value, nil } }

// TestBadOptions shows that each bad option is refused by its key, without its value.
func TestBadOptions(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for key, o := range map[string]delegate.HTTP{
		"headers":   {Headers: map[string]func() (string, error){"X Y": plain("v")}},
		"ca_file":   {CAFile: empty},
		"cert_file": {CertFile: empty},
		"key_file":  {CertFile: empty, KeyFile: empty},
		"retries":   {Retries: -1},
	} {
		if _, err := Transport(o); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
	}
	var option *OptionError
	for _, value := range []func() (string, error){plain("se\ncret"), func() (string, error) { return "", errors.New("not set") }} {
		_, err := Headers(delegate.HTTP{Headers: map[string]func() (string, error){"X-Key": value}})
		if !errors.As(err, &option) || !strings.Contains(err.Error(), "headers: X-Key") || strings.Contains(err.Error(), "cret") {
			t.Errorf("Headers: %v", err)
		}
	}
	tr, err := Transport(delegate.HTTP{Proxy: plain("ftp://user:hunter2@h")})
	if err != nil {
		t.Fatal(err)
	}
	req, _ := http.NewRequest("GET", "http://peer.example.com/", nil)
	if _, err := tr.RoundTrip(req); !errors.As(err, &option) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("proxy: %v", err)
	}
}

// TestCAFileAndProxy shows that a certificate of the file is trusted, and that requests go
// through the proxy.
func TestCAFileAndProxy(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	get := func(o delegate.HTTP, url string) (string, error) {
		tr, err := Transport(o)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.CloseIdleConnections()
		resp, err := (&http.Client{Transport: tr}).Get(url)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	if got, err := get(delegate.HTTP{CAFile: file}, server.URL); err != nil || got != "hello" {
		t.Errorf("with ca_file: %q, %v", got, err)
	}
	if _, err := get(delegate.HTTP{}, server.URL); err == nil {
		t.Error("without ca_file it is trusted")
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "for "+r.URL.Host) }))
	defer proxy.Close()
	if got, err := get(delegate.HTTP{Proxy: plain(proxy.URL)}, "http://peer.example.com/"); err != nil || got != "for peer.example.com" {
		t.Errorf("by proxy: %q, %v", got, err)
	}
}
