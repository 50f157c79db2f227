package openaiagent

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms/delegate"
)

// What is not configured is not sent, whatever the client or the model's name would add.
func TestTemperatureOnlyWhenSet(t *testing.T) {
	half := 0.5
	for _, model := range []string{"demo", "gpt-5-mini", "o3"} {
		for _, want := range []*float64{nil, &half} {
			var got map[string]any
			a := serve(t, func(w http.ResponseWriter, r *http.Request) {
				got = asked(t, r)
				io.WriteString(w, whole("ok"))
			}, func(c *Config) { c.Model, c.Temperature = model, want })
			if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil {
				t.Fatal(err)
			}
			sent, is := got["temperature"]
			if is != (want != nil) || is && sent != half {
				t.Errorf("%s: temperature %v, sent %t", model, sent, is)
			}
		}
	}
}

// A field that the endpoint refuses by name is left out from then on.
func TestRefusedFieldsAreLeftOut(t *testing.T) {
	one := 1.0
	for name, message := range map[string]string{
		"temperature":    `{"error":{"message":"Unsupported value","param":"temperature"}}`,
		"stream_options": `{"error":{"message":"Unknown field 'stream_options'"}}`,
		"seed":           "{\"detail\":\"extra field `seed` is not permitted\"}",
	} {
		requests := 0
		a := serve(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			if _, sent := asked(t, r)[name]; sent {
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, message)
				return
			}
			io.WriteString(w, whole("ok"))
		}, func(c *Config) { c.Temperature, c.Params = &one, map[string]any{"seed": 7} })
		for range 2 {
			if reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil || reply.Text != "ok" {
				t.Errorf("%s: %q, %v", name, reply.Text, err)
			}
		}
		if requests != 3 {
			t.Errorf("%s: %d requests for two asks, want 3", name, requests)
		}
	}
}

// The classic form of Azure's endpoints: a version in the query, the key in a header.
func TestConfiguredForm(t *testing.T) {
	var got map[string]any
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("api-version") != "2024-06-01" || r.Header.Get("Api-Key") != testKey ||
			r.Header.Get("Authorization") != "" || r.Header.Get("X-Team") != "blue" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"data":[{"id":"gpt-4o"}]}`) // base models; deployments have names of their own
			return
		}
		got = asked(t, r)
		io.WriteString(w, whole("ok"))
	}, func(c *Config) {
		c.APIVersion, c.KeyHeader, c.Whole = "2024-06-01", "api-key", true
		c.Params = map[string]any{"top_p": 0.9, "reasoning": map[string]any{"effort": "low"}, "max_tokens": 7}
		c.HTTP.Headers = map[string]func() (string, error){"X-Team": func() (string, error) { return "blue", nil }}
	})
	if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil {
		t.Fatal(err)
	}
	effort, _ := got["reasoning"].(map[string]any)
	if got["top_p"] != 0.9 || effort["effort"] != "low" || got["max_tokens"] != 7.0 || got["stream"] != nil {
		t.Errorf("request = %v", got)
	}
	if _, err := a.Probe(t.Context()); err != nil {
		t.Errorf("Probe = %v", err)
	}
}

// A busy endpoint is asked once more; callers can tell it, and a refused key, from the rest.
func TestBusyAndUnauthorized(t *testing.T) {
	requests := 0
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		io.WriteString(w, whole("ok"))
	}, func(c *Config) { c.HTTP.Retries = 1 })
	if reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil || reply.Text != "ok" || requests != 2 {
		t.Errorf("%q, %v after %d requests", reply.Text, err, requests)
	}
	for status, want := range map[int]error{429: delegate.ErrBusy, 503: delegate.ErrBusy, 401: delegate.ErrCredential} {
		a := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(status)
		})
		_, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"})
		var e *delegate.Error
		if !errors.Is(err, want) || !errors.As(err, &e) || e.Status != status || want == delegate.ErrBusy && e.RetryAfter != 90*time.Second {
			t.Errorf("%d: %#v", status, e)
		}
	}
}

// Text that goes on coming is waited for as long as the total allows.
func TestSilence(t *testing.T) {
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for range 4 {
			sendEvents(w, chunk("x"))
			<-time.After(600 * time.Millisecond)
		}
		sendEvents(w, stop, done)
	}, func(c *Config) { c.Timeout = 2 * time.Second })
	if reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"}); err != nil || reply.Text != "xxxx" || reply.Incomplete != "" {
		t.Errorf("%+v, %v", reply, err)
	}
	silent := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sendEvents(w, chunk("I think"))
		<-r.Context().Done()
	}, func(c *Config) { c.Timeout = 30 * time.Millisecond })
	reply, err := silent.Ask(t.Context(), delegate.Request{Prompt: "hi"})
	if err != nil || reply.Text != "I think" || !strings.Contains(reply.Incomplete, "30ms without a sign of life (timeout_s)") {
		t.Errorf("%+v, %v", reply, err)
	}
}
