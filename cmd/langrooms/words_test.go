package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/langrooms/langrooms"
)

// Where there is no configuration file, what changes one says so, and init writes one to
// start from; it never writes over a file.
func TestConfigInit(t *testing.T) {
	t.Parallel()
	f := binary.In(t)
	for _, args := range [][]string{{"config", "set", "room.max_rounds", "2"}, {"delegates", "remove", "proto"},
		{"delegates", "add", "x", "--type", "a2a", "--url", "http://h/"}} {
		r := f.Run(args...)
		expect(t, args[0]+" "+args[1], 1, r.Status)
		expectContains(t, args[0]+" "+args[1], "there is no langgraph-config.yaml to change; `langrooms config init` writes one", r.Diag)
	}
	expect(t, "init", 0, f.Run("config", "init").Status)
	data, err := os.ReadFile(filepath.Join(f.Dir, "langgraph-config.yaml"))
	expect(t, "the error of reading it", nil, err)
	expect(t, "the file", langrooms.DemoConfig, string(data))
	expect(t, "check", 0, f.Run("config", "check").Status)
	expect(t, "set", 0, f.Run("config", "set", "room.max_rounds", "2").Status)
	r := f.Run("config", "init")
	expect(t, "init again", 1, r.Status)
	expectContains(t, "init again", "exists already", r.Diag)
	r = f.Run("config", "set", "delegates.oracl.temperature", "1")
	expect(t, "no entry of the name", 1, r.Status)
	expectContains(t, "no entry of the name", "delegates has no entry for oracl.temperature", r.Diag)
}

// A thread that is not there, or that is there already, is told in one way.
func TestThreadRefusals(t *testing.T) {
	t.Parallel()
	f := binary.In(t)
	f.Config("checkpointer: { url: \"sqlite:t.db\" }\nmodel: { provider: demo }\n")
	expect(t, "a turn", 0, f.Run("chat", "-t", "one", "-m", "hello").Status)
	for _, args := range [][]string{{"show"}, {"delete", "--yes"}, {"rewind", "--to", "x"}, {"fork", "--to", "y"}, {"export"}, {"list"},
		{"compact", "--summary", "x"}} {
		r := f.Run(append([]string{"thread"}, append(args, "-t", "nope")...)...)
		expect(t, args[0], []any{1, "langrooms: there is no thread nope\n"}, []any{r.Status, r.Diag})
	}
	r := f.Run("thread", "fork", "-t", "one", "--to", "one2")
	expect(t, "fork", 0, r.Status)
	r = f.Run("thread", "fork", "-t", "one", "--to", "one2")
	expect(t, "fork again", []any{1, "langrooms: the thread \"one2\" exists already; choose another name with --to\n"}, []any{r.Status, r.Diag})
	r = f.Run("thread", "compact", "-t", "one", "--summary", "x")
	expectContains(t, "compact", "There is nothing to compact", r.Diag)
	r = f.Run("thread", "compact", "-t", "one", "--summary", " ")
	expect(t, "an empty summary", 2, r.Status)
	expectContains(t, "an empty summary", "the text of --summary is empty", r.Diag)
	r = f.Run("delegates", "add", "x")
	expect(t, "a wrong use", []any{2, "langrooms: delegates add: --type is missing\nRun 'langrooms --help' for usage.\n"}, []any{r.Status, r.Diag})
}
