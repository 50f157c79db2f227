package main

import (
	"strings"
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
