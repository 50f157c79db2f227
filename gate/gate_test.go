package gate_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/gate"
)

func key(identity gate.Identity, secret string) gate.Key {
	return gate.Key{Identity: identity, Secret: func() (string, error) {
		if secret == "" {
			return "", errors.New("the variable is not set")
		}
		return secret, nil
	}}
}

var keys = []gate.Key{
	key(gate.Identity{Kind: gate.User, Name: "ada", Admin: true}, "key-of-ada"),
	key(gate.Identity{Kind: gate.Agent, Name: "proto", Admin: true, Agents: []string{"reviewer"}}, "key-of-proto"),
	key(gate.Identity{Kind: gate.User, Name: "unset"}, ""),
}

// answer asks a server behind a gate and returns the status, and who was let through.
func answer(t *testing.T, cfg gate.Config, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	g, err := gate.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h := g.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, ok := gate.From(r.Context())
		_, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %s %v %v %v", who.Kind, who.Name, who.Admin, ok, err != nil)
	}))
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/threads", nil)
	change(r)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), w.Body.String()
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func TestWhoIsAsking(t *testing.T) {
	with := gate.Config{Addr: "0.0.0.0:80", Keys: func() []gate.Key { return keys }}
	without := gate.Config{Addr: "127.0.0.1:8080"}
	own := func() []gate.Key {
		return []gate.Key{key(gate.Identity{Kind: gate.Agent, Name: "coder"}, "key-of-coder")}
	}
	withOwn, ownAlone := with, without
	withOwn.Own, ownAlone.Own = own, own
	for _, tt := range []struct {
		name   string
		cfg    gate.Config
		change func(*http.Request)
		status int
		body   string
	}{
		{"a bearer", with, header("Authorization", "Bearer key-of-ada"), 200, "user ada true true false"},
		{"a scheme in small letters", with, header("Authorization", "bearer key-of-ada"), 200, "user ada"},
		{"a key header", with, header("X-Api-Key", "key-of-ada"), 200, "user ada"},
		{"an agent is no admin", with, header("X-Api-Key", "key-of-proto"), 200, "agent proto false true"},
		{"no key", with, func(*http.Request) {}, 401, "a key is needed"},
		{"a wrong key", with, header("X-Api-Key", "key-of-eve"), 401, "a key is needed"},
		{"the key that is not set", with, header("X-Api-Key", ""), 401, "a key is needed"},
		{"the program's own key beside keys", withOwn, header("Authorization", "Bearer key-of-coder"), 200, "agent coder false true"},
		{"a wrong key beside the program's own", withOwn, header("X-Api-Key", "key-of-eve"), 401, "a key is needed"},
		{"the program's own key alone", ownAlone, header("Authorization", "Bearer key-of-coder"), 200, "agent coder false true"},
		{"no key beside the program's own", ownAlone, func(*http.Request) {}, 200, "user operator true true"},
		{"an open path", with, func(r *http.Request) { r.URL.Path = "/ok" }, 200, "false false"},
		{"under /api the code is said", with, func(r *http.Request) { r.URL.Path = "/api/rooms" }, 401, `"code":"unauthorized"`},
		{"without keys it is the operator", without, func(*http.Request) {}, 200, "user operator true"},
		{"without keys every key is ignored", without, header("X-Api-Key", "anything"), 200, "user operator true"},
		{"the page's cookie reads", with, header("Cookie", gate.Cookie+"=key-of-ada"), 200, "user ada"},
		{"the page's cookie posts from the page", with, func(r *http.Request) {
			r.Method = http.MethodPost
			r.Header.Set("Cookie", gate.Cookie+"=key-of-ada")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}, 200, "user ada"},
		{"and from nowhere else", with, func(r *http.Request) {
			r.Method = http.MethodPost
			r.Header.Set("Cookie", gate.Cookie+"=key-of-ada")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, 401, "a key is needed"},
		{"a stranger's name for this machine", without, func(r *http.Request) { r.Host = "evil.example" }, 421, "this server is not"},
		{"its own", without, func(r *http.Request) { r.Host = "localhost:8080" }, 200, "operator"},
		{"a stranger's page", without, header("Origin", "https://evil.example"), 403, "server.cors_origins"},
		{"a page on this machine", without, header("Origin", "http://localhost:3000"), 200, "operator"},
		{"a body that says it is too large", without, func(r *http.Request) { r.ContentLength = 100 << 20 }, 413, "larger"},
		{"a body that does not say it", gate.Config{Addr: "[::1]:1", MaxBody: 10}, func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("x", 11))), -1
		}, 200, "true true true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := answer(t, tt.cfg, tt.change)
			if resp.StatusCode != tt.status || !strings.Contains(body, tt.body) {
				t.Errorf("got %d %s, want %d %s", resp.StatusCode, body, tt.status, tt.body)
			}
			if resp.Header.Get(gate.RequestID) == "" {
				t.Error("the answer has no request id")
			}
		})
	}
}

func TestOrigins(t *testing.T) {
	all := func() []string { return []string{"*"} }
	preflight := func(origin string) func(*http.Request) {
		return func(r *http.Request) {
			r.Method = http.MethodOptions
			r.Header.Set("Origin", origin)
			r.Header.Set("Access-Control-Request-Headers", "x-api-key,content-type")
		}
	}
	for _, tt := range []struct {
		name   string
		cfg    gate.Config
		origin string
		want   string
	}{
		{"loopback", gate.Config{Addr: "127.0.0.1:1"}, "http://localhost:3000", "http://localhost:3000"},
		{"a stranger", gate.Config{Addr: "127.0.0.1:1"}, "https://evil.example", ""},
		{"all, without keys", gate.Config{Addr: "127.0.0.1:1", Origins: all}, "https://evil.example", ""},
		{"all, with keys", gate.Config{Addr: "127.0.0.1:1", Origins: all, Keys: func() []gate.Key { return keys }}, "https://chat.example", "https://chat.example"},
	} {
		resp, _ := answer(t, tt.cfg, preflight(tt.origin))
		if got := resp.Header.Get("Access-Control-Allow-Origin"); resp.StatusCode != http.StatusNoContent || got != tt.want {
			t.Errorf("%s: %d, allows %q, want %q", tt.name, resp.StatusCode, got, tt.want)
		}
	}
}

func TestOpenToOthers(t *testing.T) {
	for addr, open := range map[string]bool{"0.0.0.0:1": true, ":8080": true, "192.0.2.1:1": true, "127.0.0.2:1": false, "[::1]:1": false, "localhost:1": false} {
		if _, err := gate.New(gate.Config{Addr: addr}); errors.Is(err, gate.ErrOpen) != open {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// The default lets fifty posts of one key through at once, and tells the one too many when to
// come again.
func TestRate(t *testing.T) {
	keyed := gate.Config{Addr: "127.0.0.1:1", Keys: func() []gate.Key { return []gate.Key{key(gate.Identity{Kind: gate.User, Name: "ada"}, "key-of-ada")} }}
	for _, tt := range []struct {
		name         string
		cfg          gate.Config
		method, path string
		passes       int
	}{
		{"posts", gate.Config{Addr: "127.0.0.1:1"}, http.MethodPost, "/threads", http.StatusOK},
		{"tries of keys", keyed, http.MethodPost, "/threads", http.StatusUnauthorized},
		{"tries to sign in", keyed, http.MethodPost, "/signin", http.StatusOK},
		{"tries to read", keyed, http.MethodGet, "/threads/t", http.StatusUnauthorized},
	} {
		g, err := gate.New(tt.cfg)
		if err != nil {
			t.Fatal(err)
		}
		h := g.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		ask := func(method, path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, "http://127.0.0.1:1"+path, nil))
			return w
		}
		refusedAt := 0
		for n := 1; n < 1000 && refusedAt == 0; n++ {
			switch w := ask(tt.method, tt.path); {
			case w.Code == http.StatusTooManyRequests:
				if refusedAt = n; w.Header().Get("Retry-After") == "" {
					t.Errorf("%s: it is not said when to come again", tt.name)
				}
			case w.Code != tt.passes:
				t.Errorf("%s: %d, want %d", tt.name, w.Code, tt.passes)
			}
		}
		if refusedAt <= 50 {
			t.Errorf("%s: refused at %d", tt.name, refusedAt)
		}
		if w := ask(http.MethodGet, "/healthz"); w.Code != http.StatusOK {
			t.Errorf("%s: health is refused with %d", tt.name, w.Code)
		}
	}
}

func Example() {
	g, err := gate.New(gate.Config{Addr: "127.0.0.1:8080", Keys: func() []gate.Key {
		return []gate.Key{{Identity: gate.Identity{Kind: gate.User, Name: "ada"}, Secret: func() (string, error) { return "open-sesame", nil }}}
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	h := g.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, _ := gate.From(r.Context())
		fmt.Fprint(w, "hello, ", who.Name)
	}))
	for _, sent := range []string{"open-sesame", "guess"} {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/threads/main", nil)
		r.Header.Set("Authorization", "Bearer "+sent)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 200 hello, ada
	// 401 {"detail":"a key is needed: send it as Authorization: Bearer KEY or X-Api-Key: KEY"}
}

// A user and an agent of one name own different things.
func TestSubject(t *testing.T) {
	user, agent := gate.Identity{Kind: gate.User, Name: "proto"}, gate.Identity{Kind: gate.Agent, Name: "proto"}
	if user.Subject() != "proto" || agent.Subject() == user.Subject() {
		t.Errorf("%q, %q", user.Subject(), agent.Subject())
	}
}
