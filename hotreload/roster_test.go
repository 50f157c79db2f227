package hotreload

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/delegate/a2aagent"
	"github.com/langrooms/langrooms/delegate/acpagent"
	"github.com/langrooms/langrooms/delegate/openaiagent"
	"github.com/langrooms/langrooms/setting"
)

var (
	newACP = Delegate{Name: "new", Type: "acp", Description: "writes: code", Settings: &acpagent.Settings{Command: "npx", Args: []string{"-y", "pkg", "8080"},
		Env: map[string]string{"B": "2", "A": "x y"}, Timeout: 90 * time.Second, Permissions: "readonly", AllowKinds: []string{"read"}}}
	newMCP = Delegate{Name: "new", Type: "acp", Settings: &acpagent.Settings{Command: "c", Permissions: "ask", MCPServers: []setting.MCPServer{{Name: setting.OwnServer},
		{Name: "files", Command: "mcp-files", Args: []string{"--ro"}, Env: map[string]string{"A": "x y"}, EnvFrom: map[string]string{"T": "TOKEN"}},
		{Name: "search", URL: "https://s/mcp", HeadersEnv: map[string]string{"Authorization": "TOKEN"}}}}}
	newA2A = Delegate{Name: "new", Type: "a2a", Settings: &a2aagent.Settings{URL: "https://peer.example.com/rpc", Auth: a2aagent.Auth{Scheme: "bearer", Credential: setting.FromEnv("TOKEN")}}}
	newTLS = Delegate{Name: "new", Type: "a2a", Settings: &a2aagent.Settings{URL: "https://h/rpc", CardURL: "https://h/card", Binding: "HTTP+JSON",
		Auth: a2aagent.Auth{Scheme: "oauth2", Credential: setting.FromEnv("S"), ClientID: "me", Scopes: []string{"read"}},
		HTTP: setting.HTTP{Headers: map[string]string{"X-Tenant": "acme"}, HeadersEnv: map[string]string{"X-Key": "KEY"}, CAFile: "ca.pem", CertFile: "c.pem", KeyFile: "k.pem", Proxy: setting.FromEnv("PROXY"), Retries: 3}}}
	newLLM = Delegate{Name: "new", Type: "openai", Settings: &openaiagent.Settings{URL: "http://h/v1", Model: "m", APIKey: setting.NewSecret("hunter2"), SystemPrompt: "two\nlines", Temperature: new(0.0), MaxTokens: 5}}
)

// TestInsertDelegate shows where a new entry goes and that all else stays.
func TestInsertDelegate(t *testing.T) {
	const acp = `- name: new
  type: acp
  description: "writes: code"
  command: npx
  args: ["-y", pkg, "8080"]
  env: {A: "x y", B: "2"}
  timeout_s: 90
  permissions: readonly
  allow_kinds: [read]
`
	const a2a = `- name: new
  type: a2a
  url: https://peer.example.com/rpc
  auth:
    scheme: bearer
    credentialsEnv: TOKEN
`
	const llm = `- name: new
  type: openai
  url: http://h/v1
  model: m
  api_key: hunter2
  system_prompt: "two\nlines"
  max_tokens: 5
  temperature: 0
`
	const tls = `- name: new
  type: a2a
  url: https://h/rpc
  card_url: https://h/card
  binding: HTTP+JSON
  auth:
    scheme: oauth2
    credentialsEnv: S
    client_id: me
    scopes: [read]
  headers: {X-Tenant: acme}
  headers_env: {X-Key: KEY}
  ca_file: ca.pem
  cert_file: c.pem
  key_file: k.pem
  proxy_env: PROXY
  retries: 3
`
	const mcp = `- name: new
  type: acp
  command: c
  mcp_servers: [langrooms, {name: files, command: mcp-files, args: ["--ro"], env: {A: "x y"}, env_from: {T: TOKEN}}, {name: search, url: https://s/mcp, headers_env: {Authorization: TOKEN}}]
  permissions: ask
`
	indented := func(text string) string {
		return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
	}
	const flowItem = `{name: new, type: a2a, url: https://peer.example.com/rpc, auth: {scheme: bearer, credentialsEnv: TOKEN}}`
	tests := []struct {
		name, in string
		d        Delegate
		want     string
	}{
		{"an empty file", "", newACP, "delegates:\n" + indented(acp)},
		{"no roster yet", "room: {}\n# tail\n", newA2A, "room: {}\n# tail\ndelegates:\n" + indented(a2a)},
		{"how it is reached", "room: {}\n", newTLS, "room: {}\ndelegates:\n" + indented(tls)},
		{"an empty roster", "delegates: [] # none\nroom: {}\n", newLLM, "delegates:  # none\n" + indented(llm) + "room: {}\n"},
		{"a heading only", "delegates: # none\nroom: {}\n", newA2A, "delegates: # none\n" + indented(a2a) + "room: {}\n"},
		{"behind the last entry, before its trailing comments", "delegates:\n  - name: a # A\n    type: acp\n    command: c # C\n  # - name: b\n\nroom: {}\n", newA2A,
			"delegates:\n  - name: a # A\n    type: acp\n    command: c # C\n" + indented(a2a) + "  # - name: b\n\nroom: {}\n"},
		{"dashes at the margin", "delegates:\n- name: a\n  type: acp\n  command: c\n", newA2A, "delegates:\n- name: a\n  type: acp\n  command: c\n" + a2a},
		{"behind a block of text", "delegates:\n- name: a\n  type: openai\n  url: http://h\n  model: m\n  system_prompt: |\n    one\n\n    two\n\nroom: {}\n", newA2A,
			"delegates:\n- name: a\n  type: openai\n  url: http://h\n  model: m\n  system_prompt: |\n    one\n\n    two\n" + a2a + "\nroom: {}\n"},
		{"behind a list over several lines", "delegates:\n- name: a\n  type: acp\n  command: c\n  args: [a, # x ]\n    b,\n  ]\n", newA2A,
			"delegates:\n- name: a\n  type: acp\n  command: c\n  args: [a, # x ]\n    b,\n  ]\n" + a2a},
		{"a list in brackets", "delegates: [{name: a, type: acp, command: c}]\n", newA2A, "delegates: [{name: a, type: acp, command: c}, " + flowItem + "]\n"},
		{"JSON", `{"room": {}}`, newA2A, `{"delegates": [{"name": "new", "type": "a2a", "url": "https://peer.example.com/rpc", "auth": {"scheme": "bearer", "credentialsEnv": "TOKEN"}}], "room": {}}`},
		{"tool servers", "room: {}\n", newMCP, "room: {}\ndelegates:\n" + indented(mcp)},
		{"tool servers in JSON", `{"room": {}}`, newMCP, `{"delegates": [{"name": "new", "type": "acp", "command": "c", "mcp_servers": ["langrooms", ` +
			`{"name": "files", "command": "mcp-files", "args": ["--ro"], "env": {"A": "x y"}, "env_from": {"T": "TOKEN"}}, ` +
			`{"name": "search", "url": "https://s/mcp", "headers_env": {"Authorization": "TOKEN"}}], "permissions": "ask"}], "room": {}}`},
		{"CRLF", "delegates:\r\n- name: a\r\n  type: acp\r\n  command: c\r\n", newA2A, "delegates:\r\n- name: a\r\n  type: acp\r\n  command: c\r\n" + strings.ReplaceAll(a2a, "\n", "\r\n")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := InsertDelegate("f.yaml", []byte(tt.in), tt.d)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			back, err := DropDelegate("f.yaml", got, "new")
			if err != nil {
				t.Fatal(err)
			}
			before, _, _ := Parse("f.yaml", []byte(tt.in))
			after, _, err := Parse("f.yaml", back)
			if diff := cmp.Diff(before.Values(), after.Values()); diff != "" || err != nil {
				t.Errorf("taken out again (-want +got)\n%s%v", diff, err)
			}
		})
	}
}

func TestInsertDelegateRefuses(t *testing.T) {
	const one = "delegates:\n- { name: a, type: acp, command: c }\n"
	tests := []struct {
		name, in string
		d        Delegate
		is       error
		says     string
	}{
		{"a name that is taken", one, Delegate{Name: "a", Type: "acp", Settings: &acpagent.Settings{Command: "c"}}, ErrBadDelegate, "a second entry with this name"},
		{"a reserved name", one, Delegate{Name: "room", Type: "acp", Settings: &acpagent.Settings{Command: "c"}}, ErrBadDelegate, "is reserved"},
		{"no type", one, Delegate{Name: "b"}, ErrBadDelegate, "type is missing"},
		{"no command", one, Delegate{Name: "b", Type: "acp"}, ErrBadDelegate, "command is missing"},
		{"another type's field", one, Delegate{Name: "b", Type: "acp", Settings: &a2aagent.Settings{URL: "http://h"}}, ErrBadDelegate, "are not those of type acp"},
		{"above a ceiling", one, Delegate{Name: "b", Type: "openai", Settings: &openaiagent.Settings{URL: "http://h", Model: "m", Temperature: new(3.0)}}, ErrBadDelegate, "out of its bounds"},
		{"a shared roster", "x: &x []\ndelegates: *x\n", newA2A, ErrNotEditable, "roster"},
		{"a broken file", "delegates: [\n", newA2A, ErrUnusable, "f.yaml:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := InsertDelegate("f.yaml", []byte(tt.in), tt.d)
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %q, %v; want an error that says %q", got, err, tt.says)
			}
		})
	}
}

// TestDropDelegate shows that only the entry's own lines go.
func TestDropDelegate(t *testing.T) {
	const block = `# roster
delegates:
  # A
  - name: a
    type: openai   # inside
    url: http://h
    model: m
    system_prompt: |
      - name: b

  # B
  -
    name: b
    type: acp
    command: c
    args: [x,
      y]
  # after B
  - { name: c, type: acp, command: c }
# tail
room: {}
`
	cut := func(from, to string) string {
		i := strings.Index(block, from)
		j := strings.Index(block, to)
		return block[:i] + block[j:]
	}
	tests := []struct {
		name, in, drop, want string
	}{
		{"the first", block, "a", cut("  - name: a", "\n  # B")},
		{"one in the middle", block, "b", cut("  -\n", "  # after B")},
		{"the last", block, "c", cut("  - { name: c", "# tail")},
		{"the only one", "delegates:\n- {name: a}\nroom: {}\n", "a", "delegates:\nroom: {}\n"},
		{"in brackets, the first", "delegates: [{name: a}, {name: b}]\n", "a", "delegates: [{name: b}]\n"},
		{"in brackets, the last", "delegates: [{name: a}, {name: b}]\n", "b", "delegates: [{name: a}]\n"},
		{"in brackets, the only one", "delegates: [ {name: a} ]\n", "a", "delegates: [  ]\n"},
		{"one that the parser refuses", "delegates:\n- name: bad name\n- name: b\n", "bad name", "delegates:\n- name: b\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DropDelegate("f.yaml", []byte(tt.in), tt.drop)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimLeft(tt.want, "\x00"), string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for name, in := range map[string]string{"nobody": block, "a": "room: {}\n", "": ""} {
		if _, err := DropDelegate("f.yaml", []byte(in), name); !errors.Is(err, ErrUnknownDelegate) {
			t.Errorf("%q: got %v, want ErrUnknownDelegate", name, err)
		}
	}
	shared := "delegates:\n- &a { name: a, type: acp, command: c }\n- { <<: *a, name: b }\n"
	if got, err := DropDelegate("f.yaml", []byte(shared), "a"); !errors.Is(err, ErrNotEditable) {
		t.Errorf("an entry that another one needs: got %q, %v", got, err)
	}
}
