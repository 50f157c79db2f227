package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
	"github.com/langrooms/langrooms/internal/redistest"
)

// screen is the program in a terminal of 100 columns.
type screen struct {
	t      testing.TB
	socket string
}

func newScreen(t testing.TB, f *clitest.Folder, args string, env ...string) *screen {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("tmux is not installed, and CI must not go without it")
		}
		t.Skip("tmux is not installed")
	}
	s := &screen{t, filepath.Join(t.TempDir(), "tmux")}
	s.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", "-c", f.Dir,
		"sh -c 'echo $$ >pid; export XDG_STATE_HOME="+filepath.Join(f.Dir, "state")+"; exec env LC_ALL=C.UTF-8 "+strings.Join(env, " ")+" "+f.Command()+" "+args+"'; echo the status is $?; stty -a | grep -o -- '[- ]icanon'; cat")
	t.Cleanup(func() { s.tmux("kill-server") })
	return s
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-S", s.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TMUX=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// keys types, with tmux's names of keys such as Enter.
func (s *screen) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys"}, keys...)...)
}

// until waits until the screen shows text, and returns it; with escapes, colours are there.
func (s *screen) until(text string, escapes ...string) string {
	s.t.Helper()
	var shown string
	err := redistest.Eventually(clitest.Patience, func() error {
		shown = s.tmux(append([]string{"capture-pane", "-p"}, escapes...)...)
		if !strings.Contains(shown, text) {
			return fmt.Errorf("%q is not shown", text)
		}
		return nil
	})
	if err != nil {
		s.t.Fatalf("%v:\n%s", err, shown)
	}
	return shown
}

// design 6: at a terminal the chat has a prompt, completion, live progress, colours and
// history.
func TestTerminal(t *testing.T) {
	t.Parallel()
	proto, asked, letGo := held(t, "auth \x1b[31mbroke")
	f := folder(t, says(t, "I am the lead."), roster(openaiEntry("proto", proto), openaiEntry("reviewer", says(t, "fine")), openaiEntry("reviser", says(t, "fine"))))
	s := newScreen(t, f, "chat")
	s.until("›")
	s.keys("@pr", "Tab")
	s.until("› @proto")
	s.keys("@rev", "Tab")
	s.until("› @proto @revi")
	s.keys("e", "Tab", "C-u", "@proto what broke?", "Enter")
	<-asked
	s.until("@proto is working")
	letGo()
	shown := s.until("@proto — auth <1B>[31mbroke")
	if strings.Contains(shown, "is working") {
		t.Errorf("the status line stays:\n%s", shown)
	}
	expectContains(t, "the name in colour", "\x1b[1m\x1b[36m@proto", s.until("@proto", "-e"))
	s.keys("hello", "Enter")
	s.until("I am the lead.")
	s.keys("Up", "Up")
	s.until("› @proto what broke?")
	s.keys("C-u", "@nobody hi", "Enter")
	s.until("Unknown or unreachable delegate: @nobody. Available: proto, reviewer, reviser.")
	s.keys("C-d")
	s.until("the status is 0")
}

// Ctrl-C during a turn stops it; at the prompt it ends the program.
func TestTerminalInterrupt(t *testing.T) {
	t.Parallel()
	proto, asked, letGo := held(t, "auth broke")
	defer letGo()
	f := folder(t, says(t, "I am the lead."), roster(openaiEntry("proto", proto)))
	s := newScreen(t, f, "chat")
	s.until("›")
	s.keys("@proto what broke?", "Enter")
	<-asked
	s.keys("C-c")
	s.until("@proto did not answer: stopped by the operator")
	s.keys("hello", "Enter")
	shown := s.until("I am the lead.")
	if strings.Count(shown, "topped by the operator") != 1 || strings.Contains(shown, "error") {
		t.Errorf("the screen is\n%s", shown)
	}
	s.keys("C-c")
	s.until("the status is 0")
	expect(t, "the thread", []string{"operator: what broke?", "proto failed: (stopped by the operator)", "human: hello",
		"ai: I am the lead."}, voices(show(t, f, "main")))
}

// Whatever ends the program, it leaves the terminal as it was.
func TestTerminalIsRestored(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "")
	s := newScreen(t, f, "chat")
	s.until("›")
	data, err := os.ReadFile(filepath.Join(f.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.until("the status is 0")
	s.until(" icanon")
}

// A long line is sent whole.
func TestTerminalLongLine(t *testing.T) {
	t.Parallel()
	lead := says(t, "I am the lead.")
	s := newScreen(t, folder(t, lead, ""), "chat")
	s.until("›")
	s.keys("-l", strings.Repeat("x", 5000))
	s.keys("Enter")
	s.until("I am the lead.")
	asked := lead.Asked()
	expect(t, "model calls", 1, len(asked))
	expect(t, "characters", 5000, len(asked[0].Last()))
}

// pasted pastes text as a terminal does for programs that know of pastes.
func (s *screen) pasted(text string) {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "paste")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.tmux("load-buffer", path)
	s.tmux("paste-buffer", "-p")
}

// A pasted text of five lines is one message, tabs and all; so is what is typed with a
// backslash or Alt-Enter at the end of a line.
func TestTerminalPaste(t *testing.T) {
	t.Parallel()
	lead, proto := says(t, "I am the lead."), says(t, "looks fine")
	f := folder(t, lead, roster(openaiEntry("proto", proto)))
	s := newScreen(t, f, "chat")
	s.until("›")
	s.pasted("@proto please review:\nfunc main() {\n\tprintln(1) // 漢字 \u202egnp\n}\nthanks")
	s.until("  thanks")
	s.keys("Enter")
	shown := s.until("@proto — looks fine")
	expectContains(t, "a control of bidirectional text is shown", "<202E>gnp", shown)
	expect(t, "paid turns", []int{0, 1}, []int{len(lead.Asked()), len(proto.Asked())})
	expect(t, "the message", "operator: please review:\nfunc main() {\n\tprintln(1) // 漢字 \u202egnp\n}\nthanks", voices(show(t, f, "main"))[0])
	s.keys("one \\", "Enter", "two", "M-Enter", "three", "Enter")
	s.until("I am the lead.")
	expect(t, "the message", "one \ntwo\nthree", lead.Asked()[0].Last())
}

// What is typed while a turn runs waits, and is shown to wait. Ctrl-C clears a line that is
// half typed; only an empty one stops or ends. The history outlives the program.
func TestTerminalTypingAhead(t *testing.T) {
	t.Parallel()
	proto, asked, letGo := held(t, "auth broke")
	lead := says(t, "I am the lead.")
	f := folder(t, lead, roster(openaiEntry("proto", proto)))
	s := newScreen(t, f, "chat")
	s.until("›")
	s.keys("@proto what broke?", "Enter")
	<-asked
	s.until("s · Ctrl-C stops")
	s.keys("hello", "Enter", "half a li")
	s.until("queued: hello\n› half a li")
	s.keys("C-c")
	shown := s.until("queued: hello\n›\n")
	expectContains(t, "the turn runs on", "@proto is working", shown)
	letGo()
	s.until("@proto — auth broke\n\n› hello\nI am the lead.\n\n›")
	s.keys("/exit", "Enter")
	s.until("the status is 0")
	again := newScreen(t, f, "chat")
	again.until("›")
	again.keys("Up", "Up")
	again.until("› hello")
	data, err := os.Stat(filepath.Join(f.Dir, "state", "langrooms", "history"))
	if err != nil || data.Mode().Perm() != 0o600 {
		t.Errorf("the history's file: %v, %v", data.Mode(), err)
	}
}

// What arrives while the operator types is shown above the line, which stays.
func TestTerminalLateAnswer(t *testing.T) {
	t.Parallel()
	f, _, letGo := slowFolder(t, says(t, "I have read it."), "")
	s := newScreen(t, f, "chat")
	s.until("›")
	s.keys("@slow do it", "Enter")
	s.until("Still waiting on @slow")
	s.keys("half a li")
	s.until("› half a li")
	letGo()
	s.until("I have read it.")
	s.keys("ne", "Enter")
	s.until("› half a line\nI have read it.\n\n›")
	s.keys("C-d")
	s.until("the status is 0")
	thread := show(t, f, "main")
	expect(t, "the line was whole", "half a line", thread[len(thread)-2].Text("text"))
}
