package roomsapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/internal/storetest"
	"github.com/langrooms/langrooms/roomsapi"
	"github.com/langrooms/langrooms/sharedsession"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// voice answers always the same.
type voice struct{ name, text string }

func (v voice) Info() delegate.Info { return delegate.Info{Name: v.name, Type: "script"} }
func (v voice) Ask(context.Context, delegate.Request) (delegate.Reply, error) {
	return delegate.Reply{Text: v.text}, nil
}
func (v voice) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }
func (v voice) Close() error                                   { return nil }

// site is a served store.
type site struct {
	t       testing.TB
	url     string
	store   *storetest.Recorder
	enabled atomic.Bool
}

// serve serves rooms with the agents proto, which hands over to reviewer, and reviewer. The
// header X-Who says who asks: KIND:NAME, with a ! behind it for an admin.
func serve(t testing.TB) *site { return serveRooms(t, false) }

// serveRooms is serve; idle rooms run no turns, and nothing beside what they are asked.
func serveRooms(t testing.TB, idle bool) *site {
	t.Helper()
	s := &site{t: t, store: storetest.NewRecorder()}
	s.enabled.Store(true)
	roster, err := delegate.NewRegistry(voice{"proto", "it builds, @reviewer"}, voice{"reviewer", "fine"})
	if err != nil {
		t.Fatal(err)
	}
	rooms, err := sharedsession.New(sharedsession.Config{Saver: s.store, Idle: idle, Enabled: s.enabled.Load,
		Room: func() (exchange.Room, func()) { return exchange.Room{Roster: roster}, func() {} }})
	if err != nil {
		t.Fatal(err)
	}
	api, err := roomsapi.New(roomsapi.Config{Rooms: rooms, Failed: func(err error) { t.Error(err) }, Who: func(r *http.Request) sharedsession.Caller {
		who, admin := strings.CutSuffix(r.Header.Get("X-Who"), "!")
		kind, name, _ := strings.Cut(who, ":")
		return sharedsession.Caller{Party: sharedsession.Party{Kind: sharedsession.Kind(kind), Name: name}, Admin: admin}
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api)
	s.url = server.URL
	t.Cleanup(func() {
		rooms.Close()
		server.Close()
		http.DefaultClient.CloseIdleConnections()
		s.store.Close()
	})
	return s
}

// call is one request; what it returns is decoded JSON.
func (s *site) call(who, method, path, body string, headers ...string) (int, map[string]any) {
	s.t.Helper()
	status, text := s.raw(who, method, path, body, headers...)
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		s.t.Fatalf("%s %s: %d %q", method, path, status, text)
	}
	return status, v
}

func (s *site) raw(who, method, path, body string, headers ...string) (int, string) {
	s.t.Helper()
	status, text, _ := s.answer(who, method, path, body, headers...)
	return status, text
}

func (s *site) answer(who, method, path, body string, headers ...string) (int, string, http.Header) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-Who", who)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(data), resp.Header
}

func (s *site) room(who, body string) string {
	s.t.Helper()
	status, v := s.call(who, "POST", "/api/rooms", body)
	if status != 200 {
		s.t.Fatalf("%d %v", status, v)
	}
	return v["id"].(string)
}

// code is the code of a refusal.
func code(v map[string]any) string {
	d, _ := v["detail"].(map[string]any)
	c, _ := d["code"].(string)
	return c
}
