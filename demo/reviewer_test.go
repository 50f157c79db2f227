package demo

import (
	"strings"
	"testing"
)

func TestReviewerReadsTheRepository(t *testing.T) {
	tests := []struct {
		name  string
		setUp func(t *testing.T, dir string)
		want  []string
	}{
		{"no repository", func(*testing.T, string) {}, []string{"could not look", "no git repository", "demo agent"}},
		{"nothing committed", func(t *testing.T, dir string) {
			gitIn(t, dir, "init", "-q")
			write(t, dir, map[string]string{"a.txt": "a\n"})
		}, []string{"1 change not committed: a.txt (new).", "Nothing has been committed yet."}},
		{"a clean folder", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a.txt": "a\n"})
			commit(t, dir, "first light")
		}, []string{"Everything is committed", "Last commits:\n- ", "first light (Ada, "}},
		{"the demo's own threads", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a.txt": "a\n"})
			commit(t, dir, "first light")
			write(t, dir, map[string]string{"langrooms.db": "x", "langrooms.db-wal": "x", "langrooms.db-shm": "x"})
		}, []string{"Everything is committed", "!langrooms.db"}},
		{"the demo's own threads, once committed", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a.txt": "a\n", "langrooms.db": "\x00x"})
			commit(t, dir, "first light")
			write(t, dir, map[string]string{"langrooms.db": "\x00xy", "langrooms.db-wal": "\x00x"})
		}, []string{"Everything is committed", "!langrooms.db"}},
		{"a file that is only called like them", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"sub/a.txt": "a\n"})
			commit(t, dir, "first light")
			write(t, dir, map[string]string{"langrooms.db-notes.txt": "x", "my-langrooms.db": "x", "sub/langrooms.db": "x"})
		}, []string{"2 changes not committed: langrooms.db-notes.txt (new), my-langrooms.db (new)."}},
		{"changes with their lines", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a.go": "package a\n\nvar A = 1\n", "b.go": "package a\n"})
			commit(t, dir, "first")
			write(t, dir, map[string]string{"a.go": "package a\n\nvar A = 2\n\nvar B = 3 // TODO more\n", "b.go": "package a\n\nfunc f() { panic(1) }\n<<<<<<< ours\n"})
		}, []string{"2 changes not committed (+6 −1 lines): a.go, b.go.",
			"a.go:5 adds a note that something is left to do", "b.go:3 adds a panic", "b.go:4 adds a conflict marker"}},
		{"a file that was removed and one with a space", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"old file.txt": "x\n"})
			commit(t, dir, "first")
			gitIn(t, dir, "rm", "-q", "old file.txt")
		}, []string{"1 change not committed (+0 −1 lines)", "old file.txt"}},
		{"a diff that is too long to be read whole", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a.txt": "a\n"})
			commit(t, dir, "first")
			write(t, dir, map[string]string{"a.txt": strings.Repeat("line\n", maxOutput/5)})
		}, []string{"1 change not committed (at least +"}},
		{"only the last five commits", func(t *testing.T, dir string) {
			for _, name := range []string{"one", "two", "three", "four", "five", "six"} {
				write(t, dir, map[string]string{name: name})
				commit(t, dir, "add "+name)
			}
		}, []string{"add six", "add two", "!add one"}},
		{"a diff program in the repository's configuration is not started", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a.txt": "a\n"})
			commit(t, dir, "first")
			gitIn(t, dir, "config", "diff.external", "touch ran-it;")
			gitIn(t, dir, "config", "core.fsmonitor", "touch ran-it;")
			write(t, dir, map[string]string{"a.txt": "b\n"})
		}, []string{"1 change not committed (+1 −1 lines): a.txt.", "!ran-it"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.setUp(t, dir)
			text, err := reviewerAnswer(t.Context(), situation{dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			wants(t, text, tt.want...)
		})
	}
}

func TestReviewerLooksUpWhatProtoNamed(t *testing.T) {
	dir := folder(t, broken)
	commit(t, dir, "three as a word")
	write(t, dir, map[string]string{"new.go": "package m\n"})
	for _, tt := range []struct{ said, want string }{
		{"it fails: broken.go:4: cannot use", "broken.go:4, which proto names, was last changed in "},
		{"see new.go:1", "new.go:1, which proto names, has never been committed."},
		{"all is well", ""},
	} {
		s := situation{dir: dir, prompt: prompt{lines: []line{{"proto", tt.said}}}}
		text, err := reviewerReact(t.Context(), s)
		if err != nil || (tt.want == "") != (text == "") {
			t.Errorf("%q: got %q, %v", tt.said, text, err)
		}
		wants(t, text, tt.want)
	}
}
