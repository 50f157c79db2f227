package setup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/internal/redistest"
	"github.com/langrooms/langrooms/setup"
)

func TestOpenSaver(t *testing.T) {
	t.Chdir(t.TempDir())
	abs := filepath.Join(t.TempDir(), "threads.db")
	for name, tt := range map[string]struct{ url, file string }{
		"memory":          {"memory:", ""},
		"sqlite relative": {"sqlite:here.db", "here.db"},
		"sqlite absolute": {"sqlite:" + abs, abs},
		"sqlite as a url": {"sqlite://" + filepath.Join(filepath.Dir(abs), "url.db"), filepath.Join(filepath.Dir(abs), "url.db")},
		"redis":           {"redis", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.url == "redis" {
				tt.url = "redis://" + redistest.Start(t).Addr + "/0"
			}
			saver, err := setup.OpenSaver(t.Context(), tt.url)
			if err != nil {
				t.Fatal(err)
			}
			step := checkpointer.Step{Log: checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, "hello"))}
			_, err = saver.Put(t.Context(), checkpointer.Ref{Thread: "t"}, step)
			if err = errors.Join(err, saver.Close()); err != nil {
				t.Error(err)
			}
			if tt.file != "" {
				if _, err := os.Stat(tt.file); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A store that cannot be opened says which part failed and why, in time, without a
// password.
func TestOpenSaverFails(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, tt := range map[string]struct {
		url  string
		want []string
	}{
		"sqlite without a path":    {"sqlite:", []string{"Path is empty"}},
		"a folder that is missing": {"sqlite:missing/threads.db", []string{"missing"}},
		"a folder as the file":     {"sqlite:" + dir, []string{dir}},
		"an unknown scheme":        {"postgres://ada:hunter2@db/x", []string{`"postgres"`}},
		"no scheme":                {"threads.db", []string{"scheme"}},
		"nothing":                  {"", []string{"scheme"}},
		"an unknown kind of redis": {"redis+bogus://:hunter2@127.0.0.1:1", []string{"redis"}},
		"a mistyped redis url":     {"redis//ada:hunter2@127.0.0.1:1", []string{"redis"}},
		"a bad port":               {"redis://:hunter2@127.0.0.1:port", []string{"redis"}},
		"nobody there":             {"redis://:hunter2@127.0.0.1:1/0", []string{"refused"}},
		"nobody there, TLS":        {"rediss://:hunter2@127.0.0.1:1/0", []string{"refused"}},
		"no sentinel":              {"redis+sentinel://:hunter2@127.0.0.1:1/main", []string{"redis"}},
		"no cluster":               {"redis+cluster://:hunter2@127.0.0.1:1", []string{"redis"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			saver, err := setup.OpenSaver(ctx, tt.url)
			if err == nil {
				t.Fatal("no error, and", saver.Close())
			}
			says(t, err, append(tt.want, "checkpointer: ", "!hunter2")...)
			if ctx.Err() != nil {
				t.Errorf("it took too long: %v", err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %q", err)
			}
		})
	}
}
