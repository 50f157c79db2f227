package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/langrooms/langrooms/internal/clitest"
)

// design 6: thread show --json has one message per line; what is zero is absent.
func TestThreadShow(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), roster(openaiEntry("proto", says(t, "auth\nbroke"))))
	f.Run("chat", "-m", "hello")
	f.Run("chat", "-m", "@proto what broke?")
	lines := show(t, f, "main")
	for _, l := range lines {
		for _, key := range []string{"id", "time"} {
			if l.Text(key) == "" {
				t.Errorf("no %s in %v", key, l)
			}
			delete(l, key)
		}
	}
	x := lines[2]["exchange"]
	expect(t, "the messages", []clitest.Line{
		{"role": "human", "text": "hello"},
		{"role": "ai", "text": "I am the lead.", "usage": map[string]any{"input_tokens": 3.0, "output_tokens": 2.0}},
		{"role": "human", "text": "what broke?", "from": "operator", "to": []any{"proto"}, "exchange": x},
		{"role": "human", "text": "auth\nbroke", "from": "proto", "exchange": x, "round": 1.0,
			"usage": map[string]any{"input_tokens": 3.0, "output_tokens": 2.0}},
	}, lines)
	r := f.Run("thread", "show")
	expectMatch(t, "for people", `[^\n]+  operator\n    hello\n[^\n]+  assistant\n    I am the lead.\n[^\n]+  operator → proto\n    what broke\?\n[^\n]+  proto\n    auth\n    broke\n`, r.Out)
}

// design 6: thread ids are any valid UTF-8 up to 1 KB, line breaks included.
func TestThreadIDs(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "")
	ids := []string{"a\nb", "\n", " ", "ä€😀", strings.Repeat("x", 1024), "*", "a:b|c{d}", "'; DROP TABLE", "-t", "%s", "a\tb\r", "a\u2028\u202eb"}
	for _, id := range ids {
		r := f.Run("chat", "--json", "-t", id, "-m", "hello")
		expect(t, "status", 0, r.Status)
		expect(t, "the thread in done", id, clitest.ParseLines(t, r.Out)[0].Text("thread"))
		expect(t, "the thread", []string{"human: hello", "ai: hi"}, voices(show(t, f, id)))
	}
	listed := map[string]bool{}
	for _, l := range clitest.ParseLines(t, f.Run("thread", "list", "--json").Out) {
		listed[l.Text("thread")] = true
		expect(t, "its length", any(2.0), l["entries"])
		expect(t, "its title", "hello", l.Text("title"))
		expect(t, "fields", 4, len(l))
	}
	for _, id := range ids {
		if !listed[id] {
			t.Errorf("%q is not listed", id)
		}
	}
	if list := f.Run("thread", "list").Out; strings.Count(list, "\n") != len(ids) || !utf8.ValidString(list) || strings.ContainsAny(list, "\u2028\u202e") {
		t.Errorf("the list is not a line a thread: %q", list)
	}
	for _, id := range []string{"", "\xff", "a\xc3", strings.Repeat("x", 1025)} {
		for _, args := range [][]string{{"chat", "-m", "hi"}, {"thread", "show"}, {"thread", "delete", "--yes"}, {"thread", "rewind", "--to", "x"},
			{"thread", "fork", "--to", "y"}, {"thread", "compact", "--summary", "x"}, {"thread", "export"}} {
			r := f.Run(append(args, "-t", id)...)
			if r.Status != 1 || r.Out != "" || !strings.HasPrefix(r.Diag, "langrooms: ") {
				t.Errorf("%q of %.5q: %+v", args, id, r)
			}
		}
		if r := f.Run("thread", "fork", "-t", " ", "--to", id); r.Status != 1 || !strings.HasPrefix(r.Diag, "langrooms: ") {
			t.Errorf("fork to %.5q: %+v", id, r)
		}
	}
}

// Each command on a thread that does not exist says so and has status 1; none creates it.
func TestUnknownThread(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "")
	for _, args := range [][]string{{"show"}, {"show", "--json"}, {"delete", "--yes"}, {"rewind", "--to", "x"}, {"fork", "--to", "y"},
		{"compact", "--summary", "s"}, {"compact"}, {"export"}, {"export", "--format", "json"}} {
		r := f.Run(append(append([]string{"thread"}, args...), "-t", "nope")...)
		expect(t, args[0]+": status and stdout", []any{1, ""}, []any{r.Status, r.Out})
		expectContains(t, args[0]+": stderr", "nope", r.Diag)
	}
	expect(t, "the list", clitest.Result{}, f.Run("thread", "list"))
}

// spec 11: rewind keeps the message and drops what follows, and the peer's conversation.
func TestRewind(t *testing.T) {
	t.Parallel()
	peer := clitest.NewAgent(t, func(clitest.Task) clitest.TaskEnd { return clitest.Completed("done") })
	f := folder(t, says(t, "hi"), "continuity: durable\n"+roster(a2aEntry("peer", peer, "")))
	f.Run("chat", "-m", "hello")
	f.Run("chat", "-m", "@peer secret plan")
	f.Run("chat", "-m", "@peer go on")
	thread := show(t, f, "main")
	r := f.Run("thread", "rewind", "--to", thread[1].Text("id"))
	expect(t, "rewind", clitest.Result{Diag: "Dropped 4 messages.\n"}, r)
	expect(t, "the thread", voices(thread)[:2], voices(show(t, f, "main")))
	f.Run("chat", "-m", "@peer what was it?")
	tasks := peer.Tasks()
	expect(t, "before: the peer's conversation goes on", tasks[0].Assigned, tasks[1].Context)
	expect(t, "after: a new one", "", tasks[2].Context)
	if strings.Contains(tasks[2].Text, "secret plan") {
		t.Errorf("what was erased comes back: %q", tasks[2].Text)
	}
	r = f.Run("thread", "rewind", "--to", "no-such-id")
	expect(t, "an unknown message: status", 1, r.Status)
	expectContains(t, "an unknown message", "no-such-id", r.Diag)
}

// spec 11: fork, compact, export, import, delete.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), roster(openaiEntry("proto", says(t, "auth broke"))))
	f.Run("chat", "-m", "hello")
	f.Run("chat", "-m", "@proto what broke?")
	whole := show(t, f, "main")
	ok := func(args ...string) clitest.Result {
		t.Helper()
		r := f.Run(append([]string{"thread"}, args...)...)
		if r.Status != 0 {
			t.Fatalf("%q: %+v", args, r)
		}
		return r
	}
	ok("fork", "--to", "all")
	expect(t, "a fork of all", whole, show(t, f, "all"))
	ok("fork", "--to", "part", "--at", whole[1].Text("id"))
	expect(t, "a fork of a part", whole[:2], show(t, f, "part"))
	if r := f.Run("thread", "fork", "--to", "part"); r.Status != 1 {
		t.Errorf("a fork to a thread that exists: %+v", r)
	}

	page := ok("export").Out
	expectMatch(t, "Markdown", `# Thread main\n.*\*\*operator\*\*.*> hello\n.*\*\*operator → proto\*\*.*> what broke\?\n.*\*\*proto\*\*.*> auth broke\n`, page)
	data := ok("export", "--format", "json").Out
	p := f.Start("thread", "import", "-t", "copy")
	p.Say(data)
	p.CloseInput()
	expect(t, "import", 0, p.Wait().Status)
	expect(t, "an import has the same messages", whole, show(t, f, "copy"))
	for name, bad := range map[string]string{"an existing thread": data, "no JSON": "hello", "another JSON": "{}"} {
		id := "new"
		if name == "an existing thread" {
			id = "copy"
		}
		p := f.Start("thread", "import", "-t", id)
		p.Say(bad)
		p.CloseInput()
		if r := p.Wait(); r.Status != 1 || !strings.HasPrefix(r.Diag, "langrooms: ") {
			t.Errorf("import of %s: %+v", name, r)
		}
	}

	ok("compact", "--keep", "1", "--summary", "They spoke of auth.")
	expect(t, "compacted", []string{"system: They spoke of auth.", "proto: auth broke"}, voices(show(t, f, "main")))
	ok("compact", "--keep", "0", "-t", "all")
	expect(t, "a summary of the lead's", []string{"system: hi"}, voices(show(t, f, "all")))
	expect(t, "list of one", 1, len(clitest.ParseLines(t, ok("list", "-t", "all", "--json").Out)))
	expect(t, "delete --json", clitest.Result{Out: "{\"thread\":\"all\",\"deleted\":true}\n"}, ok("delete", "-t", "all", "--json"))
	expect(t, "delete", clitest.Result{Diag: "Deleted the thread main.\n"}, ok("delete", "--yes"))
	expect(t, "deleted", 1, f.Run("thread", "show").Status)
	expect(t, "deleting again", 1, f.Run("thread", "delete", "--yes").Status)
}
