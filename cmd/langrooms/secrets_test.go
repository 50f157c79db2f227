package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// The credentials of the configuration and of the environment are in no output, although
// every peer repeats what it was sent.
func TestSecrets(t *testing.T) {
	t.Parallel()
	secrets := []string{"planted-model-9f3b2c71", "planted-openai-4d8e60a2", "planted-a2a-71c5f9e3", "planted-agent-b20d7a46", "planted-server-58e1c3f9", "planted-bad-c47a90de"}
	echo := func(status int) *clitest.Model {
		return clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
			return clitest.Answer{Status: status, Text: `{"error":{"message":"bad key ` + q.Header.Get("Authorization") + `"}}`}
		})
	}
	peer := clitest.NewAgent(t, func(task clitest.Task) clitest.TaskEnd {
		return clitest.TaskEnd{Text: "bad token " + task.Token, State: "TASK_STATE_FAILED"}
	})
	lead := echo(401)
	config := "model: { provider: openai, url: \"" + lead.URL + "\", model: m, api_key_env: LEAD_KEY }\n" +
		"server: { keys: [ { name: ada, key: planted-server-58e1c3f9 } ] }\n" +
		roster("  - { name: open, type: openai, url: \""+echo(403).URL+"\", model: m, api_key: planted-openai-4d8e60a2 }\n",
			"  - { name: peer, type: a2a, url: \""+peer.URL+"\", auth: { scheme: bearer, token: planted-a2a-71c5f9e3 } }\n",
			"  - { name: shell, type: acp, command: sh, args: [ -c, \"echo failed with $AGENT_KEY >&2; exit 3\" ], env: { AGENT_KEY: planted-agent-b20d7a46 } }\n",
			"  - { name: bad, type: openai, url: \"http://127.0.0.1:1/v1\", model: m, api_key: [planted-bad-c47a90de] }\n")
	for _, durable := range []string{"", "continuity: durable\n"} {
		f := binary.In(t)
		f.Env = []string{"LEAD_KEY=planted-model-9f3b2c71"}
		f.Config("%s", config+durable)
		var outputs []string
		run := func(args ...string) {
			r := f.Run(args...)
			outputs = append(outputs, r.Out, r.Diag)
		}
		for _, message := range []string{"hello", "@open hi", "@peer hi", "@shell hi", "@open @peer @shell hi", "@bad hi"} {
			run("chat", "-m", message)
			run("chat", "--json", "-m", message)
		}
		for _, args := range [][]string{{"thread", "show"}, {"thread", "show", "--json"}, {"thread", "export"}, {"thread", "export", "--format", "json"},
			{"delegates", "list"}, {"delegates", "probe"}, {"delegates", "probe", "--json"}, {"config", "check"}, {"config", "check", "--json"},
			{"config", "show"}, {"config", "show", "--json"}} {
			run(args...)
		}
		for _, secret := range secrets {
			for _, out := range outputs {
				if strings.Contains(out, secret) {
					t.Errorf("%s is in an output:\n%s", secret, out)
				}
			}
		}
	}
	if len(lead.Asked()) == 0 || lead.Asked()[0].Header.Get("Authorization") != "Bearer planted-model-9f3b2c71" ||
		len(peer.Tasks()) == 0 || !strings.Contains(peer.Tasks()[0].Token, "planted-a2a-71c5f9e3") {
		t.Error("the peers were not sent the credentials")
	}
}

// Nor does the server give them out, at any of its doors or on its standard error.
func TestServedSecrets(t *testing.T) {
	t.Parallel()
	secrets := []string{"planted-model-9f3b2c71", "planted-openai-4d8e60a2", "planted-header-0c1f77e5", "planted-a2a-71c5f9e3", "planted-agent-b20d7a46",
		"planted-tools-6e90b8d2", "planted-admin-58e1c3f9", "planted-bob-3d02f6a8"}
	echo := func(status int) *clitest.Model {
		return clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
			return clitest.Answer{Status: status, Text: `{"error":{"message":"bad key ` + q.Header.Get("Authorization") + ` ` + q.Header.Get("X-Extra") + `"}}`}
		})
	}
	peer := clitest.NewAgent(t, func(task clitest.Task) clitest.TaskEnd {
		return clitest.TaskEnd{Text: "bad token " + task.Token, State: "TASK_STATE_FAILED"}
	})
	open := echo(403)
	f := binary.In(t)
	f.Env = []string{"LEAD_KEY=planted-model-9f3b2c71", "EXTRA=planted-header-0c1f77e5"}
	f.Config("%s", "model: { provider: openai, url: \""+echo(401).URL+"\", model: m, api_key_env: LEAD_KEY }\n"+
		"server: { keys: [ { name: ada, key: planted-admin-58e1c3f9, admin: true }, { name: bob, key: planted-bob-3d02f6a8 } ] }\n"+
		roster("  - { name: open, type: openai, url: \""+open.URL+"\", model: m, api_key: planted-openai-4d8e60a2, headers_env: { X-Extra: EXTRA } }\n",
			"  - { name: peer, type: a2a, url: \""+peer.URL+"\", auth: { scheme: bearer, token: planted-a2a-71c5f9e3 } }\n",
			"  - { name: shell, type: acp, command: sh, args: [ -c, \"echo failed with $AGENT_KEY >&2; exit 3\" ], env: { AGENT_KEY: planted-agent-b20d7a46 },"+
				" mcp_servers: [ { name: tools, command: tools, env: { TOOLS_KEY: planted-tools-6e90b8d2 } } ] }\n"))
	s := serve(t, f)
	var outputs []string
	ask := func(method, path, body string) string {
		t.Helper()
		_, got := s.ask(t, method, path, body, "X-Api-Key", "planted-admin-58e1c3f9", "Content-Type", "application/json",
			"Accept", "application/json, text/event-stream", "A2A-Version", "1.0")
		outputs = append(outputs, got)
		return got
	}
	words := []string{"hello", "@open hi", "@peer hi", "@shell hi", "@open @peer @shell hi"}
	for _, text := range words {
		said, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		in := `{"assistant_id":"agent","stream_mode":["values","messages-tuple","updates","custom"],"if_not_exists":"create","input":{"messages":` + string(said) + `}}`
		ask("POST", "/threads/t/runs/wait", in)
		ask("POST", "/threads/t/runs/stream", in)
		ask("POST", "/a2a", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":`+string(said)+`}]}}}`)
	}
	var room struct{ ID string }
	if err := json.Unmarshal([]byte(ask("POST", "/api/rooms", `{"name":"r","agents":["open","peer","shell"]}`)), &room); err != nil || room.ID == "" {
		t.Fatalf("a room: %+v, %v", room, err)
	}
	ask("POST", "/api/rooms/"+room.ID+"/messages?wait=true", `{"content":"@open @peer @shell hi"}`)
	expectContains(t, "what is read over MCP", "bad token", ask("POST", "/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_room","arguments":{"room_id":"`+room.ID+`"}}}`))
	for _, name := range []string{"open", "peer", "shell"} {
		ask("POST", "/api/delegates/"+name+"/probe", "")
	}
	ask("PUT", "/api/delegates/open", `{"name":"open","type":"openai","url":"://","api_key":"planted-openai-4d8e60a2"}`)
	ask("POST", "/api/delegates", `{"name":"new","type":"a2a","url":7,"auth":{"scheme":"bearer","token":"planted-a2a-71c5f9e3"}}`)
	for _, path := range []string{"/threads/t/state", "/threads/t/history", "/threads/t/runs", "/api/delegates", "/api/delegate-types", "/api/delegates/open",
		"/api/delegates/peer", "/api/delegates/shell", "/api/settings", "/api/mentions?q=@o",
		"/api/rooms", "/api/rooms/" + room.ID, "/api/rooms/" + room.ID + "/export", "/info", "/assistants/agent", "/.well-known/agent-card.json", "/readyz"} {
		ask("GET", path, "")
	}
	if err := os.WriteFile(filepath.Join(f.Dir, "langgraph-config.yaml"),
		[]byte("model: { provider: openai, api_key: [planted-model-9f3b2c71] }\nserver: { keys: [ { name: ada, key: [planted-admin-58e1c3f9] } ] }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	outputs = append(outputs, s.Diag("langgraph-config.yaml:"))
	s.Signal(syscall.SIGTERM)
	r := s.Wait()
	outputs = append(outputs, r.Out, r.Diag)
	all := strings.Join(outputs, "\n")
	for _, want := range []string{"bad key", "bad token", "failed with"} {
		expectContains(t, "what the peers repeat", want, all)
	}
	for _, secret := range secrets {
		for _, out := range outputs {
			if strings.Contains(out, secret) {
				t.Errorf("%s is in an output:\n%s", secret, out)
			}
		}
	}
}
