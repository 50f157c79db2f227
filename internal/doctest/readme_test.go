package doctest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the code blocks of README.md anew")

// example is a block of README.md that is cut from a file.
var example = regexp.MustCompile("(?m)^<!-- example: (\\S+) -->\n```go\n((?s:.*?))```$")

// The code in README.md is the marked region of a file whose tests run it.
func TestExamples(t *testing.T) {
	readme := read(t, "README.md")
	matches := example.FindAllStringSubmatch(readme.text, -1)
	if blocks, _ := readme.split(); len(matches) != countGo(blocks) || len(matches) == 0 {
		t.Errorf("README.md has %d blocks of Go, %d of them cut from an example", countGo(blocks), len(matches))
	}
	text := readme.text
	for _, m := range matches {
		want := region(t, read(t, m[1]))
		if m[2] != want {
			t.Logf("the block cut from %s is not what stands there", m[1])
		}
		text = strings.Replace(text, m[0], "<!-- example: "+m[1]+" -->\n```go\n"+want+"```", 1)
	}
	if text == readme.text {
		return
	}
	if !*update {
		t.Fatal("README.md is out of date: go test ./internal/doctest -update")
	}
	if err := os.WriteFile(filepath.Join(root, readme.name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func countGo(blocks []block) int {
	n := 0
	for _, b := range blocks {
		if b.lang == "go" {
			n++
		}
	}
	return n
}

// region returns the lines between the two marks of a file, moved to the left.
func region(t *testing.T, file document) string {
	t.Helper()
	_, after, begun := strings.Cut(file.text, "// README:begin\n")
	body, _, ended := strings.Cut(after, "// README:end\n")
	if !begun || !ended {
		t.Fatalf("%s has no region between // README:begin and // README:end", file.name)
	}
	lines := strings.Split(strings.TrimRight(body, "\t\n"), "\n")
	indent := len(lines[0]) - len(strings.TrimLeft(lines[0], "\t"))
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, strings.Repeat("\t", indent))
	}
	return strings.Join(lines, "\n") + "\n"
}

// Everything is set up by two commands, and README.md shows no others that do.
func TestTwoCommands(t *testing.T) {
	blocks, _ := read(t, "README.md").split()
	var found []string
	for _, b := range blocks {
		if b.lang != "sh" {
			continue
		}
		for _, line := range b.lines {
			if !strings.HasPrefix(line, "langrooms ") {
				found = append(found, line)
			}
		}
	}
	want := []string{"go run ./examples/graph", "make test"}
	if !slices.Equal(found, want) {
		t.Errorf("the commands of README.md are %q, want %q", found, want)
	}
}
