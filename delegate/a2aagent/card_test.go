package a2aagent

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/langrooms/langrooms/delegate"
)

// TestChoose shows what is spoken, and where, for every shape of a card.
func TestChoose(t *testing.T) {
	rpc, rest := a2a.TransportProtocolJSONRPC, a2a.TransportProtocolHTTPJSON
	const old = a2av0.Version
	for _, c := range []struct {
		name, target, card string
		want               endpoint
	}{
		{"1.0", "http://h/a2a", `{"supportedInterfaces":[{"url":"http://h/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, endpoint{"http://h/a2a", a2a.Version, rpc, ""}},
		{"0.3", "http://h/a2a", `{"url":"http://h/a2a","preferredTransport":"JSONRPC","protocolVersion":"0.3.0"}`, endpoint{"http://h/a2a", old, rpc, ""}},
		{"0.3 shape that says 1.0", "http://h/a2a", `{"url":"http://h/a2a","protocolVersion":"1.0"}`, endpoint{"http://h/a2a", old, rpc, ""}},
		{"1.0 shape that says 0.3", "http://h/a2a", `{"supportedInterfaces":[{"url":"http://h/a2a","protocolBinding":"JSONRPC","protocolVersion":"0.3"}]}`, endpoint{"http://h/a2a", old, rpc, ""}},
		{"both shapes", "http://h/a2a", `{"url":"http://h/a2a","supportedInterfaces":[{"url":"http://h/a2a","protocolVersion":"1.0"}]}`, endpoint{"http://h/a2a", a2a.Version, rpc, ""}},
		{"no interface, a version", "http://h/a2a", `{"protocolVersion":"0.3"}`, endpoint{"http://h/a2a", old, rpc, ""}},
		{"no interface at all", "http://h/a2a", `{}`, endpoint{"http://h/a2a", a2a.Version, rpc, ""}},
		{"only what is not spoken", "http://h/a2a", `{"supportedInterfaces":[{"url":"h:1","protocolBinding":"GRPC"},{"url":"http://h/2","protocolVersion":"2.0"}]}`, endpoint{"http://h/a2a", a2a.Version, rpc, ""}},
		{"REST only", "http://h/rest", `{"supportedInterfaces":[{"url":"http://h/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}]}`, endpoint{"http://h/rest", a2a.Version, rest, ""}},
		{"REST at another path", "http://h/a2a", `{"supportedInterfaces":[{"url":"http://h/rest/v1","protocolBinding":"http+json","tenant":"t"}]}`, endpoint{"http://h/rest/v1", a2a.Version, rest, "t"}},
		{"JSON-RPC before REST", "http://h/", `{"supportedInterfaces":[{"url":"http://h/rest","protocolBinding":"HTTP+JSON"},{"url":"http://h/rpc","protocolBinding":"JSONRPC"}]}`, endpoint{"http://h/rpc", a2a.Version, rpc, ""}},
		{"the interface at the configured path", "http://h/rest/", `{"supportedInterfaces":[{"url":"http://h/rest","protocolBinding":"HTTP+JSON"},{"url":"http://h/rpc","protocolBinding":"JSONRPC"}]}`, endpoint{"http://h/rest", a2a.Version, rest, ""}},
		{"another host never", "http://h/a2a?x=1", `{"supportedInterfaces":[{"url":"http://evil/steal","protocolBinding":"JSONRPC"}]}`, endpoint{"http://h/a2a?x=1", a2a.Version, rpc, ""}},
		{"another host's path for a bare URL", "http://h", `{"url":"http://localhost:9/agents/a"}`, endpoint{"http://h/agents/a", old, rpc, ""}},
		{"without TLS, behind a proxy", "https://h/a2a", `{"url":"http://h/a2a/rpc"}`, endpoint{"https://h/a2a/rpc", old, rpc, ""}},
		{"without TLS, at another port", "https://h/a2a", `{"url":"http://h:8080/a2a/rpc"}`, endpoint{"https://h/a2a", old, rpc, ""}},
		{"0.3 REST beside JSON-RPC", "http://h/a2a", `{"url":"http://h/v1","preferredTransport":"HTTP+JSON","additionalInterfaces":[{"url":"http://h/a2a","transport":"JSONRPC"}]}`, endpoint{"http://h/a2a", old, rpc, ""}},
		{"fields of the wrong type", "http://h/a2a", `{"name":7,"capabilities":"all","supportedInterfaces":[{"url":"http://h/a2a","protocolVersion":1}]}`, endpoint{"http://h/a2a", a2a.Version, rpc, ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			target, err := url.Parse(c.target)
			if err != nil {
				t.Fatal(err)
			}
			s := &session{Agent: &Agent{target: target}}
			got, err := s.readCard(spot{own: true}, []byte(c.card))
			if err != nil || got.endpoint != c.want {
				t.Errorf("readCard = %+v, %v; want %+v", got.endpoint, err, c.want)
			}
		})
	}
}

// TestMissingCard shows that no state of the card keeps a message from the peer.
func TestMissingCard(t *testing.T) {
	hi := result(`{"message":{"parts":[{"text":"hi"}]}}`)
	for name, card := range map[string]func(http.ResponseWriter, *http.Request){
		"404":       http.NotFound,
		"500":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"no JSON":   func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) },
		"no object": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`["card"]`)) },
		"too large": func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, maxCard+1)) },
		"other host": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://evil.test/card", http.StatusFound)
		},
		"broken off":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"never served": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakePeer{replies: []reply{hi}}
			peer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					card(w, r)
					return
				}
				f.ServeHTTP(w, r)
			})
			inBubble(t, peer, nil, func(t *testing.T, a *Agent) {
				began := time.Now()
				got, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"})
				if err != nil || got.Text != "hi" || f.methods() != "SendMessage" {
					t.Errorf("Ask = %q, %v by %q", got.Text, err, f.methods())
				}
				if took := time.Since(began); took > cardTimeout {
					t.Errorf("the message waited %v for the card", took)
				}
				began = time.Now()
				if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil || time.Since(began) > 0 {
					t.Errorf("a second Ask = %v after %v", err, time.Since(began))
				}
				if version := f.requests()[0].header.Get("A2A-Version"); version != "1.0" {
					t.Errorf("A2A-Version is %q", version)
				}
				_, err = a.Probe(t.Context())
				if answers := !slices.Contains([]string{"too large", "broken off", "never served"}, name); answers != (err == nil) {
					t.Errorf("Probe = %v", err)
				}
			})
		})
	}
}

// TestCardIsCached shows that a card is fetched again after a minute.
func TestCardIsCached(t *testing.T) {
	f := &fakePeer{card: cardV1, replies: []reply{result(`{"message":{"parts":[{"text":"hi"}]}}`)}}
	inBubble(t, f, nil, func(t *testing.T, a *Agent) {
		for _, want := range []int{1, 1, 2} {
			if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil {
				t.Fatal(err)
			}
			if fetched := len(f.got) - len(f.requests()); fetched != want {
				t.Errorf("the card was fetched %d times, want %d", fetched, want)
			}
			timer := time.NewTimer(31 * time.Second)
			<-timer.C
		}
		synctest.Wait()
	})
}

// TestOtherVersion shows that a peer without a card that knows only the other version's
// methods is understood, also for later calls, and that nothing was accepted twice. Python's
// SDK 0.2 says -32600 of them.
func TestOtherVersion(t *testing.T) {
	t.Run("-32601", func(t *testing.T) { testOtherVersion(t, rpcFailure(-32601, "method not found", "")) })
	t.Run("-32600", func(t *testing.T) { testOtherVersion(t, rpcFailure(-32600, "Request payload validation error", "")) })
	t.Run("-32600 as HTTP 400", func(t *testing.T) {
		testOtherVersion(t, reply{status: 400, body: rpcFailure(-32600, "Request payload validation error", "").body})
	})
}

func testOtherVersion(t *testing.T, unknown reply) {
	f := &fakePeer{replies: []reply{unknown, result(taskV03("WORKING", "")), result(taskV03("COMPLETED", "", "hi")), result(taskV03("COMPLETED", "", "again"))}}
	a := f.serve(t, nil)
	for _, want := range []string{"hi", "again"} {
		got, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"})
		if err != nil || got.Text != want {
			t.Fatalf("Ask = %q, %v", got.Text, err)
		}
	}
	if want := "SendMessage message/send tasks/get message/send"; f.methods() != want {
		t.Errorf("the peer was sent %q, want %q", f.methods(), want)
	}
}

// TestElsewhere shows that nothing, and above all no credential, leaves the origin of the
// configured URL: not by a redirect of any status, and not by the card.
func TestElsewhere(t *testing.T) {
	var reached []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached = append(reached, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		f := &fakePeer{card: cardV1, replies: []reply{{status: status, location: elsewhere.URL + "/steal?token=abc"}}}
		_, err := f.serve(t, nil).Ask(t.Context(), delegate.Request{Prompt: "hi"})
		if kindOf(err) != delegate.KindRefused || !strings.Contains(err.Error(), "redirects to "+elsewhere.URL+"/steal") || strings.Contains(err.Error(), "abc") {
			t.Errorf("%d: Ask = %v", status, err)
		}
	}
	lying := strings.ReplaceAll(cardV1, "$URL", elsewhere.URL)
	f := &fakePeer{card: lying, replies: []reply{result(`{"message":{"parts":[{"text":"hi"}]}}`)}}
	if got, err := f.serve(t, nil).Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil || got.Text != "hi" {
		t.Errorf("Ask = %q, %v", got.Text, err)
	}
	if len(reached) > 0 {
		t.Errorf("the other host was reached: %q", reached)
	}
}

// TestCredential shows the headers of each scheme.
func TestCredential(t *testing.T) {
	for _, c := range []struct{ scheme, header, want string }{
		{SchemeBearer, "Authorization", "Bearer " + secretToken},
		{"", "Authorization", "Bearer " + secretToken},
		{SchemeAPIKey, "X-Api-Key", secretToken},
	} {
		f := &fakePeer{card: cardV1, replies: []reply{result(`{"message":{"parts":[{"text":"hi"}]}}`)}}
		a := f.serve(t, func(cfg *Config) { cfg.Scheme = c.scheme })
		if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil {
			t.Fatal(err)
		}
		for _, r := range f.got {
			if r.header.Get(c.header) != c.want {
				t.Errorf("scheme %q: %s of %s is %q", c.scheme, c.header, r.path, r.header.Get(c.header))
			}
		}
	}
}

// TestProbe shows what a card tells.
func TestProbe(t *testing.T) {
	f := &fakePeer{card: cardV03, replies: []reply{rpcFailure(-32001, "no such task", "")}}
	health, err := f.serve(t, nil).Probe(t.Context())
	if err != nil || health.Version != "7.1" || health.Protocol != "A2A 0.3" || f.methods() != "tasks/get" {
		t.Errorf("Probe = %+v, %v after %q", health, err, f.methods())
	}
}

// A card below the configured URL that cannot be used is what a probe speaks of, not that
// there is none at the origin.
func TestProbeOfABrokenCardBelow(t *testing.T) {
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a2a"+cardPath {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(`{"card"`))
	}))
	defer peer.Close()
	_, err := newAgent(t, Config{Name: "proto", URL: peer.URL + "/a2a"}).Probe(t.Context())
	if kindOf(err) != delegate.KindProtocol || !strings.Contains(err.Error(), "its agent card cannot be read") {
		t.Errorf("Probe = %v", err)
	}
}

// cards serves cards by path, and answers every POST to one of the paths in posts.
func serveCards(t *testing.T, cards map[string]string, posts ...string) (origin string, got *[]received) {
	t.Helper()
	got = new([]received)
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*got = append(*got, received{path: r.URL.RequestURI(), header: r.Header.Clone(), method: r.Method})
		card, ok := cards[r.URL.Path]
		switch {
		case r.Method == http.MethodGet && ok && !strings.HasPrefix(card, "{"):
			status, _ := strconv.Atoi(card)
			w.WriteHeader(status)
		case r.Method == http.MethodGet && ok:
			w.Write([]byte(strings.ReplaceAll(card, "$URL", server.URL)))
		case r.Method == http.MethodPost && slices.Contains(posts, r.URL.Path):
			w.Write([]byte(`{"jsonrpc":"2.0","id":"1","result":{"kind":"message","parts":[{"kind":"text","text":"hi"}]}}`))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

// TestDiscovery shows where the card is looked for and which one is believed: that below the
// configured URL, then one at the origin that names it, whatever stands at the other places.
func TestDiscovery(t *testing.T) {
	at := func(path string) string {
		return `{"name":"p","protocolVersion":"0.3.0","url":"$URL` + path + `","preferredTransport":"JSONRPC"}`
	}
	for _, c := range []struct {
		name, url string
		cards     map[string]string
		post      string
		protocol  string
	}{
		{"below, naming its endpoint", "/a2a/cap", map[string]string{"/a2a/cap" + cardPath: at("/a2a/cap/jsonrpc")}, "/a2a/cap/jsonrpc", "0.3"},
		{"below, after a login page at the origin", "/x", map[string]string{cardPath: "401", "/x" + cardPath: at("/x")}, "/x", "0.3"},
		{"below, another agent's at the origin", "/x", map[string]string{cardPath: at("/other"), "/x" + cardPath: at("/x")}, "/x", "0.3"},
		{"another agent's at the origin alone", "/x", map[string]string{cardPath: at("/other")}, "/x", "1.0"},
		{"its own at the origin, below is forbidden", "/x", map[string]string{"/x" + cardPath: "403", cardPath: at("/x")}, "/x", "0.3"},
		{"its own at the origin, below is no method", "/x", map[string]string{"/x" + cardPath: "405", cardPath: at("/x")}, "/x", "0.3"},
		{"an old agent's", "/", map[string]string{oldCardPath: at("/")}, "/", "0.3"},
		{"the card's address", "/x" + cardPath, map[string]string{"/x" + cardPath: at("/x/rpc")}, "/x/rpc", "0.3"},
		{"the old card's address", oldCardPath, map[string]string{oldCardPath: at("/")}, "/", "0.3"},
		{"a card's address where none is", "/x" + cardPath, nil, "/x", "1.0"},
		{"below, naming another origin", "/x", map[string]string{"/x" + cardPath: strings.ReplaceAll(at("/y"), "$URL", "http://evil.test")}, "/x", "0.3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, got := serveCards(t, c.cards, c.post)
			a := newAgent(t, Config{Name: "proto", URL: base + c.url})
			health, err := a.Probe(t.Context())
			if err != nil || health.Protocol != "A2A "+c.protocol {
				t.Errorf("Probe = %+v, %v", health, err)
			}
			reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "hello"})
			if err != nil || reply.Text != "hi" {
				t.Errorf("Ask = %q, %v after %v", reply.Text, err, *got)
			}
		})
	}
	base, _ := serveCards(t, map[string]string{"/cards/7": at("/x")}, "/x")
	a := newAgent(t, Config{Name: "proto", URL: base + "/x", CardURL: base + "/cards/7"})
	if health, err := a.Probe(t.Context()); err != nil || health.Protocol != "A2A 0.3" {
		t.Errorf("CardURL: Probe = %+v, %v", health, err)
	}
}

// TestSecuritySchemes shows where the credential goes for each scheme that a card names, in
// the shape of either version, and what a probe says of one that does not fit.
func TestSecuritySchemes(t *testing.T) {
	old := func(scheme string) string {
		return `{"name":"p","protocolVersion":"0.3.0","url":"$URL/","securitySchemes":{"k":` + scheme + `},"security":[{"k":[]}]}`
	}
	v1 := func(scheme string) string {
		return `{"name":"p","supportedInterfaces":[{"url":"$URL/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
			"securitySchemes":{"k":` + scheme + `},"securityRequirements":[{"schemes":{"k":{"list":["read"]}}}]}`
	}
	bearer, plain := "Bearer "+secretToken, secretToken
	for _, c := range []struct {
		name, card, scheme string
		header, value      string
		path               string
		mismatch           string
	}{
		{"header", old(`{"type":"apiKey","in":"header","name":"X-My-Key"}`), SchemeAPIKey, "X-My-Key", plain, "/", ""},
		{"header, scheme left open", old(`{"type":"apiKey","in":"header","name":"X-My-Key"}`), "", "X-My-Key", plain, "/", ""},
		{"header, 1.0", v1(`{"apiKeySecurityScheme":{"location":"header","name":"X-My-Key"}}`), SchemeAPIKey, "X-My-Key", plain, "/", ""},
		{"query", old(`{"type":"apiKey","in":"query","name":"key"}`), SchemeAPIKey, "", "", "/?key=" + plain, ""},
		{"cookie", v1(`{"apiKeySecurityScheme":{"location":"cookie","name":"sid"}}`), SchemeAPIKey, "Cookie", "sid=" + plain, "/", ""},
		{"bearer, 1.0", v1(`{"httpAuthSecurityScheme":{"scheme":"Bearer"}}`), "", "Authorization", bearer, "/", ""},
		{"OAuth2 with a token", old(`{"type":"oauth2","flows":{}}`), SchemeBearer, "Authorization", bearer, "/", ""},
		{"a header that is taken", old(`{"type":"apiKey","in":"header","name":"Host"}`), SchemeAPIKey, "X-API-Key", plain, "/", "a place that cannot be used"},
		{"another scheme", old(`{"type":"apiKey","in":"header","name":"X-My-Key"}`), SchemeBearer, "Authorization", bearer, "/", "an API key in the header X-My-Key, and auth.scheme is bearer"},
		{"basic", v1(`{"httpAuthSecurityScheme":{"scheme":"Basic"}}`), SchemeBearer, "Authorization", bearer, "/", "the scheme Basic"},
		{"mutual TLS", v1(`{"mtlsSecurityScheme":{}}`), SchemeBearer, "Authorization", bearer, "/", "a client certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, got := serveCards(t, map[string]string{cardPath: c.card}, "/")
			a := newAgent(t, Config{Name: "proto", URL: base, Scheme: c.scheme, Token: func() (string, error) { return secretToken, nil }})
			_, err := a.Probe(t.Context())
			if (err == nil) != (c.mismatch == "") || err != nil && (kindOf(err) != delegate.KindRefused || !strings.Contains(err.Error(), c.mismatch)) {
				t.Errorf("Probe = %v, want %q", err, c.mismatch)
			}
			if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil {
				t.Fatal(err)
			}
			last := (*got)[len(*got)-1]
			if last.path != c.path || c.header != "" && last.header.Get(c.header) != c.value {
				t.Errorf("the peer was sent %s %v", last.path, last.header)
			}
		})
	}
	base, _ := serveCards(t, map[string]string{cardPath: old(`{"type":"apiKey","in":"header","name":"X-My-Key"}`)}, "/")
	_, err := newAgent(t, Config{Name: "proto", URL: base}).Probe(t.Context())
	if kindOf(err) != delegate.KindRefused || !strings.Contains(err.Error(), "X-My-Key") || !strings.Contains(err.Error(), "auth.credentialsEnv") {
		t.Errorf("without a credential: Probe = %v", err)
	}
	own := map[string]func() (string, error){"X-My-Key": func() (string, error) { return "right", nil }}
	if _, err := newAgent(t, Config{Name: "proto", URL: base, HTTP: delegate.HTTP{Headers: own}}).Probe(t.Context()); err != nil {
		t.Errorf("with the header configured: Probe = %v", err)
	}
}

// TestProbeTriesTheCredential shows that a probe is not ok when the peer refuses the
// credential, although its card asks for none.
func TestProbeTriesTheCredential(t *testing.T) {
	f := &fakePeer{card: cardV1, replies: []reply{{status: 401}}}
	_, err := f.serve(t, nil).Probe(t.Context())
	if kindOf(err) != delegate.KindRefused || !strings.Contains(err.Error(), "auth.credentialsEnv") {
		t.Errorf("Probe = %v", err)
	}
}

// TestClientCredentials shows that the client's secret gets a token at the card's own
// origin or the configured place, and goes nowhere else; that a token is kept, and fetched
// anew after it was refused.
func TestClientCredentials(t *testing.T) {
	var tokens, refused int
	var url string
	card := func(tokenURL string) string {
		return `{"name":"p","protocolVersion":"0.3.0","url":"` + url + `/","security":[{"o":["read"]}],
			"securitySchemes":{"o":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"` + tokenURL + `","scopes":{}}}}}}`
	}
	tokenURL := "/token"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/token":
			id, secret, _ := r.BasicAuth()
			if r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "read" || id != "me" || secret != secretToken {
				t.Errorf("the token endpoint got %v from %s", r.Form, id)
			}
			tokens++
			fmt.Fprintf(w, `{"access_token":"issued-token-%d-4c1d","token_type":"Bearer","expires_in":3600}`, tokens)
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, cardPath):
			io.WriteString(w, card(url+tokenURL))
		case r.Method == http.MethodGet:
			http.NotFound(w, r)
		case tokens == refused || r.Header.Get("Authorization") != fmt.Sprintf("Bearer issued-token-%d-4c1d", tokens):
			w.WriteHeader(401)
		default:
			io.WriteString(w, `{"result":{"kind":"message","parts":[{"kind":"text","text":"you are issued-token-1-4c1d"}]}}`)
		}
	}))
	defer server.Close()
	url = server.URL
	cfg := Config{Name: "proto", URL: url, Scheme: SchemeOAuth2, ClientID: "me", Token: func() (string, error) { return secretToken, nil }}
	a := newAgent(t, cfg)
	for range 2 {
		if got, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil || got.Text != "you are [redacted]" || tokens != 1 {
			t.Errorf("Ask = %q, %v after %d tokens", got.Text, err, tokens)
		}
	}
	if _, err := a.Probe(t.Context()); err != nil {
		t.Errorf("Probe = %v", err)
	}
	refused = 1
	if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); kindOf(err) != delegate.KindRefused {
		t.Errorf("a refused token: %v", err)
	}
	if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil || tokens != 2 {
		t.Errorf("after it: %v after %d tokens", err, tokens)
	}
	url, tokenURL = "http://evil.test", "/token"
	a = newAgent(t, cfg)
	if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); kindOf(err) != delegate.KindRefused || !strings.Contains(err.Error(), "auth.token_url") {
		t.Errorf("a token endpoint elsewhere: %v", err)
	}
}
