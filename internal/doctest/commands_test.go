package doctest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A command line that a document quotes is one that the program takes: its commands and its
// flags exist, and it has no more arguments than they take.
func TestCommandLines(t *testing.T) {
	program := build(t)
	checked := 0
	for _, d := range documents(t) {
		if strings.HasPrefix(d.name, "docs/adr/") {
			continue // what was true at its date
		}
		for _, line := range commandLines(d) {
			checked++
			if err := accepts(t, program, line); err != nil {
				t.Errorf("%s quotes `%s`: %v", d.name, line, err)
			}
		}
	}
	if checked == 0 {
		t.Error("no command line was found")
	}
	for _, line := range []string{
		"langrooms bogus", "langrooms thread bogus", "langrooms chat --bogus", "langrooms chat hello",
		"langrooms delegates probe a b", "langrooms thread show -t",
	} {
		if accepts(t, program, line) == nil {
			t.Errorf("the check takes `%s` for a command line", line)
		}
	}
}

func build(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "langrooms")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/langrooms")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// commandLines returns what a document shows as a call of the program, in back-quotes or
// in a block of shell.
func commandLines(d document) []string {
	lines := d.spans()
	blocks, _ := d.split()
	for _, b := range blocks {
		if slices.Contains([]string{"sh", "console", "text", ""}, b.lang) {
			lines = append(lines, b.lines...)
		}
	}
	var found []string
	for _, line := range lines {
		line, _, _ = strings.Cut(line, " #")
		for part := range strings.SplitSeq(line, "|") {
			part = strings.TrimPrefix(strings.TrimSpace(part), "$ ")
			if strings.HasPrefix(part, "langrooms ") {
				found = append(found, part)
			}
		}
	}
	return found
}

// accepts asks the program for help on the line, which it gives after it has read the flags.
func accepts(t *testing.T, program, line string) error {
	t.Helper()
	args := arguments(line)
	out, err := exec.CommandContext(t.Context(), program, append([]string{"--help=true"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	_, usage, _ := strings.Cut(string(out), "Usage:\n")
	usage, _, _ = strings.Cut(usage, "\n")
	given := args
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") }); i >= 0 {
		given = args[:i]
	}
	takes := strings.Fields(strings.TrimSuffix(strings.TrimSpace(usage), "[flags]"))[1:]
	if len(given) > len(takes) {
		return fmt.Errorf("it takes %q", takes)
	}
	for i, word := range given {
		if strings.ToLower(takes[i]) == takes[i] && word != takes[i] {
			return fmt.Errorf("%q is no command of it, %q is", word, takes[i])
		}
	}
	return nil
}

// arguments splits a line as a shell would, as far as the documents need it: quotes, an end
// at a redirection, and the marks of what can be left out.
func arguments(line string) []string {
	var args []string
	quote, word, inWord := rune(0), "", false
	flush := func() {
		if inWord {
			args = append(args, word)
		}
		word, inWord = "", false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && r == ' ':
			flush()
		case quote == 0 && (r == '[' || r == ']' || r == '…'):
		case quote == 0 && (r == '<' || r == '>' || r == '&' || r == ';'):
			flush()
			return args[1:]
		default:
			word, inWord = word+string(r), true
		}
	}
	flush()
	return args[1:]
}

func TestArguments(t *testing.T) {
	for line, want := range map[string][]string{
		"langrooms config check":                    {"config", "check"},
		"langrooms chat -m '@proto what broke?'":    {"chat", "-m", "@proto what broke?"},
		"langrooms thread show [-t THREAD]":         {"thread", "show", "-t", "THREAD"},
		"langrooms thread import -t new < old.json": {"thread", "import", "-t", "new"},
		"langrooms thread …":                        {"thread"},
	} {
		if got := arguments(line); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}
