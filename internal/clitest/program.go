package clitest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Program is a program that was built for the tests of its package.
type Program struct{ path string }

// Path is the program's file.
func (p *Program) Path() string { return p.path }

// Main builds the program in the current folder, without the race detector, runs the
// tests and exits. p is usable from then on.
func Main(m *testing.M, p *Program) {
	status, err := main(m, p)
	if err != nil {
		fmt.Fprintln(os.Stderr, "clitest:", err)
		status = 1
	}
	os.Exit(status)
}

func main(m *testing.M, p *Program) (int, error) {
	dir, err := os.MkdirTemp("", "clitest")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	// Other users run it too, in the tests of what a user may not do.
	if err := os.Chmod(dir, 0o755); err != nil {
		return 0, err
	}
	p.path = filepath.Join(dir, "program")
	build := exec.Command("go", "build", "-o", p.path, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go build: %w\n%s", err, out)
	}
	if err := sideBySide(); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// sideBySide lets more tests run in parallel than there are processors, unless the command
// line says how many: they mostly wait.
func sideBySide() error {
	const flagName = "test.parallel"
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == flagName })
	if given {
		return nil
	}
	return flag.Set(flagName, "12")
}

// Folder is a working folder in which a program runs.
type Folder struct {
	t       testing.TB
	program *Program
	// Dir is its path.
	Dir string
	// Env is added to the environment of what runs there.
	Env []string
}

// In returns a new, empty folder.
func (p *Program) In(t testing.TB) *Folder {
	t.Helper()
	return &Folder{t: t, program: p, Dir: t.TempDir()}
}

// Write writes a file in the folder and returns its path.
func (f *Folder) Write(name, content string) string {
	f.t.Helper()
	path := filepath.Join(f.Dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return path
}

// Config writes the configuration file.
func (f *Folder) Config(format string, args ...any) {
	f.t.Helper()
	f.Write("langgraph-config.yaml", fmt.Sprintf(format, args...))
}

// Run runs the program to its end, with nothing to read.
func (f *Folder) Run(args ...string) Result {
	f.t.Helper()
	p := f.Start(args...)
	p.CloseInput()
	return p.Wait()
}

// Start starts the program with its input open. It is killed with the test at the latest.
func (f *Folder) Start(args ...string) *Process {
	f.t.Helper()
	return f.start(exec.Command(f.program.path, args...))
}

// StartUnread starts the program with a standard output that nobody reads any more.
func (f *Folder) StartUnread(args ...string) *Process {
	f.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		f.t.Fatal(err)
	}
	defer w.Close() // the program has its own
	r.Close()
	cmd := exec.Command(f.program.path, args...)
	cmd.Stdout = w
	return f.start(cmd)
}

// RunAsNobody is Run as the user nobody, in a folder that all can read; only root can.
func (f *Folder) RunAsNobody(args ...string) Result {
	f.t.Helper()
	for dir := f.Dir; dir != os.TempDir() && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil {
			err = os.Chmod(dir, info.Mode()|0o055)
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
	cmd := exec.Command(f.program.path, args...)
	cmd.SysProcAttr = asNobody()
	p := f.start(cmd)
	p.CloseInput()
	return p.Wait()
}

// Command returns the program's path, for a test that runs it by other means.
func (f *Folder) Command() string { return f.program.path }
