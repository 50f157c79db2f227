package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/client"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/thread"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk answers for the threads, or fails.
type desk struct{ fails error }

func (d *desk) Rewind(_ context.Context, _ httpapi.Caller, id, message string) (int, error) {
	return len(id + message), d.fails
}
func (d *desk) Uncompact(context.Context, httpapi.Caller, string) (int, error) { return 5, d.fails }
func (d *desk) Export(_ context.Context, _ httpapi.Caller, id string, f lifecycle.Format, w io.Writer) error {
	if d.fails == nil {
		fmt.Fprintf(w, "%s as %s", id, f)
	}
	return d.fails
}
func (d *desk) Import(_ context.Context, _ httpapi.Caller, _ string, r io.Reader) (int, error) {
	data, err := io.ReadAll(r)
	return len(data), errors.Join(d.fails, err)
}

// site serves the real API to a client; who asks is an admin where the key is root.
func site(t testing.TB, d *desk) *client.Client {
	t.Helper()
	roster, err := delegate.NewRegistry(voice{})
	if err != nil {
		t.Fatal(err)
	}
	live := delegate.NewLive(roster)
	t.Cleanup(func() { live.Close() })
	api, err := httpapi.New(httpapi.Config{Roster: live, InForce: hotreload.Default, Threads: d,
		Who: func(r *http.Request) httpapi.Caller {
			return httpapi.Caller{Name: "ann", Admin: r.Header.Get("X-Api-Key") == "root"}
		},
		Compact: func(_ context.Context, _ httpapi.Caller, id string, keep int, text string) (int, error) {
			return len(id) + keep + len(text), d.fails
		},
		Costs: func(context.Context, httpapi.Caller, string) (exchange.Costs, error) {
			return exchange.Costs{Members: map[string]langrooms.Spending{"proto": {Answers: 2}}}, d.fails
		},
		Files: func(context.Context, httpapi.Caller, string) ([]httpapi.File, error) {
			return []httpapi.File{{Name: "a.png"}}, d.fails
		},
		StopMember: func(_ context.Context, _ httpapi.Caller, _, member string) ([]string, error) {
			return strings.Fields(member), d.fails
		},
		Waiting: func(context.Context, httpapi.Caller, string) ([]httpapi.Waiting, error) {
			return []httpapi.Waiting{{Member: "slow", Task: "k1"}}, d.fails
		},
		Withdraw: func(_ context.Context, _ httpapi.Caller, _, member string) (bool, error) {
			return member == "slow", d.fails
		},
		Search: func(_ context.Context, _ httpapi.Caller, text string, most int) ([]httpapi.Found, error) {
			return []httpapi.Found{{Thread: text, Excerpt: fmt.Sprint(most)}}, d.fails
		}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{URL: server.URL + "/", Key: "root", HTTP: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type voice struct{ delegate.Delegate }

func (voice) Info() delegate.Info {
	return delegate.Info{Name: "proto", Type: "script", Description: "a mirror"}
}
func (voice) Probe(context.Context) (delegate.Health, error) {
	return delegate.Health{Version: "2"}, nil
}
func (voice) Close() error { return nil }

// What the server answers comes back, whatever the id of the thread looks like.
func TestAnswers(t *testing.T) {
	c, ctx := site(t, &desk{}), t.Context()
	for what, ask := range map[string]func() (any, error){
		"6":                                    func() (any, error) { return c.Rewind(ctx, "a/../", "m") },
		"5":                                    func() (any, error) { return c.Uncompact(ctx, "t") },
		"7":                                    func() (any, error) { return c.Import(ctx, "t", strings.NewReader(`{"a":1}`)) },
		"11":                                   func() (any, error) { return c.Compact(ctx, "t", 4, "so ḟ") },
		"2 answers, 0 tokens in, 0 out, $0.00": func() (any, error) { costs, err := c.Costs(ctx, "t"); return costs.Members["proto"], err },
		"[{proto script a mirror}]":            func() (any, error) { return c.Delegates(ctx) },
		"{true   0s 2 }":                       func() (any, error) { return c.Probe(ctx, "proto") },
		"[proto]":                              func() (any, error) { return c.StopMember(ctx, "t", "proto") },
		"slow k1": func() (any, error) {
			w, err := c.Waiting(ctx, "t")
			return w[0].Member + " " + w[0].Task, errors.Join(err, c.Withdraw(ctx, "t", "slow"))
		},
		"a.png": func() (any, error) { f, err := c.Files(ctx, "t"); return f[0].Name, err },
		"x & y 1 true": func() (any, error) {
			found, more, err := c.Search(ctx, "x & y", 1)
			return fmt.Sprint(found[0].Thread, " ", found[0].Excerpt, " ", more), err
		},
		"a?b#c as md": func() (any, error) {
			var b bytes.Buffer
			return &b, c.Export(ctx, "a?b#c", lifecycle.Markdown, &b)
		},
	} {
		if got, err := ask(); err != nil || fmt.Sprint(got) != what {
			t.Errorf("%v, %v, want %s", got, err, what)
		}
	}
}

// A refusal is the error that it was on the server.
func TestRefusals(t *testing.T) {
	d := &desk{}
	c, ctx := site(t, d), t.Context()
	for _, want := range []error{thread.ErrNone, thread.ErrNotKept, thread.ErrBusy, lifecycle.ErrNoMessage, lifecycle.ErrImport,
		langrooms.ErrThreadID, checkpointer.ErrConflict, checkpointer.ErrUnavailable} {
		d.fails = fmt.Errorf("somewhere: %w", want)
		_, rewind := c.Rewind(ctx, "t", "m")
		_, imports := c.Import(ctx, "t", strings.NewReader("{}"))
		_, costs := c.Costs(ctx, "t")
		for _, err := range []error{rewind, imports, costs, c.Export(ctx, "t", lifecycle.JSON, io.Discard)} {
			var refused *client.Error
			if !errors.Is(err, want) || !errors.As(err, &refused) || refused.Status < 400 || refused.Code == "" || err.Error() == "" {
				t.Errorf("%v came back as %#v", want, err)
			}
		}
	}
	d.fails = errors.New("planted")
	if _, err := c.Uncompact(ctx, "t"); err == nil || errors.Unwrap(err) != nil || strings.Contains(err.Error(), "planted") {
		t.Errorf("the server's own failure: %v", err)
	}
	d.fails = nil
	if _, err := c.Probe(ctx, "nobody"); !errors.Is(err, hotreload.ErrUnknownDelegate) {
		t.Errorf("no delegate: %v", err)
	}
	var refused *client.Error
	if err := c.Withdraw(ctx, "t", "other"); !errors.As(err, &refused) || refused.Code != "not_waited" {
		t.Errorf("nothing to withdraw: %v", err)
	}
	if _, err := c.StopMember(ctx, "t", ""); !errors.As(err, &refused) || refused.Code != "not_asked" {
		t.Errorf("nobody is asked: %v", err)
	}
}

// What a stranger answers is bounded, on one line, and gets no key at another address.
func TestStrangers(t *testing.T) {
	var keys []string
	var answer http.HandlerFunc
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("X-Api-Key"))
		answer(w, r)
	}))
	defer server.Close()
	c, err := client.New(client.Config{URL: server.URL, Key: "root"})
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for name, of := range map[string]http.HandlerFunc{
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, server.URL+"/elsewhere", http.StatusFound)
		},
		"no JSON": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"long words": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, `{"detail":{"code":"a\nb","message":"one\ntwo %s"}}`, strings.Repeat("x", 1<<15))
		},
		"an endless refusal": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
		},
	} {
		answer, keys = of, nil
		_, err := c.Costs(t.Context(), "t")
		if err == nil || len(err.Error()) > 2<<10 || strings.Contains(err.Error(), "\n") || len(keys) != 1 {
			t.Errorf("%s: %v after %d requests", name, err, len(keys))
		}
	}
}

func TestNew(t *testing.T) {
	for _, bad := range []client.Config{{}, {URL: "langrooms"}, {URL: "ftp://h"}, {URL: "http://ann:pw@h"}, {URL: "http://h?x=1"}, {URL: "http://h", Key: "a\r\nb"}} {
		if _, err := client.New(bad); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
