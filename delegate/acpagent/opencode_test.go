package acpagent

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// openCodeFolder holds a real coding agent and a model endpoint for it, when `make
// test-opencode` has installed them.
const openCodeFolder = "../../internal/peers/optional/opencode"

const openCodeModel = `
rules:
  - path: "/v1/chat/completions"
    match: "@"
    response:
      status: 200
      content: '{"id":"c","object":"chat.completion","model":"demo","choices":[{"index":0,"message":{"role":"assistant","content":"The build is fine."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":4,"total_tokens":5}}'
`

// An address reaches opencode over ACP and its answer comes back, without a network; after a
// restart its session is loaded.
func TestOpenCode(t *testing.T) {
	if os.Getenv("LANGROOMS_OPENCODE") == "" {
		t.Skip("opt-in, for its 400 MB: run `make test-opencode`")
	}
	folder, err := filepath.Abs(openCodeFolder)
	if err != nil {
		t.Fatal(err)
	}
	programs, err := filepath.Glob(filepath.Join(folder, "node_modules/opencode-*/bin/opencode")) // one for this platform
	if err != nil || len(programs) == 0 {
		t.Fatalf("opencode is not installed in %s", openCodeFolder)
	}
	home := t.TempDir()
	settings := fmt.Sprintf(`{"model":"mock/demo","small_model":"mock/demo","autoupdate":false,"share":"disabled",
		"provider":{"mock":{"npm":"@ai-sdk/openai-compatible","name":"Mock","options":{"baseURL":%q,"apiKey":"none"},"models":{"demo":{"name":"Demo"}}}}}`,
		startModel(t, filepath.Join(folder, "node_modules/.bin/mock-llm"))+"/v1")
	file := filepath.Join(home, "opencode.json")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Config{Name: "opencode", Command: programs[0], Args: []string{"acp"},
		WorkDir: t.TempDir(), Timeout: 2 * time.Minute, Permissions: PermissionsReadonly, Sessions: delegate.NewMemoryContinuity(),
		Env: map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home, "XDG_STATE_HOME": home,
			"OPENCODE_CONFIG": file, "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}}
	a := newAgent(t, c)
	health, err := a.Probe(t.Context())
	if err != nil || health.Protocol != "ACP 1" || !strings.Contains(health.Version, "1.18.33") {
		t.Errorf("Probe = %+v, %v", health, err)
	}
	var got reports
	reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "what broke?", Conversation: "thread", Progress: got.add})
	if err != nil || reply.Text != "The build is fine." || reply.Incomplete != "" {
		t.Errorf("Ask = %+v, %v", reply, err)
	}
	if len(got.of(langrooms.ProgressText)) == 0 {
		t.Error("no text was reported as progress")
	}
	a = restart(t, a, c)
	if reply := ask(t, a, "and now?"); reply.Text != "The build is fine." {
		t.Errorf("after a restart: %+v", reply)
	}
}

// startModel starts mock-llm on a free port for the test and returns its URL.
func startModel(t *testing.T, command string) string {
	t.Helper()
	rules := filepath.Join(t.TempDir(), "mock-llm.yaml")
	if err := os.WriteFile(rules, []byte(openCodeModel), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().(*net.TCPAddr)
	l.Close()
	cmd := exec.Command(command, "--config", rules)
	cmd.Env = append(os.Environ(), "HOST=127.0.0.1", fmt.Sprintf("PORT=%d", address.Port))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	url := "http://" + address.String()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 600 {
		if resp, err := client.Get(url + "/health"); err == nil {
			resp.Body.Close()
			return url
		}
		<-tick.C
	}
	t.Fatal("mock-llm does not answer")
	return ""
}
