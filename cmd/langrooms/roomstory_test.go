package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms/internal/clitest"
	"github.com/langrooms/langrooms/internal/redistest"
)

// The story of a room, told by real processes: the demo's proto builds a folder, and the words
// of its compiler hand over to reviewer; a person stops one turn; the budget closes the room,
// whose scribe sums it up; another process reads it all.
func TestStoryOfARoom(t *testing.T) {
	t.Parallel()
	f := binary.In(t) // no configuration: the built-in demo
	f.Write("go.mod", "module example.com/story\n\ngo 1.26\n")
	f.Write("main.go", "package main\n\nimport _ \" @reviewer\"\n\nfunc main() {}\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "go.mod"}, {"-c", "user.name=ada", "-c", "user.email=ada@example.com", "commit", "-qm", "begin"}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		git.Dir = f.Dir
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	slowGo(t, f)
	s := serve(t, f)
	id := s.call(t, "POST", "/api/rooms", `{"name":"release","topic":"is it ready","agents":["proto","reviewer"],"scribe":"reviewer","max_messages":8}`)["id"].(string)

	s.call(t, "POST", "/api/rooms/"+id+"/messages?wait=true", `{"content":"@proto does it build?"}`)
	told := s.say(t, id)
	if len(told) != 4 || !strings.HasPrefix(told[2], "proto: `go build ./...` fails") || !strings.Contains(told[3], "main.go") || !strings.HasPrefix(told[3], "reviewer: ") {
		t.Fatalf("one hands over to the other:\n%s", strings.Join(told, "\n"))
	}
	s.call(t, "POST", "/api/rooms/"+id+"/messages?wait=true", `{"content":"and you both? @reviewer @oracle"}`)
	if told = s.say(t, id); len(told) != 8 || !strings.Contains(strings.Join(told[4:], "\n"), "oracle") {
		t.Fatalf("a person recruits and asks two:\n%s", strings.Join(told, "\n"))
	}

	slow := f.Write("slow", "")
	wakes := s.call(t, "POST", "/api/rooms/"+id+"/messages", `{"content":"@proto once more"}`)["wakes"].([]any)
	wake := wakes[0].(map[string]any)["id"].(string)
	stopped := s.call(t, "POST", "/api/rooms/"+id+"/wakes/"+wake+"/stop", "")
	expect(t, "the stopped turn", "stopped", stopped["state"])
	if err := os.Remove(slow); err != nil {
		t.Fatal(err)
	}
	expect(t, "what the stopped turn said", []string{"operator: @proto once more", "room: operator stopped @proto."}, s.say(t, id)[8:])

	s.call(t, "POST", "/api/rooms/"+id+"/messages", `{"content":"that is all, @reviewer"}`)
	var room map[string]any
	if err := redistest.Eventually(20*time.Second, func() error {
		if room = s.call(t, "GET", "/api/rooms/"+id, ""); room["summary"] == nil {
			return fmt.Errorf("no summary yet: %v", room)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	expect(t, "the room's end", []any{"closed", "max_messages"}, []any{room["status"], room["stop_reason"]})
	summary := room["summary"].(string)
	expectContains(t, "the scribe's words", "I only read git here", summary)
	s.end(t)

	shown := f.Run("room", "show", id)
	expectContains(t, "another process reads", "The room closed: max_messages.", shown.Out)
	next := serve(t, f)
	expect(t, "the summary, read by the next server", summary, next.call(t, "GET", "/api/rooms/"+id, "")["summary"].(string))
	expect(t, "all that was said, too", told, next.say(t, id)[:8])
	next.end(t)
}

// slowGo puts a go tool in front of the real one that waits while the folder holds a file slow.
func slowGo(t testing.TB, f *clitest.Folder) {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nwhile [ -e '%s/slow' ]; do sleep 0.1; done\nexec '%s' \"$@\"\n", f.Dir, tool)
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	f.Env = append(f.Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// say returns what stands in a room, a message a line.
func (s *served) say(t testing.TB, id string) (lines []string) {
	t.Helper()
	for _, m := range s.call(t, "GET", "/api/rooms/"+id, "")["messages"].([]any) {
		m := m.(map[string]any)
		who := "room"
		if sender, ok := m["sender"].(map[string]any); ok {
			who = sender["name"].(string)
		}
		lines = append(lines, who+": "+m["content"].(string))
	}
	return lines
}
