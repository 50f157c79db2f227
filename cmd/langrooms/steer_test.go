package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// halting returns an endpoint that streams a few words and then nothing more, and tells when it has.
func halting(t *testing.T, words string) (url string, begun <-chan struct{}) {
	wrote := make(chan struct{}, 8)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", words)
		w.(http.Flusher).Flush()
		wrote <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	return s.URL, wrote
}

// One member of a running turn is stopped over HTTP, at the server that runs it or at another one
// over the same store: its words stay, marked incomplete, and the others are asked.
func TestStopOneMember(t *testing.T) {
	t.Parallel()
	slow, begun := halting(t, "I think that")
	entry := fmt.Sprintf("  - { name: slow, type: openai, url: %q, model: m, stream: true }\n", slow)
	f := folder(t, says(t, "hi"), "room: { max_rounds: 1 }\n"+roster(entry, openaiEntry("proto", says(t, "the cache"))))
	here, there := serve(t, f), serve(t, f)
	for i, at := range []*served{here, there} {
		id := fmt.Sprintf("t%d", i)
		here.ask(t, "POST", "/threads", fmt.Sprintf(`{"thread_id":%q}`, id))
		resp, err := http.Post(here.url+"/threads/"+id+"/runs/stream", "application/json", strings.NewReader(
			`{"assistant_id":"agent","stream_mode":["messages-tuple","values"],"input":{"messages":"@slow @proto what broke?"}}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		<-begun
		readTo(t, resp.Body, "I think that")
		if code, body := here.ask(t, "POST", "/api/threads/"+id+"/stop", `{"member":"nobody"}`); code != 409 {
			t.Errorf("nobody: %d %s", code, body)
		}
		code, body := at.ask(t, "POST", "/api/threads/"+id+"/stop", `{"member":"slow"}`)
		expect(t, "the stop: "+body, 200, code)
		state := readTo(t, resp.Body, "the cache")
		expectContains(t, "the words", "I think that\\n\\n(The answer is incomplete: stopped by the operator)", state)
		expectContains(t, "the mark", `"incomplete":true`, state)
		if rest, err := io.ReadAll(resp.Body); err != nil {
			t.Errorf("%v after %s", err, rest)
		}
		expectContains(t, "in the terminal", "slow (incomplete)", f.Run("thread", "show", "-t", id).Out)
		code, body = at.ask(t, "POST", "/api/threads/"+id+"/stop", `{"member":"slow"}`)
		expect(t, "afterwards: "+body, 409, code)
	}
	code, _ := here.ask(t, "POST", "/api/threads/none/stop", `{"member":"slow"}`)
	expect(t, "no such thread", 404, code)
	here.end(t)
	there.end(t)
}

// readTo reads until what is wanted has come, or the end, and returns all of it.
func readTo(t testing.TB, r io.Reader, what string) string {
	t.Helper()
	var got strings.Builder
	buffer := make([]byte, 4096)
	for {
		n, err := r.Read(buffer)
		got.Write(buffer[:n])
		switch {
		case strings.Contains(got.String(), what):
			return got.String()
		case err != nil:
			t.Fatalf("the stream ended without %q: %v\n%s", what, err, got.String())
		}
	}
}
