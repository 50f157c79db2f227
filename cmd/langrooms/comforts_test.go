package main

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// Deleting a thread that was not named is asked for first.
func TestDeleteAsks(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "")
	f.Run("chat", "-m", "hello")
	answer := func(text string) clitest.Result {
		p := f.Start("thread", "delete")
		if text != "" {
			p.Say(text)
		}
		p.CloseInput()
		return p.Wait()
	}
	r := answer("n")
	expect(t, "no: status", 1, r.Status)
	expectContains(t, "no: the question", "Delete the thread main? [y/N] ", r.Diag)
	r = answer("")
	expect(t, "nobody to ask: status", 2, r.Status)
	expectContains(t, "nobody to ask", "--yes", r.Diag)
	expect(t, "the thread is still there", 2, len(show(t, f, "main")))
	expect(t, "yes", 0, answer("y").Status)
	expect(t, "deleted", 1, f.Run("thread", "show").Status)
}

// A message is named by the beginning of its id, or counted from the newest.
func TestMessageReferences(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "")
	for _, text := range []string{"one", "two", "three"} {
		f.Run("chat", "-m", text)
	}
	whole := show(t, f, "main")
	fork := func(name, at string, want int) {
		t.Helper()
		r := f.Run("thread", "fork", "--to", name, "--at", at)
		expect(t, name+": status "+r.Diag, 0, r.Status)
		expect(t, name, whole[:want], show(t, f, name))
	}
	fork("newest", "last", 6)
	fork("before", "last~2", 4)
	third := whole[2].Text("id")
	fork("prefix", third[:len(third)-1], 3)
	r := f.Run("thread", "rewind", "--to", third[:2])
	expect(t, "a prefix of many", 1, r.Status)
	expectContains(t, "a prefix of many", "more than one message's id begins with "+third[:2], r.Diag)
	r = f.Run("thread", "rewind", "--to", "last~6")
	expect(t, "counted too far", 1, r.Status)
	expectContains(t, "counted too far", "has no message last~6", r.Diag)
	expect(t, "rewind", 0, f.Run("thread", "rewind", "--to", "last~4").Status)
	expect(t, "what a rewind keeps", whole[:2], show(t, f, "main"))
}

func TestConfigGet(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "room: { max_rounds: 99 }\n"+roster(openaiEntry("proto", says(t, "x"))))
	expect(t, "a clamped value", clitest.Result{Out: "10\n"}, f.Run("config", "get", "room.max_rounds"))
	expect(t, "an entry's value", clitest.Result{Out: "m\n"}, f.Run("config", "get", "delegates.proto.model"))
	expect(t, "setting it", 0, f.Run("config", "set", "delegates.proto.model", "n").Status)
	expect(t, "an entry's new value", clitest.Result{Out: "n\n"}, f.Run("config", "get", "delegates.proto.model"))
	r := f.Run("config", "get", "delegates.proto.api_key")
	if r.Status != 0 || strings.Contains(r.Out, clitest.Planted) {
		t.Errorf("a secret: %+v", r)
	}
	r = f.Run("config", "get", "room.nope")
	expect(t, "an unknown key", 1, r.Status)
	expectContains(t, "an unknown key", "room.nope", r.Diag)
}

func TestVersionAndCompletion(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), roster(openaiEntry("proto", says(t, "x"))))
	expectMatch(t, "--version", `langrooms \S.*\n`, f.Run("--version").Out)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		r := f.Run("completion", shell)
		expect(t, shell, 0, r.Status)
		expectContains(t, shell, "langrooms", r.Out)
	}
	expectContains(t, "names are offered", "proto\ta model\n", f.Run("__complete", "delegates", "probe", "").Out)
	expectContains(t, "keys are offered", "room.max_rounds\n", f.Run("__complete", "config", "set", "room").Out)
}

// The demo's model cannot summarize, and must not put a phrase in place of words.
func TestDemoDoesNotCompact(t *testing.T) {
	t.Parallel()
	f := binary.In(t)
	for _, text := range []string{"one", "two"} {
		f.Run("chat", "-m", text)
	}
	before := show(t, f, "main")
	r := f.Run("thread", "compact", "--keep", "1")
	expect(t, "status", 1, r.Status)
	expectContains(t, "the refusal", "--summary", r.Diag)
	expect(t, "the thread", before, show(t, f, "main"))
	expect(t, "a summary of one's own", 0, f.Run("thread", "compact", "--keep", "1", "--summary", "greetings").Status)
	after := show(t, f, "main")
	expect(t, "messages", 2, len(after))
	r = f.Run("thread", "show", "--all", "--json")
	expect(t, "all of it", before, clitest.ParseLines(t, r.Out))
	expect(t, "which changes nothing", after, show(t, f, "main"))
	r = f.Run("thread", "uncompact")
	expect(t, "status of uncompact, "+r.Diag, 0, r.Status)
	expectContains(t, "what it did", "Put 3 messages back", r.Diag)
	expect(t, "the thread again", before, show(t, f, "main"))
	expectContains(t, "once more", "nothing to put back", f.Run("thread", "uncompact").Diag)
	expectContains(t, "no such thread", "there is no thread none", f.Run("thread", "uncompact", "-t", "none").Diag)
}

// What would break the numbers of a shared session is refused.
func TestSharedSessionKeepsItsNumbers(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "")
	for _, args := range [][]string{{"rewind", "--to", "last"}, {"compact", "--summary", "x"}} {
		r := f.Run(append([]string{"thread"}, append(args, "-t", "room_0123456789abcdef")...)...)
		expect(t, args[0]+": status", 1, r.Status)
		expectContains(t, args[0], "is a shared session", r.Diag)
	}
}
