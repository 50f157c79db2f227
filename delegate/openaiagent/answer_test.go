package openaiagent

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/completion"
)

func TestFailuresOfTheAnswer(t *testing.T) {
	tests := []struct {
		name        string
		status      int
		contentType string
		body        string
		kind        delegate.Kind
		cause       string // a part of it
	}{
		{"401", 401, "", `{"error":{"message":"bad key ` + testKey + `"}}`, delegate.KindRefused, "HTTP 401 Unauthorized: bad key [redacted]"},
		{"404", 404, "", `{"error":"model 'demo' not found"}`, delegate.KindRefused, "model 'demo' not found"},
		{"429", 429, "", `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, delegate.KindRefused, "HTTP 429 Too Many Requests: slow down"},
		{"400 twice", 400, "", `{"error":{"message":"no such\n\x1bmodel"}}`, delegate.KindRefused, "HTTP 400 Bad Request"},
		{"detail", 403, "", `{"detail":"not for you"}`, delegate.KindRefused, "not for you"},
		{"plain text", 403, "text/plain", "go away", delegate.KindRefused, "go away"},
		{"long message", 403, "text/plain", strings.Repeat("é", 5000), delegate.KindRefused, "é…"},
		{"500", 500, "", `{"error":{"message":"boom"}}`, delegate.KindUnreachable, "HTTP 500 Internal Server Error: boom"},
		{"502 HTML", 502, "text/html", "<html><b>Bad Gateway</b></html>", delegate.KindUnreachable, "HTTP 502 Bad Gateway"},
		{"redirect in words", 300, "", "", delegate.KindRefused, "HTTP 300"},
		{"in-band error", 200, "", `{"error":{"message":"the model crashed"}}`, delegate.KindFailed, "the model crashed"},
		{"in-band error as text", 200, "", `{"error":"out of memory","choices":[]}`, delegate.KindFailed, "out of memory"},
		{"in-band error in a stream", 200, "text/event-stream", "data: " + chunk("I th") + "\n\ndata: {\"error\":{\"message\":\"overloaded " + testKey + "\"}}\n\n", delegate.KindFailed, "overloaded [redacted]"},
		{"HTML", 200, "text/html", "<html>hello</html>", delegate.KindProtocol, "HTML"},
		{"empty", 200, "", "", delegate.KindProtocol, "empty"},
		{"truncated JSON", 200, "", `{"choices":[{"message":{"content":"he`, delegate.KindProtocol, "cannot be read"},
		{"no choices", 200, "", `{"choices":[]}`, delegate.KindProtocol, "no choices"},
		{"choices of another type", 200, "", `{"choices":"many"}`, delegate.KindProtocol, "cannot be read"},
		{"content of another type", 200, "", `{"choices":[{"message":{"content":7}}]}`, delegate.KindProtocol, "neither text nor parts"},
		{"other text", 200, "text/plain", "hello there", delegate.KindProtocol, "no chat completion"},
		{"stream without events", 200, "text/event-stream", ": ping\n\n", delegate.KindProtocol, "no chat completion"},
		{"stream of nothing", 200, "text/event-stream", "data: [DONE]\n\n", delegate.KindProtocol, "no choices"},
		{"stream that stops", 200, "text/event-stream", "data: " + chunk("") + "\n\n", delegate.KindProtocol, "broke off"},
		{"error in a list", 400, "", `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]`, delegate.KindRefused, "HTTP 400 Bad Request: API key not valid"},
		{"in-band error in a list", 200, "", `[{"error":{"message":"quota"}}]`, delegate.KindFailed, "quota"},
		{"in-band error in a list of a stream", 200, "text/event-stream", "data: [{\"error\":{\"message\":\"quota\"}}]\n\n", delegate.KindFailed, "quota"},
		{"a list of something else", 200, "", `[1, 2]`, delegate.KindProtocol, "it is a list"},
		{"reasoning ate the limit", 200, "", `{"choices":[{"message":{"content":"","reasoning_content":"hm"},"finish_reason":"length"}]}`, delegate.KindFailed, "limit of 1024 tokens before it said anything, its reasoning counted; raise max_tokens"},
		{"broken event", 200, "text/event-stream", "data: {\"choices\":[{\n\ndata: [DONE]\n\n", delegate.KindProtocol, "cannot be read"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", test.contentType)
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			})
			e := failure(t, a, context.Background())
			if e.Kind != test.kind || !strings.Contains(e.Cause(), test.cause) || e.Accepted != (test.status == 200) {
				t.Errorf("kind %s, accepted %v: %s; want %s with %q", e.Kind, e.Accepted, e.Cause(), test.kind, test.cause)
			}
			if strings.ContainsAny(e.Cause(), "\n\x1b") || utf8.RuneCountInString(e.Cause()) > 600 {
				t.Errorf("the cause is not one short line: %q", e.Cause())
			}
		})
	}
}

func TestHostileFormsOfAnAnswer(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"null content", `{"choices":[{"message":{"content":null}}]}`, ""},
		{"null choice", `{"choices":[null]}`, ""},
		{"null message", `{"choices":[{"message":null}]}`, ""},
		{"function call without a call", `{"choices":[{"message":{"content":"x"},"finish_reason":"function_call"}]}`, "x"},
		{"tool calls", `{"choices":[{"message":{"content":null,"tool_calls":[null,{"function":null}]}}]}`, ""},
		{"parts", `{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}}]}`, "ab"},
		{"null error", `{"error":null,"choices":[{"message":{"content":"fine"}}]}`, "fine"},
		{"absurd usage", `{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":-1,"completion_tokens":1e300}}`, "x"},
		{"white space first", " \r\n\t" + whole("x"), "x"},
		{"no white space after data", "data:" + chunk("a") + "\ndata:" + chunk("b") + "\ndata:[DONE]\n", "ab"},
		{"finish reason instead of [DONE]", "data: " + chunk("a") + "\n\ndata: " + stop, "a"},
		{"comments and other fields", ": ping\nevent: x\nid: 1\n\ndata: " + chunk("a") + "\n\n: ping\n\ndata: hello\n\ndata: [DONE]\n\n", "a"},
		{"a byte order mark before a stream", "\uFEFFdata: " + chunk("a") + "\n\ndata: " + chunk("b") + "\n\ndata: [DONE]\n\n", "ab"},
		{"a byte order mark before a whole", "\uFEFF" + whole("x"), "x"},
		{"lone carriage returns", "data: " + chunk("a") + "\r\rdata: " + chunk("b") + "\r\rdata: [DONE]\r\r", "ab"},
		{"an event of several lines", "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n", "a"},
		{"a refusal", `{"choices":[{"message":{"content":null,"refusal":"I will not."},"finish_reason":"stop"}]}`, "I will not."},
		{"carriage returns", "data: " + chunk("a") + "\r\n\r\ndata: [DONE]\r\n\r\n", "a"},
		{"the key in the answer", whole("your key is " + testKey), "your key is [redacted]"},
		{"invalid UTF-8", "{\"choices\":[{\"message\":{\"content\":\"a\xffb\"}}]}", "a\uFFFDb"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, test.body) })
			reply, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi"})
			if err != nil || reply.Text != test.want {
				t.Errorf("Ask = %q, %v; want %q", reply.Text, err, test.want)
			}
		})
	}
}

func TestStreamIsProgress(t *testing.T) {
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sendEvents(w, `{"choices":[{"delta":{"role":"assistant","reasoning_content":"hm"}}]}`,
			chunk("one "), chunk(""), chunk("two"), stop,
			`{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":5}}`, done)
	})
	var got recorder
	reply, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi", Progress: got.note})
	if err != nil || reply.Text != "one two" || got.text(langrooms.ProgressText) != "one two" || len(got.all) != 3 {
		t.Errorf("Ask = %q, %v; progress %v", reply.Text, err, got.all)
	}
	if got.all[0] != (langrooms.Progress{Kind: langrooms.ProgressThought, Text: "hm"}) {
		t.Errorf("first progress = %+v, want the thought", got.all[0])
	}
	if reply.Usage == nil || *reply.Usage != (langrooms.Usage{InputTokens: 11, OutputTokens: 5}) {
		t.Errorf("usage = %+v", reply.Usage)
	}
}

// OpenRouter says what an answer cost; what is no number there costs the answer nothing.
func TestCostOfTheEndpoint(t *testing.T) {
	for cost, want := range map[string]float64{"0.0125": 0.0125, "0": 0, "-1": -1, `"0.5"`: -1, "{}": -1, "null": -1, "1e300": -1} {
		for _, stream := range []bool{true, false} {
			a := serve(t, func(w http.ResponseWriter, r *http.Request) {
				usage := `"usage":{"prompt_tokens":11,"completion_tokens":5,"cost":` + cost + `}`
				if !stream {
					io.WriteString(w, `{"choices":[{"message":{"content":"x"}}],`+usage+`}`)
					return
				}
				sendEvents(w, chunk("x"), stop, `{"choices":[],`+usage+`}`, done)
			})
			reply, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi"})
			got := -1.0
			if err != nil || reply.Usage == nil || reply.Usage.InputTokens != 11 {
				t.Fatalf("%s: %+v, %v", cost, reply.Usage, err)
			}
			if reply.Usage.CostUSD != nil {
				got = *reply.Usage.CostUSD
			}
			if got != want {
				t.Errorf("stream %v, %s: %v, want %v", stream, cost, got, want)
			}
		}
	}
}

// Endpoints cut between the bytes of a character, and JavaScript ones between the halves
// of a surrogate pair.
func TestPiecesCutInsideACharacter(t *testing.T) {
	raw := func(inside string) string { return `{"choices":[{"delta":{"content":"` + inside + `"}}]}` }
	tests := []struct {
		name   string
		events []string
		want   string
	}{
		{"bytes of é", []string{raw("caf\xc3"), raw("\xa9!")}, "café!"},
		{"bytes of an emoji, one at a time", []string{raw("\xf0"), raw("\x9f"), raw("\x98"), raw("\x80")}, "😀"},
		{"surrogate pair", []string{raw(`a\ud83d`), raw(`\ude00b`)}, "a😀b"},
		{"lone surrogate at the end", []string{raw(`a\ud83d`)}, "a\uFFFD"},
		{"an escaped backslash, then u", []string{raw(`a\\ud83d`), raw("b")}, `a\ud83db`},
		{"stray byte", []string{raw("a\xc3"), raw("b")}, "a\uFFFDb"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := serve(t, func(w http.ResponseWriter, r *http.Request) {
				sendEvents(w, append(test.events, stop, done)...)
			})
			var got recorder
			reply, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi", Progress: got.note})
			if err != nil || reply.Text != test.want || got.text(langrooms.ProgressText) != test.want {
				t.Errorf("Ask = %q, %v, progress %q; want %q", reply.Text, err, got.text(langrooms.ProgressText), test.want)
			}
		})
	}
}

// The keys that local servers want are words of honest sentences.
func TestADummyKeyIsNoSecret(t *testing.T) {
	const words = `run "ollama pull llama3", then go test ./..., the latest`
	for _, key := range []string{"ollama", "test", "sk-no-key-required"} {
		a := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, whole(words))
		}, func(c *Config) { c.APIKey = func() (string, error) { return key, nil } })
		reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi"})
		if err != nil || reply.Text != words {
			t.Errorf("with the key %s: %q, %v", key, reply.Text, err)
		}
	}
}

func TestTheKeyInPiecesIsNotShown(t *testing.T) {
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sendEvents(w, chunk("it is "+testKey[:5]), chunk(testKey[5:9]), chunk(testKey[9:]+". sk-pl"), chunk("ain"), stop, done)
	})
	const want = "it is [redacted]. sk-plain"
	var got recorder
	reply, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi", Progress: got.note})
	if err != nil || reply.Text != want || got.text(langrooms.ProgressText) != want {
		t.Errorf("Ask = %q, %v; progress %v", reply.Text, err, got.all)
	}
	for _, p := range got.all {
		if strings.Contains(p.Text, "planted") {
			t.Errorf("progress shows a part of the key: %q", p.Text)
		}
	}
}

func TestIncompleteAnswers(t *testing.T) {
	for reason, want := range map[string]string{"length": "limit of 1024 tokens", "content_filter": "content filter", "stop": ""} {
		a := serve(t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"choices":[{"message":{"content":"half"},"finish_reason":"`+reason+`"}]}`)
		})
		reply, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi"})
		if err != nil || reply.Text != "half" || !strings.Contains(reply.Incomplete, want) || (want == "") != (reply.Incomplete == "") {
			t.Errorf("%s: %+v, %v", reason, reply, err)
		}
	}
}

func TestLargeAnswers(t *testing.T) {
	const tenMB = 10 << 20
	piece := strings.Repeat("0123456789 abcde", 64<<10/16)
	// write sends a piece as the inside of a JSON string until it is n bytes long.
	write := func(w io.Writer, before string, n int, after string) {
		io.WriteString(w, before)
		for range n / len(piece) {
			io.WriteString(w, piece)
		}
		io.WriteString(w, after)
	}
	const (
		wholeBefore, wholeAfter = `{"choices":[{"message":{"content":"`, `"}}]}`
		chunkBefore, chunkAfter = `data: {"choices":[{"delta":{"content":"`, "\"}}]}\n\n"
	)
	tests := []struct {
		name   string
		answer func(w http.ResponseWriter)
		want   error
	}{
		{"10 MB whole", func(w http.ResponseWriter) { write(w, wholeBefore, tenMB, wholeAfter) }, nil},
		{"10 MB in one event", func(w http.ResponseWriter) {
			write(w, chunkBefore, tenMB, chunkAfter)
			sendEvents(w, stop, done)
		}, nil},
		{"10 MB in many events", func(w http.ResponseWriter) {
			for range tenMB / len(piece) {
				write(w, chunkBefore, len(piece), chunkAfter)
			}
			sendEvents(w, stop, done)
		}, nil},
		{"too long whole", func(w http.ResponseWriter) { write(w, wholeBefore, maxReply+len(piece), wholeAfter) }, completion.ErrTooLong},
		{"too long stream", func(w http.ResponseWriter) {
			for range maxReply/len(piece) + 1 {
				write(w, chunkBefore, len(piece), chunkAfter)
			}
		}, completion.ErrTooLong},
		{"endless whole", func(w http.ResponseWriter) { write(w, wholeBefore, 2*completion.MaxBody, "") }, completion.ErrTooLong},
		{"endless event", func(w http.ResponseWriter) { write(w, chunkBefore, 2*completion.MaxBody, "") }, completion.ErrTooLong},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := serve(t, func(w http.ResponseWriter, r *http.Request) { test.answer(w) })
			reply, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi"})
			switch {
			case test.want == nil && (err != nil || len(reply.Text) != tenMB || !strings.HasSuffix(reply.Text, piece)):
				t.Errorf("%d bytes, %v", len(reply.Text), err)
			case test.want != nil && !errors.Is(err, test.want):
				t.Errorf("err = %v, want %v", err, test.want)
			}
		})
	}
}

func TestDialects(t *testing.T) {
	tests := []struct {
		name    string
		accepts func(body map[string]any) (message string)
		asks    int // requests for two asks
	}{
		{"streams", func(map[string]any) string { return "" }, 2},
		{"refuses stream", func(body map[string]any) string {
			if body["stream"] != nil {
				return `{"error":{"message":"stream is not supported"}}`
			}
			return ""
		}, 3},
		{"wants max_completion_tokens", func(body map[string]any) string {
			if body["max_tokens"] != nil {
				return `{"error":{"message":"use the other","param":"max_tokens","code":"unsupported_parameter"}}`
			}
			return ""
		}, 3},
		{"both", func(body map[string]any) string {
			if body["max_tokens"] != nil {
				return `{"error":{"message":"use the other","param":"max_tokens"}}`
			}
			if body["stream"] != nil {
				return `bad request`
			}
			return ""
		}, 4},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			requests := 0
			a := serve(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				if message := test.accepts(asked(t, r)); message != "" {
					w.WriteHeader(http.StatusBadRequest)
					io.WriteString(w, message)
					return
				}
				io.WriteString(w, whole("ok")) // also to a request for a stream
			})
			for range 2 {
				if reply, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi"}); err != nil || reply.Text != "ok" {
					t.Fatalf("Ask = %q, %v", reply.Text, err)
				}
			}
			if requests != test.asks {
				t.Errorf("%d requests for two asks, want %d: the dialect is remembered", requests, test.asks)
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("another host was asked, authorization %q", r.Header.Get("Authorization"))
	}))
	defer other.Close()
	tests := []struct {
		name, to string
		status   int
		ok       bool
	}{
		{"307 to another host", other.URL + "/v1/chat/completions", 307, false},
		{"302 to another host", other.URL + "/v1/chat/completions", 302, false},
		{"308 within the host", "/moved", 308, true},
		{"302 within the host turns POST into GET", "/moved", 302, false},
		{"a circle", "/v1/chat/completions", 307, false},
		{"nowhere", "", 307, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/moved" {
					if r.Header.Get("Authorization") != "Bearer "+testKey || asked(t, r)["model"] != "demo" {
						t.Errorf("%s: the request did not survive", r.Method)
					}
					io.WriteString(w, whole("ok"))
					return
				}
				w.Header().Set("Location", test.to)
				w.WriteHeader(test.status)
			})
			if test.ok {
				if reply, err := a.Ask(context.Background(), delegate.Request{Prompt: "hi"}); err != nil || reply.Text != "ok" {
					t.Errorf("Ask = %q, %v", reply.Text, err)
				}
				return
			}
			if e := failure(t, a, context.Background()); e.Kind != delegate.KindRefused || !strings.Contains(e.Cause(), "not followed") && test.to != "" {
				t.Errorf("kind %s: %v", e.Kind, e)
			}
		})
	}
}

func TestConnectionThatBreaks(t *testing.T) {
	tests := []struct {
		name  string
		write string
		kind  delegate.Kind
	}{
		{"before an answer", "", delegate.KindUnreachable},
		{"in the middle of a stream", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\ndata: " + chunk("") + "\n\n", delegate.KindProtocol},
		{"in the middle of a whole", "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{\"choices\":", delegate.KindProtocol},
		{"no HTTP", "hello\r\n\r\n", delegate.KindUnreachable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked(t, r)
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				io.WriteString(conn, test.write)
				conn.Close()
			})
			e := failure(t, a, context.Background())
			if e.Kind != test.kind || e.Cause() == "" {
				t.Errorf("kind %s: %v, want %s", e.Kind, e, test.kind)
			}
		})
	}
}
