package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/langrooms/langrooms/delegate/a2aagent"
	"github.com/langrooms/langrooms/delegate/acpagent"
	"github.com/langrooms/langrooms/delegate/openaiagent"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/setting"
)

// added runs delegates add and returns the entry that it wrote.
func added(t *testing.T, args ...string) hotreload.Delegate {
	t.Helper()
	f := binary.In(t)
	path := f.Write("langgraph-config.yaml", "delegates: []\n")
	r := f.Run(append([]string{"delegates", "add"}, args...)...)
	expect(t, "add", []any{0, ""}, []any{r.Status, r.Out})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	config, findings, err := hotreload.Parse(path, data)
	if err != nil || len(findings) > 0 || len(config.Delegates) != 1 {
		t.Fatalf("the file reads %v, %v:\n%s", findings, err, data)
	}
	d := config.Delegates[0]
	d.Line = 0
	return d
}

var secrets = cmp.AllowUnexported(setting.Secret{})

// Each flag of delegates add is a key of the entry; secrets are in it by variable name.
func TestDelegatesAddFlags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args string // without blanks inside
		want hotreload.Delegate
	}{
		{"far --type a2a --url https://far.example.com/a2a --description far --cost-input-per-mtok 3 --cost-output-per-mtok 0" +
			" --auth oauth2 --key-env FAR_SECRET --client-id rooms --token-url https://far.example.com/token --scope read --scope write" +
			" --card-url https://far.example.com/card.json --binding HTTP+JSON --poll-timeout 90 --header X-Team=a=b --header-env X-Key=FAR_KEY" +
			" --ca-file ca.pem --cert-file c.pem --key-file k.pem --proxy-env FAR_PROXY --retries 3",
			hotreload.Delegate{Name: "far", Type: "a2a", Description: "far",
				Cost: hotreload.Cost{InputPerMTok: new(3.0), OutputPerMTok: new(0.0)}, Settings: &a2aagent.Settings{
					URL: "https://far.example.com/a2a", CardURL: "https://far.example.com/card.json", Binding: "HTTP+JSON", PollTimeout: 90 * time.Second,
					Auth: a2aagent.Auth{Scheme: "oauth2", Credential: setting.FromEnv("FAR_SECRET"), ClientID: "rooms",
						TokenURL: "https://far.example.com/token", Scopes: []string{"read", "write"}},
					HTTP: setting.HTTP{Headers: map[string]string{"X-Team": "a=b"}, HeadersEnv: map[string]string{"X-Key": "FAR_KEY"}, CAFile: "ca.pem",
						CertFile: "c.pem", KeyFile: "k.pem", Proxy: setting.FromEnv("FAR_PROXY"), Retries: 3}}}},
		{"plain --type openai --url https://m.example.com/v1 --model m --key-env KEY --system-prompt brief --max-tokens 99 --temperature 0 --timeout 5 --total-timeout 50" +
			" --param top_p=0.5 --param reasoning_effort=low --stream=false --key-header api-key --api-version 2024-06-01 --own-replies --retries 0",
			hotreload.Delegate{Name: "plain", Type: "openai", Settings: &openaiagent.Settings{URL: "https://m.example.com/v1", Model: "m", APIKey: setting.FromEnv("KEY"),
				SystemPrompt: "brief", MaxTokens: 99, Temperature: new(0.0), Timeout: 5 * time.Second, TotalTimeout: 50 * time.Second,
				Params: map[string]any{"top_p": 0.5, "reasoning_effort": "low"}, Stream: new(false), KeyHeader: "api-key", APIVersion: "2024-06-01", OwnReplies: true}}},
		{`coder --type acp --command coder --arg acp --workdir /tmp --worktree --env A=b --env-remove CI_ --timeout 60 --idle-limit 120 --auth-method key --model m --mode plan` +
			` --permissions ask --allow-kind read --deny-kind execute --mcp-server langrooms --mcp-server {"name":"files","command":"mcp-files","env_from":{"T":"TOKEN"}}`,
			hotreload.Delegate{Name: "coder", Type: "acp", Settings: &acpagent.Settings{Command: "coder", Args: []string{"acp"}, WorkDir: "/tmp", Worktree: true, Env: map[string]string{"A": "b"},
				EnvRemove: []string{"CI_"}, Timeout: time.Minute, IdleLimit: 2 * time.Minute, AuthMethod: "key", Model: "m", Mode: "plan",
				Permissions: "ask", AllowKinds: []string{"read"}, DenyKinds: []string{"execute"},
				MCPServers: []setting.MCPServer{{Name: "langrooms"}, {Name: "files", Command: "mcp-files", EnvFrom: map[string]string{"T": "TOKEN"}}}}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, added(t, strings.Fields(tt.args)...), secrets); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.want.Name, diff)
		}
	}
	f := binary.In(t)
	f.Write("langgraph-config.yaml", "delegates: []\n")
	r := f.Run("delegates", "add", "x", "--type", "acp", "--command", "c", "--mcp-server", "{name: x}")
	expect(t, "a server without an address", 1, r.Status)
	expectContains(t, "the reason", `mcp server "x": needs a command or a url`, r.Diag)
}

// Every key of an entry has a flag, but for the secrets themselves, which would stand in a
// shell's history.
func TestDelegatesAddHasEveryKey(t *testing.T) {
	named := map[string]string{"auth.scheme": "auth", "auth.credentialsEnv": "key-env", "api_key_env": "key-env", "args": "arg", "auth.scopes": "scope",
		"headers": "header", "headers_env": "header-env", "params": "param", "allow_kinds": "allow-kind", "deny_kinds": "deny-kind",
		"mcp_servers": "mcp-server", "auth.token": "", "api_key": "", "proxy": "", "name": ""}
	flags := new(program).addCommand().Flags()
	for _, f := range hotreload.Schema() {
		key, ok := strings.CutPrefix(f.Key, "delegates[].")
		if !ok || strings.Contains(key, "[]") {
			continue
		}
		flag, special := named[key]
		if !special {
			flag = strings.TrimSuffix(strings.TrimPrefix(key, "auth."), "_s")
			flag = strings.NewReplacer("_", "-", ".", "-").Replace(flag)
		}
		if flag != "" && flags.Lookup(flag) == nil {
			t.Errorf("%s has no flag --%s", key, flag)
		}
	}
}
