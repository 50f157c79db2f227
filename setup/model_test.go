package setup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/nodes/leadnode"
)

// endpoint is an OpenAI-compatible endpoint that answers by the handler.
type endpoint struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
}

type request struct {
	auth string
	body map[string]any
}

func newEndpoint(t *testing.T, answer http.HandlerFunc) *endpoint {
	e := &endpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		var body map[string]any
		if err == nil {
			err = json.Unmarshal(data, &body)
		}
		if err != nil {
			t.Errorf("the request cannot be read: %v", err)
		}
		e.mu.Lock()
		e.requests = append(e.requests, request{r.Header.Get("Authorization"), body})
		e.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

// words answers with a text.
func words(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		content, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":%s}}]}`, content)
	}
}

// config is a configuration whose lead is at this endpoint.
func (e *endpoint) config(more string) string {
	return "checkpointer: { url: \"memory:\" }\nmodel: { provider: openai, url: \"" + e.URL + "/v1/\", model: m" + more + " }\n"
}

func say(t *testing.T, a *app) (string, error) {
	t.Helper()
	model, err := a.Model()
	if err != nil {
		return "", err
	}
	return llms.GenerateFromSinglePrompt(t.Context(), model, "hello")
}

func TestModelOptions(t *testing.T) {
	t.Setenv("LEAD_KEY", "sk-first")
	e := newEndpoint(t, words("hi"))
	a, _ := openFile(t, e.config(", api_key_env: LEAD_KEY, temperature: 0, max_tokens: 77"))
	got, err := say(t, a)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "answer", "hi", got)
	r := e.requests[0]
	expect(t, "key", "Bearer sk-first", r.auth)
	expect(t, "model", any("m"), r.body["model"])
	tokens := r.body["max_tokens"]
	if tokens == nil {
		tokens = r.body["max_completion_tokens"]
	}
	expect(t, "tokens", any(77.0), tokens)
	expect(t, "temperature", any(0.0), r.body["temperature"])
}

// The model is made anew when its section or its key changes, and otherwise kept.
func TestModelFollowsItsSection(t *testing.T) {
	t.Setenv("LEAD_KEY", "sk-first")
	e := newEndpoint(t, words("hi"))
	a, f := openFile(t, e.config(", api_key_env: LEAD_KEY, temperature: 0.5"))
	model := func() llms.Model {
		t.Helper()
		m, err := a.Model()
		if err != nil {
			t.Fatal(err)
		}
		return m.(interface{ Unwrap() llms.Model }).Unwrap() // the cast around it is each turn's
	}
	first := model()
	f.write(e.config(", api_key_env: LEAD_KEY, temperature: 0.5") + "identity: { name: otto }\n")
	eventually(t, func() error {
		if a.Lead() != "otto" {
			return errors.New("the change has not come")
		}
		return nil
	})
	expect(t, "kept", true, model() == first)
	f.write(e.config(", api_key_env: LEAD_KEY, temperature: 0.6"))
	eventually(t, func() error {
		if model() == first {
			return errors.New("the model is still the first")
		}
		return nil
	})
	second := model()
	t.Setenv("LEAD_KEY", "sk-rotated")
	expect(t, "kept after the key was rotated", false, model() == second)
	if _, err := say(t, a); err != nil {
		t.Fatal(err)
	}
	expect(t, "key", "Bearer sk-rotated", e.requests[0].auth)
	t.Setenv("LEAD_KEY", "")
	_, err := a.Model()
	says(t, err, "model: ", "LEAD_KEY")
}

// Whatever an endpoint says, the key is in no error, and the error is one line of bounded
// length.
func TestModelErrors(t *testing.T) {
	const key = `sk-pl"anted/\key+1`
	quoted, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	jsonKey := string(quoted[1 : len(quoted)-1])
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			io.WriteString(w, body) // a client that left is seen by the test
		}
	}
	elsewhere := newEndpoint(t, words("somebody else's"))
	for name, answer := range map[string]http.HandlerFunc{
		"echoed in JSON":      status(401, `{"error":{"message":"Incorrect API key provided: `+jsonKey+`"}}`),
		"echoed twice":        status(400, `{"error":{"message":"`+jsonKey+` is not `+jsonKey+`"}}`),
		"echoed quoted":       status(401, `{"error":{"message":"said `+strings.ReplaceAll(strings.ReplaceAll(jsonKey, `\`, `\\`), `"`, `\"`)+`"}}`),
		"echoed for a URL":    status(401, `{"error":{"message":"see /?key=`+url.QueryEscape(key)+`"}}`),
		"a page":              status(502, "<html>"+key+"</html>"),
		"long and many-lined": status(500, `{"error":{"message":"`+strings.Repeat(`line\n\u001b[2J`, 10_000)+`"}}`),
		"no JSON":             status(200, "hello"),
		"no choice":           status(200, `{"choices":[]}`),
		"cut off":             status(200, `{"choices":[{"mess`),
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"an endless answer": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"choices":[{"message":{"content":"`)
			for chunk := strings.Repeat("x", 1<<20); r.Context().Err() == nil; {
				if _, err := io.WriteString(w, chunk); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("LEAD_KEY", key)
			e := newEndpoint(t, answer)
			a, _ := openFile(t, e.config(", api_key_env: LEAD_KEY"))
			got, err := say(t, a)
			if err == nil {
				t.Fatalf("no error, but %q", got)
			}
			says(t, err, "!"+key, "!"+jsonKey, "!"+url.QueryEscape(key), "!\n", "!\x1b")
			if n := len(err.Error()); n > 10_000 {
				t.Errorf("the error is %d bytes long", n)
			}
		})
	}
	expect(t, "sent elsewhere", 0, len(elsewhere.requests))
}

// An error of the lead's endpoint keeps its identity: a stop is a stop.
func TestModelStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := newEndpoint(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	a, _ := openFile(t, e.config(""))
	model, err := a.Model()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := llms.GenerateFromSinglePrompt(ctx, model, "hello"); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	expect(t, "without a key", "Bearer none", e.requests[0].auth)
}

// The lead is told who is in the room, under its configured name.
func TestModelKnowsTheCast(t *testing.T) {
	e := newEndpoint(t, words("hi"))
	a, _ := openFile(t, e.config("")+"identity: { name: vera }\n")
	saver := memorysaver.New()
	defer saver.Close()
	node, err := leadnode.New(leadnode.Config{Saver: saver, Model: a.Model})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := node.Run(t.Context(), leadnode.Input{Thread: "t", Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	expect(t, "requests", 1, len(e.requests))
}

func TestSummarize(t *testing.T) {
	messages := []langrooms.Message{langrooms.NewMessage(langrooms.RoleHuman, "we ship on Friday")}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   string
		err    string
	}{
		"words":   {words(" They ship on Friday.\n"), "They ship on Friday.", ""},
		"nothing": {words(" \n"), "", "wrote nothing"},
		"failure": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "", "the lead's model"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, tt.answer)
			a, _ := openFile(t, e.config(""))
			got, err := a.Summarize(t.Context(), messages)
			if tt.err != "" {
				says(t, err, tt.err)
			} else if err != nil {
				t.Error(err)
			}
			expect(t, "summary", tt.want, got)
			data, err := json.Marshal(e.requests[0].body)
			if err != nil {
				t.Fatal(err)
			}
			says(t, string(data), "we ship on Friday", "Summarize this conversation")
		})
	}
}
