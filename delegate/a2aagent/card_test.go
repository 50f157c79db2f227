package a2aagent

import (
	"net/http"
	"net/http/httptest"
	"net/url"
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
		{"0.3 REST beside JSON-RPC", "http://h/a2a", `{"url":"http://h/v1","preferredTransport":"HTTP+JSON","additionalInterfaces":[{"url":"http://h/a2a","transport":"JSONRPC"}]}`, endpoint{"http://h/a2a", old, rpc, ""}},
		{"fields of the wrong type", "http://h/a2a", `{"name":7,"capabilities":"all","supportedInterfaces":[{"url":"http://h/a2a","protocolVersion":1}]}`, endpoint{"http://h/a2a", a2a.Version, rpc, ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			target, err := url.Parse(c.target)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readCard(target, []byte(c.card))
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
				if _, err := a.Probe(t.Context()); err == nil {
					t.Error("Probe succeeded")
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
// methods is understood, also for later calls, and that nothing was accepted twice.
func TestOtherVersion(t *testing.T) {
	unknown := rpcFailure(-32601, "method not found", "")
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
	f := &fakePeer{card: cardV03}
	health, err := f.serve(t, nil).Probe(t.Context())
	if err != nil || health.Version != "7.1" || health.Protocol != "A2A 0.3" || len(f.requests()) > 0 {
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
		w.Write([]byte(`["card"]`))
	}))
	defer peer.Close()
	_, err := newAgent(t, Config{Name: "proto", URL: peer.URL + "/a2a"}).Probe(t.Context())
	if kindOf(err) != delegate.KindProtocol || !strings.Contains(err.Error(), "its agent card cannot be read") {
		t.Errorf("Probe = %v", err)
	}
}
