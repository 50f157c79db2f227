package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/langrooms/langrooms/demo"
	"github.com/langrooms/langrooms/internal/clitest"
)

var program clitest.Program

func TestMain(m *testing.M) {
	demo.Main()
	clitest.Main(m, &program)
}

func expect(t testing.TB, what string, want, got any) {
	t.Helper()
	if want != got {
		t.Errorf("%s is\n%#v\nwant\n%#v", what, got, want)
	}
}

// folder has a configuration with a model for the lead and models as members.
func folder(t testing.TB, lead *clitest.Model, members map[string]*clitest.Model) *clitest.Folder {
	t.Helper()
	f := program.In(t)
	config := fmt.Sprintf("model: { provider: openai, url: %q, model: m, api_key: k }\ndelegates:\n", lead.URL)
	for _, name := range []string{"proto", "reviewer"} {
		if m := members[name]; m != nil {
			config += fmt.Sprintf("  - { name: %s, type: openai, url: %q, model: m, api_key: k }\n", name, m.URL)
		}
	}
	f.Config("%s", config)
	return f
}

func says(t testing.TB, text string) *clitest.Model {
	return clitest.NewModel(t, func(clitest.Question) clitest.Answer { return clitest.Say(text) })
}

// The edge from the room to the end, and the one to the lead.
func TestTurns(t *testing.T) {
	t.Parallel()
	lead := says(t, "They blame auth.")
	f := folder(t, lead, map[string]*clitest.Model{"proto": says(t, "auth broke"), "reviewer": says(t, "pass")})
	for _, c := range []struct{ message, want string }{
		{"@proto what broke?", "auth broke\n"},
		{"@prto hi", "Unknown or unreachable delegate: @prto. Available: proto, reviewer.\nDid you mean @proto?\n"},
		{"what did they decide?", "They blame auth.\n"},
	} {
		expect(t, c.message, clitest.Result{Out: c.want}, f.Run("-m", c.message))
	}
	asked := lead.Asked()
	expect(t, "model calls", 1, len(asked))
	for _, part := range []string{`<room-message from="operator" to="proto">`, `<room-message from="proto">`, "[room] You are assistant"} {
		var all []string
		for _, m := range asked[0].Messages {
			all = append(all, m.Content)
		}
		if !strings.Contains(strings.Join(all, "\n"), part) {
			t.Errorf("the lead was not shown %q", part)
		}
	}
	r := f.Run("-m", "@proto @reviewer is it safe?")
	expect(t, "a room: status", 0, r.Status)
	if !strings.Contains(r.Out, "**@proto** — auth broke") || !strings.Contains(r.Out, "The room stopped at its 3-round cap") {
		t.Errorf("a room of rounds: %q", r.Out)
	}
}

// The cycle between the lead and its tools.
func TestTools(t *testing.T) {
	t.Parallel()
	lead := clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
		switch last := q.Messages[len(q.Messages)-1]; {
		case last.Role == "user" && last.Content == "ask":
			return clitest.Answer{Tool: "delegate_to", Arguments: `{"target":"proto","query":"what broke?"}`}
		case last.Role == "user" && last.Content == "for ever":
			return clitest.Answer{Tool: "list_delegates", Arguments: `{}`}
		case last.Role == "tool" && strings.Contains(q.Body, "for ever"):
			return clitest.Answer{Tool: "list_delegates", Arguments: `{}`}
		}
		return clitest.Say("It was auth.")
	})
	f := folder(t, lead, map[string]*clitest.Model{"proto": says(t, "auth broke")})
	expect(t, "a delegation", clitest.Result{Out: "It was auth.\n"}, f.Run("-m", "ask"))
	r := f.Run("-t", "x", "-m", "for ever")
	expect(t, "a lead that does not stop: status", 1, r.Status)
	if !strings.HasPrefix(r.Diag, "error: the lead's model did not stop calling tools") {
		t.Errorf("stderr: %q", r.Diag)
	}
}

// Status 1 on an error of ours, 2 on wrong use; the words are on stderr.
func TestStatus(t *testing.T) {
	t.Parallel()
	broken := clitest.NewModel(t, func(clitest.Question) clitest.Answer { return clitest.Answer{Status: 400, Text: "no such model"} })
	f := folder(t, broken, nil)
	for _, c := range []struct {
		args   []string
		status int
		diag   string
	}{
		{[]string{"-m", "hello"}, 1, "the lead's model failed"},
		{[]string{"-c", "nope.yaml", "-m", "hello"}, 1, "nope.yaml"},
		{[]string{"-t", "\xff", "-m", "hello"}, 1, "UTF-8"},
		{[]string{"-m", " "}, 2, "empty"},
		{[]string{"-x"}, 2, "-x"},
		{[]string{"hello"}, 2, "hello"},
	} {
		r := f.Run(c.args...)
		expect(t, fmt.Sprintf("%q: status", c.args), c.status, r.Status)
		expect(t, fmt.Sprintf("%q: stdout", c.args), "", r.Out)
		if !strings.Contains(r.Diag, c.diag) {
			t.Errorf("%q: stderr %q lacks %q", c.args, r.Diag, c.diag)
		}
	}
}

// Each line is a turn, and an interrupt stops the one that runs, in the room and in the
// lead's part of the graph.
func TestLines(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 4)
	slow := func(name string) *clitest.Model {
		return clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
			if strings.HasSuffix(q.Last(), "slowly") {
				asked <- name
				<-q.Ctx.Done()
			}
			return clitest.Say("here is " + name)
		})
	}
	f := folder(t, slow("the lead"), map[string]*clitest.Model{"proto": slow("proto")})
	p := f.Start()
	for _, turn := range []struct{ slow, quick, want string }{
		{"@proto slowly", "@proto quickly", "here is proto\n"}, {"slowly", "quickly", "here is the lead\n"}} {
		p.Say(turn.slow)
		<-asked
		p.Signal(syscall.SIGINT)
		p.Say(turn.quick)
		p.Out(turn.want)
	}
	p.CloseInput()
	expect(t, "the whole", clitest.Result{Out: "@proto did not answer: stopped by the operator\nhere is proto\n" +
		"Stopped by the operator.\nhere is the lead\n"}, p.Wait())
}

// The command of the README, from the top of the repository, without a key: the demo, in a
// folder of the reader's own.
func TestGoRun(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "threads.db")
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("checkpointer: { url: %q }\ndelegates:\n  - { name: oracle, type: openai, url: \"demo:oracle\", model: oracle }\n", "sqlite:"+store)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "./examples/graph", "-c", config, "-m", "@oracle what is said here?")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "I am a demo agent") {
		t.Errorf("%v: %s", err, out)
	}
	f := program.In(t)
	f.Write("go.mod", "module broken\n\ngo 1.26\n")
	f.Write("broken.go", "package broken\n\nvar n int = \"text\"\n")
	r := f.Run("-m", "@proto what broke the build?")
	expect(t, "the demo: status", 0, r.Status)
	expect(t, "the demo: stderr", "There is no langgraph-config.yaml here: using the built-in demo configuration.\n", r.Diag)
	if !strings.Contains(r.Out, "broken.go:3") {
		t.Errorf("proto does not name the fault: %q", r.Out)
	}
}

// The guide stays short enough to be read.
func TestLength(t *testing.T) {
	lines := 0
	for _, name := range []string{"main.go", "graph.go"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(data), "\n")
	}
	if lines > 240 {
		t.Errorf("the example has %d lines", lines)
	}
}
