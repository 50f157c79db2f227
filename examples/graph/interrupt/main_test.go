package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/demo"
	"github.com/langrooms/langrooms/internal/clitest"
	"github.com/langrooms/langrooms/internal/redistest"
	"github.com/langrooms/langrooms/nodes/leadnode"
)

// With this variable set, the test's program is the example itself.
const childEnv = "INTERRUPT_EXAMPLE"

func TestMain(m *testing.M) {
	demo.Main()
	if os.Getenv(childEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program runs the example as a process of its own.
func program(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env, cmd.Dir = append(os.Environ(), childEnv+"=1"), t.TempDir()
	var out, diagnostics strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), diagnostics.String(), cmd.ProcessState.ExitCode()
}

// place is a store, and a configuration whose lead asks proto whatever it is told to.
type place struct{ url, config string }

func newPlace(t *testing.T) place {
	t.Helper()
	lead := clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
		last := q.Messages[len(q.Messages)-1]
		for _, m := range slices.Backward(q.Messages) { // the room's records stand behind the results
			if last = m; !strings.HasPrefix(m.Content, "<room-message") {
				break
			}
		}
		if last.Role == "tool" {
			return clitest.Say("It came to: " + last.Content)
		}
		return clitest.Answer{Tool: "delegate_to", Arguments: fmt.Sprintf(`{"target":"proto","query":%q}`, last.Content)}
	})
	proto := clitest.NewModel(t, func(clitest.Question) clitest.Answer { return clitest.Say("auth broke") })
	path := filepath.Join(t.TempDir(), "config.yaml")
	config := fmt.Sprintf("model: { provider: openai, url: %q, model: m, api_key: k }\ndelegates:\n"+
		"  - { name: proto, type: openai, url: %q, model: m, api_key: k }\n", lead.URL, proto.URL)
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return place{"redis://" + redistest.Start(t).Addr, path}
}

func (p place) args(args ...string) []string {
	return append([]string{"-redis", p.url, "-c", p.config, "-t", "release"}, args...)
}

var wishID = regexp.MustCompile(`^The lead wants to call delegate_to (.*)\nGo on with -approve (\S+) or -refuse (\S+)\n$`)

// asks has the lead want something and returns the id of the wish.
func (p place) asks(t *testing.T, message string) string {
	t.Helper()
	out, diagnostics, status := program(t, p.args("-m", message)...)
	m := wishID.FindStringSubmatch(out)
	if status != 0 || m == nil || m[2] != m[3] || m[1] != fmt.Sprintf(`{"target":"proto","query":%q}`, message) {
		t.Fatalf("-m %q: status %d, stdout %q, stderr %q", message, status, out, diagnostics)
	}
	return m[2]
}

// The process that asked has ended when another one approves: the engine's run and the turn
// both come out of Redis, and what is approved is what was shown.
func TestResumesInAnotherProcess(t *testing.T) {
	p := newPlace(t)
	expect := func(rule, out, errout string, status int, args ...string) {
		t.Helper()
		gotOut, gotErr, gotStatus := program(t, p.args(args...)...)
		if gotOut != out || !strings.Contains(gotErr, errout) || gotStatus != status {
			t.Fatalf("%s: status %d, stdout %q, stderr %q", rule, gotStatus, gotOut, gotErr)
		}
	}
	nothing := leadnode.ErrNothingWaits.Error()
	expect("nothing waits on a new thread", "", nothing, 1, "-approve", "x")
	expect("what addresses somebody needs no approval", "auth broke\n", "", 0, "-m", "@proto hi")
	first := p.asks(t, "what broke?")
	expect("one wish at a time", "", "approve or refuse first", 1, "-m", "and now?")
	expect("a wish that was not shown", "", nothing, 1, "-approve", "x")
	expect("another process goes on", "It came to: auth broke\n", "", 0, "-approve", first)
	expect("an approval counts once", "", nothing, 1, "-approve", first)
	second := p.asks(t, "and after that?")
	expect("an old wish is not the new one", "", nothing, 1, "-approve", first)
	expect("a refusal is told to the lead", "It came to: Error: the operator refused this call\n", "", 0, "-refuse", second)
	expect("either a message or an approval", "", "give one of", 2, "-approve", "x", "-m", "both")
	expect("neither", "", "give one of", 2)

	want := []string{"human hi", "human auth broke",
		"human what broke?", "ai delegate_to", "tool auth broke", "human what broke?", "human auth broke", "ai It came to: auth broke",
		"human and after that?", "ai delegate_to", "tool Error: the operator refused this call", "ai It came to: Error: the operator refused this call"}
	if got := lines(t, p.url); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the thread says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Approvals that come at the same time wait for the thread: one acts, the others find
// nothing to approve.
func TestApprovalsAtOnce(t *testing.T) {
	p := newPlace(t)
	id := p.asks(t, "what broke?")
	errs := make([]error, 3)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			_, errs[i] = run(t.Context(), options{redis: p.url, config: p.config, thread: "release", approve: id})
		})
	}
	group.Wait()
	acted := 0
	for _, err := range errs {
		switch {
		case err == nil:
			acted++
		case !errors.Is(err, leadnode.ErrNothingWaits):
			t.Error(err)
		}
	}
	if got := lines(t, p.url); acted != 1 || len(got) != 6 {
		t.Errorf("%d of %d acted, the thread says %q", acted, len(errs), got)
	}
}

// A run whose state the engine has lost goes on from the thread, at the second approval.
func TestEngineStateLost(t *testing.T) {
	p := newPlace(t)
	id := p.asks(t, "what broke?")
	addr := strings.TrimPrefix(p.url, "redis://")
	lose := "return redis.call('del', unpack(redis.call('keys', ARGV[1])))"
	if lost, err := redistest.Command(addr, "EVAL", lose, "0", "*blob*"); err != nil || lost != ":1" {
		t.Fatalf("deleting the engine's state: %q, %v", lost, err)
	}
	o := options{redis: p.url, config: p.config, thread: "release", approve: id}
	if text, err := run(t.Context(), o); err != nil || wishID.FindStringSubmatch(text+"\n") == nil {
		t.Fatalf("got %q, %v", text, err)
	}
	if text, err := run(t.Context(), o); err != nil || text != "It came to: auth broke" {
		t.Errorf("got %q, %v", text, err)
	}
}

// A store that is away is an error that says so.
func TestStoreAway(t *testing.T) {
	p := newPlace(t)
	server := redistest.Start(t)
	server.Kill()
	_, err := run(t.Context(), options{redis: "redis://" + server.Addr, config: p.config, thread: "t", message: "ship"})
	if !errors.Is(err, checkpointer.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, checkpointer.ErrUnavailable)
	}
}

// lines renders the thread, a line a message: its role with its first line or its tool call.
func lines(t *testing.T, url string) []string {
	t.Helper()
	saver, err := redissaver.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	defer saver.Close()
	var all []string
	for m, err := range saver.Messages(t.Context(), checkpointer.Ref{Thread: "release"}, checkpointer.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(m.Text(), "\n")
		for _, part := range m.Parts {
			switch {
			case part.ToolCall != nil:
				text += part.ToolCall.Name
			case part.ToolResult != nil:
				text, _, _ = strings.Cut(part.ToolResult.Content, "\n")
			}
		}
		all = append(all, string(m.Role)+" "+text)
	}
	return all
}
