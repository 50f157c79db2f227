package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/internal/clitest"
)

// binary is the program, built once. The tests run it as a child process, as a user
// does.
var binary clitest.Program

func TestMain(m *testing.M) {
	if mode, set := os.LookupEnv(agentVariable); set {
		runAgent(mode, os.Stdin, os.Stdout)
		return
	}
	clitest.Main(m, &binary)
}

// folder returns a folder whose configuration holds the lead's model and further text.
func folder(t testing.TB, lead *clitest.Model, config string) *clitest.Folder {
	t.Helper()
	f := binary.In(t)
	f.Config("model: { provider: openai, url: %q, model: m, api_key: planted-k }\n%s", lead.URL, config)
	return f
}

// roster is a configuration's list of delegates.
func roster(entries ...string) string {
	return "delegates:\n" + strings.Join(entries, "")
}

func openaiEntry(name string, m *clitest.Model) string {
	return fmt.Sprintf("  - { name: %s, type: openai, description: a model, url: %q, model: m, api_key: planted-k }\n", name, m.URL)
}

func a2aEntry(name string, a *clitest.Agent, more string) string {
	return fmt.Sprintf("  - { name: %s, type: a2a, description: a peer, url: %q%s }\n", name, a.URL, more)
}

// says is a model that always says the same.
func says(t testing.TB, text string) *clitest.Model {
	return clitest.NewModel(t, func(clitest.Question) clitest.Answer { return clitest.Say(text) })
}

// held is a model that says when it was asked, and answers text when it is let go.
func held(t testing.TB, text string) (m *clitest.Model, asked <-chan clitest.Question, letGo func()) {
	t.Helper()
	questions, release := make(chan clitest.Question, 16), make(chan struct{})
	m = clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
		questions <- q
		select {
		case <-release:
		case <-q.Ctx.Done():
		}
		return clitest.Say(text)
	})
	return m, questions, func() { close(release) }
}

func expect(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// expectMatch compares text with a pattern of the whole of it.
func expectMatch(t testing.TB, what, pattern, got string) {
	t.Helper()
	if !regexp.MustCompile(`(?s)^(?:` + pattern + `)$`).MatchString(got) {
		t.Errorf("%s is\n%q\nwant a match of\n%s", what, got, pattern)
	}
}

func expectContains(t testing.TB, what, part, got string) {
	t.Helper()
	if !strings.Contains(got, part) {
		t.Errorf("%s is\n%q\nwhich does not contain\n%q", what, got, part)
	}
}

// show returns the messages of a thread by thread show --json.
func show(t testing.TB, f *clitest.Folder, thread string) []clitest.Line {
	t.Helper()
	r := f.Run("thread", "show", "--json", "-t", thread)
	if r.Status != 0 {
		t.Fatalf("thread show: status %d\n%s", r.Status, r.Diag)
	}
	return clitest.ParseLines(t, r.Out)
}

// voices is who says what on a thread, one "author: text" each; a failed or late record is
// marked.
func voices(lines []clitest.Line) []string {
	var all []string
	for _, l := range lines {
		who := l.Text("role")
		if from := l.Text("from"); from != "" {
			who = from
		}
		for _, mark := range []string{"failed", "late", "incognito"} {
			if l[mark] == true {
				who += " " + mark
			}
		}
		all = append(all, who+": "+l.Text("text"))
	}
	return all
}

// done returns the done lines among lines.
func done(lines []clitest.Line) []clitest.Line {
	var found []clitest.Line
	for _, l := range lines {
		if l.Text("type") == "done" {
			found = append(found, l)
		}
	}
	return found
}

func contains(text, part string) bool { return strings.Contains(text, part) }
