package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/consent"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/httpapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// voice answers nothing; one called sick does not either when it is probed.
type voice struct{ name string }

func (v voice) Info() delegate.Info {
	return delegate.Info{Name: v.name, Type: "script", Description: "a " + v.name}
}
func (v voice) Ask(context.Context, delegate.Request) (delegate.Reply, error) {
	return delegate.Reply{}, nil
}
func (v voice) Probe(context.Context) (delegate.Health, error) {
	if v.name == "sick" {
		return delegate.Health{}, &delegate.Error{Kind: delegate.KindUnreachable, Err: errors.New("nobody listens")}
	}
	return delegate.Health{Protocol: "script 1"}, nil
}
func (v voice) Close() error { return nil }

// site is a served roster and file.
type site struct {
	t    testing.TB
	api  *httpapi.Server
	path string
	who  httpapi.Caller
	desk *consent.Desk
}

// serveWith is serve without a file, with something else in its configuration.
func serveWith(t testing.TB, more func(*httpapi.Config)) *site { return serveAll(t, "", more) }

func serve(t testing.TB, config string, voices ...string) *site {
	t.Helper()
	return serveAll(t, config, func(*httpapi.Config) {}, voices...)
}

func serveAll(t testing.TB, config string, more func(*httpapi.Config), voices ...string) *site {
	t.Helper()
	var list []delegate.Delegate
	for _, v := range voices {
		list = append(list, voice{v})
	}
	roster, err := delegate.NewRegistry(list...)
	if err != nil {
		t.Fatal(err)
	}
	live := delegate.NewLive(roster)
	t.Cleanup(func() { live.Close() })
	s := &site{t: t, who: httpapi.Caller{Admin: true}, desk: &consent.Desk{}}
	c := httpapi.Config{Roster: live, Questions: s.desk, InForce: hotreload.Default, Who: func(*http.Request) httpapi.Caller { return s.who }}
	if config != "" {
		s.path = filepath.Join(t.TempDir(), "langgraph-config.yaml")
		s.write(config)
		if c.File, err = hotreload.Open(t.Context(), hotreload.Options{Path: s.path}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.File.Close() })
	}
	more(&c)
	if s.api, err = httpapi.New(c); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) write(config string) {
	s.t.Helper()
	if err := os.WriteFile(s.path, []byte(config), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) call(method, path, body string) (int, map[string]any) {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	var v map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		s.t.Fatalf("%s %s: %d %q", method, path, w.Code, w.Body)
	}
	return w.Code, v
}

func code(v map[string]any) string {
	d, _ := v["detail"].(map[string]any)
	c, _ := d["code"].(string)
	return c
}

// A text is read as the room reads it, and its last token completed by beginning, by a word's
// beginning, and by what stands in it.
func TestMentions(t *testing.T) {
	s := serve(t, "", "proto", "data.scout", "reviewer", "rev")
	for _, tt := range []struct{ at, q, kind, to, offers string }{
		{"start", "", "lead", "", ""},
		{"start", "hello", "lead", "", ""},
		{"start", "@", "lead", "", "proto data.scout reviewer rev"},
		{"start", "@pro", "unknown", "", "proto"},
		{"start", "@SCO", "unknown", "", "data.scout"},
		{"start", "@ev", "unknown", "", "reviewer rev"},
		{"start", "@proto", "empty", "proto", "proto"},
		{"start", "@proto @r", "addressed", "proto", "reviewer rev proto"},
		{"start", "@proto hi @r", "addressed", "proto", ""},
		{"start", "me@pro", "lead", "", ""},
		{"anywhere", "well, @proto and @r", "addressed", "proto", "reviewer rev proto"},
		{"anywhere", "a`@proto`", "lead", "", ""},
	} {
		status, v := s.call("GET", "/api/mentions?at="+tt.at+"&q="+url.QueryEscape(tt.q), "")
		var to, offers []string
		for _, x := range v["to"].([]any) {
			to = append(to, x.(string))
		}
		for _, x := range v["offers"].([]any) {
			offers = append(offers, x.(map[string]any)["name"].(string))
		}
		wanted := strings.Fields(tt.offers)
		if tt.q == "@proto @r" { // an addressee is not offered twice
			wanted = []string{"reviewer", "rev"}
		}
		if status != 200 || v["kind"] != tt.kind || strings.Join(to, " ") != tt.to || !slices.Equal(offers, wanted) {
			t.Errorf("%s %q: %d %v", tt.at, tt.q, status, v)
		}
	}
	if status, v := s.call("GET", "/api/mentions?at=end", ""); status != 422 || code(v) != "invalid_query" {
		t.Errorf("an unknown place: %d %v", status, v)
	}
	s.who = httpapi.Caller{Agents: []string{"rev"}}
	if _, v := s.call("GET", "/api/mentions?q=@", ""); len(v["offers"].([]any)) != 1 {
		t.Errorf("offers of whom one does not reach: %v", v)
	}
}

// Everybody sees whom it reaches; only an admin probes.
func TestDelegates(t *testing.T) {
	s := serve(t, "", "proto", "sick")
	_, v := s.call("GET", "/api/delegates", "")
	if n := len(v["delegates"].([]any)); n != 2 {
		t.Errorf("%d delegates: %v", n, v)
	}
	if status, v := s.call("POST", "/api/delegates/proto/probe", ""); status != 200 || v["ok"] != true || v["protocol"] != "script 1" {
		t.Errorf("a probe: %d %v", status, v)
	}
	if status, v := s.call("POST", "/api/delegates/sick/probe", ""); status != 200 || v["ok"] != false || v["kind"] != "unreachable" {
		t.Errorf("a probe of one that is not there: %d %v", status, v)
	}
	if status, v := s.call("POST", "/api/delegates/nobody/probe", ""); status != 404 || code(v) != "delegate_not_found" {
		t.Errorf("a probe of nobody: %d %v", status, v)
	}
	s.who = httpapi.Caller{}
	for _, call := range [][2]string{{"POST", "/api/delegates/proto/probe"}, {"GET", "/api/settings"}, {"PUT", "/api/settings"}} {
		if status, v := s.call(call[0], call[1], ""); status != 403 || code(v) != "forbidden" {
			t.Errorf("%s %s of one who is no admin: %d %v", call[0], call[1], status, v)
		}
	}
}

// Several settings are saved at once, and nothing of a refused save is.
func TestSettings(t *testing.T) {
	const config = "# ours\nmodel: { provider: demo }\nroom:\n  max_rounds: 3 # enough\n"
	s := serve(t, config, "proto")
	_, v := s.call("GET", "/api/settings", "")
	version := v["version"].(string)
	inForce := v["in_force"].(map[string]any)
	if inForce["room.max_rounds"] != 3.0 || inForce["room.catchup_max_chars"] != 8000.0 {
		t.Errorf("in force: %v", inForce)
	}
	put := func(version, values string) (int, map[string]any) {
		return s.call("PUT", "/api/settings", `{"version":"`+version+`","values":`+values+`}`)
	}
	for values, want := range map[string]string{
		`{"room.max_rounds":11}`:                                "above_ceiling",
		`{"room.catchup_max_messages":9,"room.max_rounds":"x"}`: "invalid_value",
		`{"room.none":1}`:                                       "invalid_value",
		`{"model.api_key":"sk-1"}`:                              "invalid_value",
		`{"room.max_rounds":[1]}`:                               "invalid_value",
		`{}`:                                                    "invalid_request",
	} {
		if status, v := put(version, values); status != 422 || code(v) != want {
			t.Errorf("%s: %d %v, want %s", values, status, v, want)
		}
	}
	if data, err := os.ReadFile(s.path); err != nil || string(data) != config {
		t.Fatalf("a refused save has changed the file: %q %v", data, err)
	}
	status, v := put(version, `{"room.catchup_max_messages":60,"room.max_rounds":5}`)
	if status != 200 || v["in_force"].(map[string]any)["room.max_rounds"] != 5.0 || v["version"] == version {
		t.Errorf("a save: %d %v", status, v)
	}
	data, err := os.ReadFile(s.path)
	if err != nil || !strings.Contains(string(data), "max_rounds: 5 # enough") || !strings.Contains(string(data), "catchup_max_messages: 60") {
		t.Errorf("the file is %q %v", data, err)
	}
	if status, v := put(version, `{"room.max_rounds":2}`); status != 409 || code(v) != "changed" {
		t.Errorf("a save over a newer file: %d %v", status, v)
	}
	s.write("room: { max_rounds: 99 }\n")
	if status, _ := put(version, `{"room.max_rounds":2}`); status != 409 {
		t.Errorf("a save over a hand edit: %d", status)
	}
	_, v = s.call("GET", "/api/settings", "")
	faults := v["faults"].([]any)
	if len(faults) != 1 || faults[0].(map[string]any)["line"] != 1.0 || v["in_force"].(map[string]any)["room.max_rounds"] != 10.0 {
		t.Errorf("a value above the ceiling: %v", v)
	}
	if written := v["written"].(map[string]any); written["room.max_rounds"] != "99" || len(written) != 1 {
		t.Errorf("as written: %v", written)
	}
	s.write("room: [\n")
	put(version, `{"room.max_rounds":2}`)
	if _, v = s.call("GET", "/api/settings", ""); len(v["faults"].([]any)) != 2 {
		t.Errorf("a file that is none: %v", v["faults"])
	}
}

// Without a file there is nothing to save into, and what is in force is shown.
func TestNoFile(t *testing.T) {
	s := serve(t, "")
	if _, v := s.call("GET", "/api/settings", ""); v["path"] != "" || v["in_force"].(map[string]any)["room.max_rounds"] != 3.0 {
		t.Errorf("without a file: %v", v)
	}
	if status, v := s.call("PUT", "/api/settings", `{"version":"x","values":{"room.max_rounds":2}}`); status != 409 || code(v) != "no_file" {
		t.Errorf("a save: %d %v", status, v)
	}
	if status, v := s.call("PUT", "/api/settings", `{`); status != 400 || code(v) != "invalid_json" {
		t.Errorf("no JSON: %d %v", status, v)
	}
}
