package clitest

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience is how long anything that a test waits for may take.
const Patience = 40 * time.Second

// Result is what a program came to.
type Result struct {
	// Out and Diag are its standard output and error.
	Out, Diag string
	Status    int
}

// Planted begins every secret that a test gives to a program. It is looked for in all that
// every program of every test has printed.
const Planted = "planted-"

// Process is a running program.
type Process struct {
	t    testing.TB
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *capture
	diag *capture
	done chan struct{}
}

func (f *Folder) start(cmd *exec.Cmd) *Process {
	f.t.Helper()
	p := &Process{t: f.t, cmd: cmd, out: newCapture(), diag: newCapture(), done: make(chan struct{})}
	cmd.Dir, cmd.Env = f.Dir, append(os.Environ(), f.Env...)
	if cmd.Stdout == nil {
		cmd.Stdout = p.out
	}
	cmd.Stderr = p.diag
	cmd.WaitDelay = Patience
	in, err := cmd.StdinPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	p.in = in
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	go func() {
		cmd.Wait() // the status is read from ProcessState
		close(p.done)
	}()
	f.t.Cleanup(func() {
		cmd.Process.Kill() // an error says that it has ended already
		<-p.done
		for name, c := range map[string]*capture{"stdout": p.out, "stderr": p.diag} {
			if strings.Contains(c.String(), Planted) {
				p.t.Errorf("a secret of the test is on %s of %q:\n%s", name, cmd.Args, c)
			}
		}
	})
	return p
}

// PID returns the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Say writes one line of input.
func (p *Process) Say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatalf("writing input: %v", err)
	}
}

// CloseInput ends the input.
func (p *Process) CloseInput() { p.in.Close() }

// Signal sends a signal.
func (p *Process) Signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("%v: %v", s, err)
	}
}

// Wait waits for the end of the program.
func (p *Process) Wait() Result {
	p.t.Helper()
	return p.WaitFor(Patience)
}

// WaitFor waits for the end of the program, which must come within limit.
func (p *Process) WaitFor(limit time.Duration) Result {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		p.t.Fatalf("the program has not ended within %v\nstdout: %s\nstderr: %s", limit, p.out, p.diag)
	}
	return Result{p.out.String(), p.diag.String(), p.cmd.ProcessState.ExitCode()}
}

// Now returns what is on standard output.
func (p *Process) Now() string { return p.out.String() }

// Out waits until standard output contains text, and returns what is there.
func (p *Process) Out(text string) string {
	p.t.Helper()
	return p.await("stdout", p.out, text)
}

// Diag waits until standard error contains text, and returns what is there.
func (p *Process) Diag(text string) string {
	p.t.Helper()
	return p.await("stderr", p.diag, text)
}

func (p *Process) await(name string, c *capture, text string) string {
	p.t.Helper()
	got, err := c.await(p.done, func(s string) bool { return strings.Contains(s, text) })
	if err != nil {
		p.t.Fatalf("%q does not come on %s: %v\nstdout: %s\nstderr: %s", text, name, err, p.out, p.diag)
	}
	return got
}

// Lines waits for the n-th line of JSON (from 1) whose type is typ, and returns all that
// have come.
func (p *Process) Lines(n int, typ string) []Line {
	p.t.Helper()
	got, err := p.out.await(p.done, func(s string) bool {
		found := 0
		for _, l := range ParseLines(p.t, s) {
			if l.Text("type") == typ {
				found++
			}
		}
		return found >= n
	})
	if err != nil {
		p.t.Fatalf("%d of %q do not come: %v\nstdout: %s\nstderr: %s", n, typ, err, p.out, p.diag)
	}
	return ParseLines(p.t, got)
}

// Line is one JSON object of a program's output.
type Line map[string]any

// Text returns a field that is text, "" when it is absent.
func (l Line) Text(key string) string {
	text, _ := l[key].(string)
	return text
}

// ParseLines parses whole lines of JSON; a line without its end is left out.
func ParseLines(t testing.TB, out string) []Line {
	t.Helper()
	var lines []Line
	for text := range strings.Lines(out) {
		if !strings.HasSuffix(text, "\n") {
			break
		}
		var l Line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("not a JSON object: %q: %v", text, err)
		}
		lines = append(lines, l)
	}
	return lines
}

// capture collects output and tells those who wait for something in it.
type capture struct {
	mu      sync.Mutex
	text    strings.Builder
	changed chan struct{}
}

func newCapture() *capture { return &capture{changed: make(chan struct{})} }

// Write never fails.
func (c *capture) Write(data []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
	return c.text.Write(data)
}

// String returns what has come.
func (c *capture) String() string {
	text, _ := c.now()
	return text
}

func (c *capture) now() (string, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String(), c.changed
}

func (c *capture) await(done <-chan struct{}, ok func(string) bool) (string, error) {
	late := time.After(Patience)
	for {
		text, changed := c.now()
		if ok(text) {
			return text, nil
		}
		select {
		case <-changed:
		case <-done:
			if text = c.String(); ok(text) {
				return text, nil
			}
			return text, errors.New("the program has ended")
		case <-late:
			return text, errors.New("it took too long")
		}
	}
}
