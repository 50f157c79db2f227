package demo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestProtoSaysWhatBroke(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"a compile error", broken,
			[]string{"`go build ./...` fails in 1 place:\nbroken.go:4: ", "cannot use \"three\"", "demo agent"}},
		{"two files of a subfolder", map[string]string{
			"go.mod": goMod, "a/a.go": "package a\n\nvar A int = \"\"\n", "a/b.go": "package a\n\nvar B = nope\n"},
			[]string{"in 2 places:", "a/a.go:3: ", "a/b.go:3: undefined: nope"}},
		{"a vet finding", map[string]string{
			"go.mod": goMod, "a.go": "package m\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\"%d\", \"x\") }\n"},
			[]string{"It builds. `go vet ./...` fails in 1 place:\na.go:5: "}},
		{"a test that does not compile is found by vet", map[string]string{
			"go.mod": goMod, "a.go": "package m\n", "a_test.go": "package m\n\nvar x int = \"\"\n"},
			[]string{"It builds.", "a_test.go:3: "}},
		{"an import that nobody has", map[string]string{
			"go.mod": goMod, "a.go": "package m\n\nimport _ \"nowhere/at/all\"\n"},
			[]string{"a.go:3: ", "nowhere/at/all"}},
		{"a complaint without a place", map[string]string{"go.mod": "nonsense\n", "a.go": "package m\n"},
			[]string{"fails", "go.mod"}},
		{"a healthy module", healthy, []string{"healthy", "`go build ./...` and `go vet ./...`", "!fails"}},
		{"a module without packages", map[string]string{"go.mod": goMod}, []string{"nothing to build"}},
		{"no module", map[string]string{"readme.txt": "hello"}, []string{"could not look", "no go.mod"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, tt.files)
			text, err := protoAnswer(t.Context(), situation{dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			wants(t, text, tt.want...)
		})
	}
}

func TestProtoLeavesNoProgramBehind(t *testing.T) {
	dir := folder(t, map[string]string{"go.mod": goMod, "main.go": "package main\n\nfunc main() {}\n"})
	if _, err := protoAnswer(t.Context(), situation{dir: dir}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder holds %v (%v), want the two files", entries, err)
	}
}

func TestProtoWithoutTheGoTool(t *testing.T) {
	dir := folder(t, healthy)
	t.Setenv("PATH", t.TempDir())
	text, err := protoAnswer(t.Context(), situation{dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, text, "could not look", "no go tool")
}

func TestProtoInAFolderThatIsGone(t *testing.T) {
	text, err := protoAnswer(t.Context(), situation{dir: filepath.Join(t.TempDir(), "gone")})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, text, "could not look", "cannot be read")
}

func TestAStepMayBeRefused(t *testing.T) {
	no := errors.New("no")
	_, err := protoAnswer(t.Context(), situation{dir: folder(t, healthy), step: func(context.Context, string) error { return no }})
	if !errors.Is(err, no) {
		t.Errorf("got %v, want the refusal", err)
	}
}

func TestProtoReactsToWhatConcernsIt(t *testing.T) {
	said := func(text string) situation { return situation{prompt: prompt{lines: []line{{"reviewer", text}}}} }
	tests := []struct {
		name  string
		files map[string]string
		in    situation
		want  string
	}{
		{"the broken file is among the changes", broken, said("2 changes not committed: a.go, broken.go (new)."),
			"What breaks is a file that reviewer names: broken.go:4: "},
		{"the broken file is not among the changes", broken, said("1 change not committed: unbroken.go."),
			"None of the changes that reviewer lists is where it breaks: broken.go:4: "},
		{"a healthy folder with changes", healthy, said("1 change not committed: fine.go."),
			"What I found healthy is the working folder as it lies here"},
		{"nothing that concerns it", healthy, said("Everything is committed; the working folder is clean."), ""},
		{"no module", map[string]string{}, said("1 change not committed: fine.go."), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.dir = folder(t, tt.files)
			text, err := protoReact(t.Context(), tt.in)
			if err != nil || (tt.want == "") != (text == "") {
				t.Fatalf("got %q, %v", text, err)
			}
			wants(t, text, tt.want)
		})
	}
}
