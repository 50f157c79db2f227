package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/langrooms/langrooms/internal/clitest"
)

// served is a server of the program's.
type served struct {
	*clitest.Process
	url string
}

var servesOn = regexp.MustCompile(`langrooms serves on (http://\S+)\n`)

// serve starts a server in a folder, on a free port.
func serve(t testing.TB, f *clitest.Folder) *served {
	t.Helper()
	p := f.Start("serve", "--addr", "127.0.0.1:0")
	out := p.Out("\n")
	return &served{p, servesOn.FindStringSubmatch(out)[1]}
}

// ask sends a request and returns its status and body.
func (s *served) ask(t testing.TB, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	asDescribed(t, req, resp.StatusCode, resp.Header.Get("Content-Type"), data)
	return resp.StatusCode, string(data)
}

// end stops the server as a service manager does.
func (s *served) end(t testing.TB) {
	t.Helper()
	began := time.Now()
	s.Signal(syscall.SIGTERM)
	r := s.WaitFor(12 * time.Second)
	expect(t, "the server's status, "+r.Diag, 0, r.Status)
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("the end took %v", d)
	}
}

// langgraphPeer is the program that drives the server by LangGraph's own client.
const langgraphPeer = "../../internal/peers/langgraph"

// TestLangGraphClient has LangGraph's SDK tell its stories against a server with the demo's
// roster; each story is a check of its own in client.mjs.
func TestLangGraphClient(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(langgraphPeer, "node_modules")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the SDK is not installed: npm ci in internal/peers/langgraph")
		}
		t.Skip("the SDK is not installed: npm ci in internal/peers/langgraph")
	}
	f := binary.In(t)
	s := serve(t, f)
	cmd := exec.CommandContext(t.Context(), "node", "client.mjs", s.url)
	cmd.Dir = langgraphPeer
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "ok "); n != 10 {
		t.Errorf("%d stories ended well, want 10:\n%s", n, out)
	}
	s.end(t)
}

// Threads of the terminal are threads of the server, and the other way round.
func TestServedThreads(t *testing.T) {
	t.Parallel()
	f := binary.In(t)
	expect(t, "a turn in the terminal", 0, f.Run("chat", "-m", "@oracle what broke?").Status)
	s := serve(t, f)
	code, body := s.ask(t, "GET", "/threads/main/state", "")
	expect(t, "status", 200, code)
	expectContains(t, "the state", `"content":"@oracle what broke?"`, body)
	expectContains(t, "its author", `"name":"oracle"`, body)
	code, body = s.ask(t, "POST", "/threads/main/runs/wait", `{"assistant_id":"agent","input":{"messages":"@oracle and now?"}}`)
	expect(t, "a run: "+body, 200, code)
	s.end(t)
	lines := show(t, f, "main")
	expect(t, "what the terminal sees", 4, len(lines))
	expect(t, "without the names in front", "and now?", lines[2].Text("text"))
	r := f.Run("thread", "list", "--json")
	expect(t, "threads of conversations", 1, len(clitest.ParseLines(t, r.Out)))
}

// Keys say who asks, and one's threads are one's own.
func TestServedKeys(t *testing.T) {
	t.Parallel()
	f := binary.In(t)
	f.Config(`model: { provider: demo }
server:
  keys:
    - { name: ada, key: planted-ada, admin: true }
    - { name: bob, key: planted-bob }
    - { name: eve, key: planted-eve }
`)
	s := serve(t, f)
	code, body := s.ask(t, "POST", "/threads", "{}")
	expect(t, "without a key "+body, 401, code)
	code, _ = s.ask(t, "GET", "/ok", "")
	expect(t, "an open path", 200, code)
	code, body = s.ask(t, "POST", "/threads", `{"thread_id":"bobs"}`, "X-Api-Key", "planted-bob")
	expect(t, "bob's thread "+body, 200, code)
	for who, want := range map[string]int{"planted-ada": 200, "planted-bob": 200, "planted-eve": 404} {
		code, _ := s.ask(t, "GET", "/threads/bobs/state", "", "Authorization", "Bearer "+who)
		expect(t, who, want, code)
	}
	_, missing := s.ask(t, "GET", "/threads/bobs/state", "", "X-Api-Key", "planted-eve")
	_, none := s.ask(t, "GET", "/threads/nobs/state", "", "X-Api-Key", "planted-eve")
	expect(t, "another's thread looks like none", strings.ReplaceAll(none, "nobs", "bobs"), missing)
	s.end(t)
	open := f.Start("serve", "--addr", "0.0.0.0:0")
	open.Out("\n")
	open.Signal(syscall.SIGTERM)
	open.Wait()
	g := binary.In(t)
	g.Config("model: { provider: demo }\n")
	r := g.Run("serve", "--addr", "0.0.0.0:0")
	expect(t, "open to others without keys", 1, r.Status)
	expectContains(t, "open to others without keys", "without server.keys only a loopback address can be listened on", r.Diag)
}

// What is sent to the server by no client in its right mind is answered plainly.
func TestServedAbuse(t *testing.T) {
	t.Parallel()
	s := serve(t, binary.In(t))
	for _, tt := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"no JSON", "POST", "/threads", "{", 400},
		{"JSON of another kind", "POST", "/threads", `{"metadata":[1]}`, 422},
		{"invalid UTF-8 in an id", "GET", "/threads/%ff", "", 404},
		{"dots in an id", "GET", "/threads/%2e%2e%2fx", "", 404},
		{"an id of the server's own", "GET", "/threads/%1flangrooms%1fevents%2fx", "", 404},
		{"making one", "POST", "/threads", `{"thread_id":"\u001flangrooms\u001fevents/x"}`, 422},
		{"a large body", "POST", "/threads", `{"metadata":{"x":"` + strings.Repeat("x", 17<<20) + `"}}`, 413},
		{"a mode that is none", "POST", "/threads/x/runs/wait", `{"assistant_id":"agent","stream_mode":"nope"}`, 422},
		{"no assistant", "POST", "/threads/x/runs/wait", `{}`, 404},
		{"a limit out of bounds", "POST", "/threads/search", `{"limit":0}`, 422},
		{"what is not here", "GET", "/store/items", "", 404},
		{"nothing", "GET", "/nothing", "", 404},
	} {
		code, body := s.ask(t, tt.method, tt.path, tt.body)
		if code != tt.want || !strings.Contains(body, `"detail"`) {
			t.Errorf("%s: %d %.200s, want %d", tt.name, code, body, tt.want)
		}
	}
	s.end(t)
}

// A run whose process is killed is closed by the next one, and its thread goes on.
func TestServedKill(t *testing.T) {
	t.Parallel()
	slow, asked, letGo := held(t, "at last")
	defer letGo()
	f := folder(t, says(t, "hi"), roster(openaiEntry("slow", slow), openaiEntry("proto", says(t, "quick"))))
	s := serve(t, f)
	code, body := s.ask(t, "GET", "/readyz", "")
	expect(t, "ready "+body, 200, code)
	s.ask(t, "POST", "/threads", `{"thread_id":"t"}`)
	code, body = s.ask(t, "POST", "/threads/t/runs", `{"assistant_id":"agent","input":{"messages":"@slow well?"}}`)
	expect(t, "accepted "+body, 200, code)
	run := regexp.MustCompile(`"run_id":"([^"]*)"`).FindStringSubmatch(body)[1]
	<-asked
	s.Signal(syscall.SIGKILL)
	s.Wait()
	s = serve(t, f)
	code, body = s.ask(t, "GET", "/threads/t/runs/"+run+"/stream", "", "Last-Event-ID", "-1")
	expect(t, "joining it again", 200, code)
	expectContains(t, "the rest of its events", "event: metadata", body)
	expectContains(t, "how it ended", "the process that ran it has ended", body)
	_, body = s.ask(t, "GET", "/threads/t/runs/"+run, "")
	expectContains(t, "its record", `"status":"error"`, body)
	code, body = s.ask(t, "POST", "/threads/t/runs/wait", `{"assistant_id":"agent","input":{"messages":"@proto and you?"}}`)
	expect(t, "the next run", 200, code)
	for _, want := range []string{"@slow well?", "interrupted", "quick"} {
		expectContains(t, "the thread", want, body)
	}
	s.end(t)
}
