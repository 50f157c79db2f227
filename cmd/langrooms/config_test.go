package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// design 6: status 0 with warnings only, 1 with errors; each finding has file and line.
func TestConfigCheck(t *testing.T) {
	t.Parallel()
	const file = "langgraph-config.yaml"
	for _, c := range []struct {
		name, config string
		status       int
		line         float64
		severity     string
		out          string
	}{
		{"nothing", "room: { max_rounds: 2 }\n", 0, 0, "", file + ": ok\n"},
		{"an unknown key", "room:\n  max_rouns: 2\n", 0, 2, "warning", file + `:2:3: warning: `},
		{"a value above its ceiling", "\n\nroom:\n  max_rounds: 99\n", 0, 4, "warning", file + `:4:`},
		{"a wrong type", "identity:\n  name: [a]\n", 1, 2, "error", file + `:2:`},
		{"a bad entry", "delegates:\n  - name: a\n    type: a2a\n  - { name: operator, type: openai, url: \"http://h/v1\", model: m }\n", 1, 0, "error", "operator"},
		{"no YAML", "room:\n  max_rounds: 3\n    more: 4\n", 1, 3, "error", file + ":3:"},
	} {
		f := binary.In(t)
		f.Config("%s", c.config)
		r := f.Run("config", "check")
		expect(t, c.name+": status and stderr", []any{c.status, ""}, []any{r.Status, r.Diag})
		expectContains(t, c.name, c.out, r.Out)
		r = f.Run("config", "check", "--json", "-c", file)
		expect(t, c.name+": status and stderr with --json", []any{c.status, ""}, []any{r.Status, r.Diag})
		for _, l := range clitest.ParseLines(t, r.Out) {
			expect(t, c.name+": file and severity", []any{file, c.severity}, []any{l["file"], l["severity"]})
			if c.line != 0 {
				expect(t, c.name+": line", any(c.line), l["line"])
			} else if l["line"] == any(0.0) || l["line"] == nil {
				t.Errorf("%s: no line in %v", c.name, l)
			}
		}
	}
	f := binary.In(t)
	r := f.Run("config", "check")
	expect(t, "no file: status and stdout", []any{0, ""}, []any{r.Status, r.Out})
	expectContains(t, "no file", "built-in demo", r.Diag)
}

// config show prints each key's value in force; secrets are hidden.
func TestConfigShow(t *testing.T) {
	t.Parallel()
	f := binary.In(t)
	f.Config("room: { max_rounds: 99 }\nmodel: { provider: openai, model: m, api_key: planted-secret }\n")
	values := map[string]clitest.Line{}
	r := f.Run("config", "show", "--json")
	for _, l := range clitest.ParseLines(t, r.Out) {
		values[l.Text("key")] = l
	}
	expect(t, "status", 0, r.Status)
	expect(t, "a clamped value", "10", values["room.max_rounds"].Text("value"))
	expect(t, "a default", []any{"40", true}, []any{values["room.catchup_max_messages"]["value"], values["room.catchup_max_messages"]["default"]})
	expectContains(t, "the finding is on stderr", "langgraph-config.yaml:1", r.Diag)
	text := f.Run("config", "show")
	expectMatch(t, "as text", `.*room\.max_rounds +10\n.*`, text.Out)
	expectMatch(t, "as text", `.*room\.catchup_max_messages +40  \(default\)\n.*`, text.Out)
	if contains(r.Out+text.Out, "planted-secret") {
		t.Error("config show prints a secret")
	}
}

// design 6: config set changes one value and no other byte; refused is status 1 and the
// reason on stderr.
func TestConfigSet(t *testing.T) {
	t.Parallel()
	f := binary.In(t)
	const before = "# mine\nroom:\n  max_rounds: 3   # three\n  odd: 1\ncontinuity: 'memory'\n"
	path := f.Write("langgraph-config.yaml", before)
	content := func() string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, c := range []struct{ key, value, reason string }{
		{"room.max_rounds", "11", "10"},
		{"room.max_rounds", "many", "room.max_rounds"},
		{"room.max_rouns", "2", "room.max_rouns"},
		{"continuity", "forever", "durable"},
		{"identity.name", "proto room", "identity.name"},
	} {
		r := f.Run("config", "set", c.key, c.value)
		expect(t, c.key+" "+c.value+": status and stdout", []any{1, ""}, []any{r.Status, r.Out})
		expectContains(t, c.key+" "+c.value+": the reason", c.reason, r.Diag)
		expect(t, "the file", before, content())
	}
	r := f.Run("config", "set", "room.max_rounds", "2")
	expect(t, "status and stdout", []any{0, ""}, []any{r.Status, r.Out})
	expect(t, "the file", strings.Replace(before, "max_rounds: 3", "max_rounds: 2", 1), content())
	for _, c := range []struct{ key, value string }{
		{"model.api_key", "planted-secret"}, {"model.api_key", "planted\nsecret"}, {"model.api_key_env", "sk-planted-secret"},
		{"checkpointer.url", "redis://u:planted-secret@h/0"}, {"model.url", "https://u:planted-secret@h:bad/"},
	} {
		r := f.Run("config", "set", c.key, c.value)
		if contains(r.Out+r.Diag, "planted") || r.Diag == "" {
			t.Errorf("%s: a secret is repeated, or nothing is said: %+v", c.key, r)
		}
	}
	f.Write("other.yaml", before)
	for _, args := range [][]string{{"-c", "other.yaml", "room.max_rounds", "-1"}, {"room.max_rounds", "-1", "-c", "other.yaml"}} {
		expect(t, fmt.Sprint(args)+": status", 0, f.Run(append([]string{"config", "set"}, args...)...).Status)
	}
	for _, args := range [][]string{{"room.max_rounds"}, {"room.max_rounds", "2", "3"}, {"room.max_rounds", "2", "--nope"}, {"room.max_rounds", "2", "--help"}} {
		expect(t, fmt.Sprint(args)+": status", 2, f.Run(append([]string{"config", "set"}, args...)...).Status)
	}
	r = binary.In(t).Run("config", "set", "room.max_rounds", "2")
	expect(t, "no file: status", 1, r.Status)
	expectContains(t, "no file", "langgraph-config.yaml", r.Diag)
}

// design 6: one object per delegate; probe adds what it found.
func TestDelegates(t *testing.T) {
	t.Parallel()
	peer := clitest.NewAgent(t, func(clitest.Task) clitest.TaskEnd { return clitest.Completed("") })
	f := folder(t, says(t, "hi"), roster(openaiEntry("proto", says(t, "hi")), a2aEntry("peer", peer, ""), acpEntry(t, "coder", "answers"),
		"  - { name: dead, type: openai, url: \"http://127.0.0.1:1/v1\", model: m, api_key: planted-k }\n",
		"  - { name: gone, type: acp, command: /no/such/program }\n"))
	r := f.Run("delegates", "list", "--json")
	expect(t, "list", []clitest.Line{
		{"name": "proto", "type": "openai", "description": "a model"},
		{"name": "peer", "type": "a2a", "description": "a peer"},
		{"name": "coder", "type": "acp", "description": "a coder"},
		{"name": "dead", "type": "openai", "description": ""},
		{"name": "gone", "type": "acp", "description": ""},
	}, clitest.ParseLines(t, r.Out))
	expectMatch(t, "list for people", `proto +openai +a model\npeer +a2a +a peer\ncoder .*`, f.Run("delegates", "list").Out)

	r = f.Run("delegates", "probe", "--json")
	expect(t, "probe: a delegate that is away is an answer", []any{3, ""}, []any{r.Status, r.Diag})
	lines := clitest.ParseLines(t, r.Out)
	expect(t, "names and ok", []any{"proto", true, "peer", true, "coder", true, "dead", false, "gone", false},
		[]any{lines[0]["name"], lines[0]["ok"], lines[1]["name"], lines[1]["ok"], lines[2]["name"], lines[2]["ok"],
			lines[3]["name"], lines[3]["ok"], lines[4]["name"], lines[4]["ok"]})
	for i, l := range lines {
		_, latency := l["latency_ms"].(float64)
		says := l.Text("version") != "" || l.Text("protocol") != ""
		if !latency || i < 3 && i > 0 && !says || (i >= 3) != (l.Text("error") != "") {
			t.Errorf("a probe line lacks something: %v", l)
		}
	}
	expect(t, "kinds", []any{"unreachable", "unreachable"}, []any{lines[3]["error_kind"], lines[4]["error_kind"]})
	expect(t, "a probe costs the peer nothing", 0, len(peer.Tasks()))
	r = f.Run("delegates", "probe", "dead")
	expectMatch(t, "probe for people", `dead +openai +unreachable: .*connection refused\n`, r.Out)
	for _, pid := range agentPIDs(t, f.Dir, "answers") {
		if alive(pid) {
			t.Errorf("the probe has left the process %d", pid)
		}
	}
}

// delegates add and remove edit the file and keep its comments.
func TestDelegatesEdit(t *testing.T) {
	t.Parallel()
	f := binary.In(t)
	path := f.Write("langgraph-config.yaml", "# mine\ndelegates: # the roster\n  - name: proto # first\n    type: acp\n    command: coder\n")
	r := f.Run("delegates", "add", "scout", "--type", "a2a", "--url", "https://scout.example.com/a2a", "--auth", "bearer", "--key-env", "SCOUT_TOKEN")
	expect(t, "add: status and stdout", []any{0, ""}, []any{r.Status, r.Out})
	names := func() (all []string) {
		for _, l := range clitest.ParseLines(t, f.Run("delegates", "list", "--json").Out) {
			all = append(all, l.Text("name"))
		}
		return all
	}
	expect(t, "the roster", []string{"proto", "scout"}, names())
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"# mine\n", "# the roster\n", "- name: proto # first\n", "credentialsEnv: SCOUT_TOKEN"} {
		expectContains(t, "the file", part, string(data))
	}
	for _, args := range [][]string{
		{"add", "scout", "--type", "acp", "--command", "x"}, {"add", "operator", "--type", "acp", "--command", "x"},
		{"add", "a b", "--type", "acp", "--command", "x"}, {"add", "x", "--type", "smoke"}, {"add", "x", "--type", "a2a"}, {"remove", "nobody"},
	} {
		r := f.Run(append([]string{"delegates"}, args...)...)
		if r.Status != 1 || r.Out != "" || r.Diag == "" {
			t.Errorf("%q: %+v", args, r)
		}
	}
	expect(t, "an absent type: status", 2, f.Run("delegates", "add", "x").Status)
	expect(t, "remove", 0, f.Run("delegates", "remove", "proto").Status)
	expect(t, "the roster", []string{"scout"}, names())
}

// What is wrong with the lead's model is told by a probe, and a variable that is not set by
// the check of the file too.
func TestLeadIsProbed(t *testing.T) {
	t.Parallel()
	model := says(t, "hi")
	f := folder(t, model, roster(openaiEntry("proto", says(t, "hi"))))
	r := f.Run("delegates", "probe", "lead", "--json")
	expect(t, "status and stderr", []any{0, ""}, []any{r.Status, r.Diag})
	line := clitest.ParseLines(t, r.Out)[0]
	expect(t, "the line", []any{"lead", "model", true}, []any{line["name"], line["type"], line["ok"]})

	f.Config("model:\n  provider: openai\n  url: %q\n  model: another\n  api_key_env: LANGROOMS_UNSET\ndelegates:\n%s", model.URL, openaiEntry("proto", says(t, "hi")))
	unset := "the environment variable LANGROOMS_UNSET is not set"
	r = f.Run("config", "check")
	expect(t, "a warning", []any{0, "langgraph-config.yaml:5:16: warning: model.api_key_env: " + unset + "\n"}, []any{r.Status, r.Out})
	r = f.Run("delegates", "probe", "lead")
	expect(t, "status", 3, r.Status)
	expectContains(t, "the cause", "environment variable LANGROOMS_UNSET is not set", r.Out)

	t.Log("a model that the endpoint does not list")
	f.Config("model: { provider: openai, url: %q, model: another }\ndelegates:\n%s", model.URL, openaiEntry("proto", says(t, "hi")))
	r = f.Run("delegates", "probe", "--json")
	expect(t, "the delegates", []any{0, 1}, []any{r.Status, len(clitest.ParseLines(t, r.Out))})
	expectContains(t, "the cause", `The lead's model: refused: the endpoint does not list the model "another"`, r.Diag)
}
