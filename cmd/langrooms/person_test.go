package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// A message is read whole from standard input or a file; a delegate's name goes before a
// file's.
func TestMessageFrom(t *testing.T) {
	t.Parallel()
	lead, proto := says(t, "I am the lead."), says(t, "fine")
	f := folder(t, lead, "lead: { history_max_tokens: 100000 }\n"+roster(openaiEntry("proto", proto)))
	long := "line 1\n" + strings.Repeat("x", 200_000)
	f.Write("question.md", long+"\n")
	f.Write("proto", "a file of that name")
	f.Write("blank", " \n\n")
	p := f.Start("chat", "-t", "a", "-m", "-")
	p.Say("@proto review this:\nline 2\nline 3")
	p.CloseInput()
	expect(t, "from standard input", clitest.Result{Out: "fine\n"}, p.Wait())
	expect(t, "whole", "operator: review this:\nline 2\nline 3", voices(show(t, f, "a"))[0])
	expect(t, "from a file", clitest.Result{Out: "I am the lead.\n"}, f.Run("chat", "-t", "b", "-m", "@question.md"))
	expect(t, "whole", long, lead.Asked()[0].Last())
	expectContains(t, "a delegate goes first", "@proto", f.Run("chat", "-m", "@proto").Out)
	for message, words := range map[string]string{"@./none.md": "no such file", "@blank": "empty"} {
		r := f.Run("chat", "-m", message)
		expect(t, message+": status and stdout", []any{2, ""}, []any{r.Status, r.Out})
		expectContains(t, message, words, r.Diag)
	}
	expect(t, "no other call", []int{1, 1}, []int{len(lead.Asked()), len(proto.Asked())})
}

// With --fail a delegate that did not answer is status 3; --continue goes on where one was.
func TestFailAndContinue(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), roster(openaiEntry("proto", says(t, "fine")),
		"  - { name: dead, type: openai, url: \"http://127.0.0.1:1/v1\", model: m, api_key: planted-k }\n"))
	expect(t, "an answer", 0, f.Run("chat", "--fail", "-m", "@proto hi").Status)
	expect(t, "none, as ever", 0, f.Run("chat", "-t", "x", "-m", "@dead hi").Status)
	r := f.Run("chat", "-t", "x", "--fail", "-m", "@proto @dead hi")
	expect(t, "none", 3, r.Status)
	expectContains(t, "what was answered is there", "fine", r.Out)
	expect(t, "the last thread", 0, f.Run("chat", "--continue", "-m", "hello").Status)
	all := voices(show(t, f, "x"))
	expect(t, "is gone on with", "ai: I am the lead.", all[len(all)-1])
	expect(t, "two names", 2, f.Run("chat", "--continue", "-t", "x", "-m", "hi").Status)
}

// The lead's words are shown as they come, also those beside a tool call, and what it asks a
// member; the status says how long it takes and how to stop it.
func TestTerminalLead(t *testing.T) {
	t.Parallel()
	proto, asked, letGo := held(t, "auth broke")
	lead := clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
		if !strings.Contains(q.Body, `"role":"tool"`) {
			return clitest.Answer{Text: "I will ask proto.", Tool: "delegate_to", Arguments: `{"target":"proto","query":"what broke the build?"}`}
		}
		return clitest.Say("It was auth.")
	})
	f := folder(t, lead, roster(openaiEntry("proto", proto)))
	s := newScreen(t, f, "chat")
	s.until("thread main · sqlite:")
	s.keys("why?", "Enter")
	<-asked
	shown := s.until("@proto is working · ")
	expectContains(t, "its words", "I will ask proto.", shown)
	expectContains(t, "its question", "@assistant → proto — what broke the build?", shown)
	expectContains(t, "how to stop it", "s · Ctrl-C stops", shown)
	letGo()
	shown = s.until("It was auth.")
	expectContains(t, "the member's answer", "@proto — auth broke", shown)
	expect(t, "said once", 1, strings.Count(shown, "I will ask proto."))
}

// A command that does not exist is refused and never sent; the others do what they say.
func TestTerminalCommands(t *testing.T) {
	t.Parallel()
	lead := says(t, "I am the lead.")
	f := folder(t, lead, roster(openaiEntry("proto", says(t, "fine"))))
	expect(t, "another thread", 0, f.Run("chat", "-t", "old", "-m", "@proto earlier words").Status)
	s := newScreen(t, f, "chat")
	s.until("(new)")
	s.keys("/hlp", "Enter")
	s.until("There is no command /hlp.")
	s.keys("/help", "Enter")
	s.until("/retry")
	s.keys("/who", "Enter")
	s.until("@proto            openai")
	s.keys("/threads", "Enter")
	s.until("  old  earlier words\n")
	s.keys("/search EARLIER  words", "Enter")
	s.until("  old  operator → proto: earlier words\n")
	s.keys("/thread old", "Enter")
	shown := s.until("thread old · sqlite:")
	expectContains(t, "what was said there", "operator → proto: earlier words\nproto: fine", shown)
	s.keys("C-l", "hello", "Enter")
	s.until("I am the lead.")
	s.keys("/retry", "Enter")
	s.until("Took back 2 messages; sending yours again.\n› hello\nI am the lead.")
	s.keys("/edit", "Enter")
	s.until("Took back 2 messages; what delegates have done stays done.\n› hello")
	s.keys("C-l", " again", "Enter")
	s.until("› hello again\nI am the lead.")
	s.keys("/quote 3", "Enter")
	s.until("> proto: fine")
	s.keys("C-c", "C-l", "/undo", "Enter")
	s.until("what delegates have done stays done.\n› hello again")
	s.keys("C-c", "/quit", "Enter")
	s.until("the status is 0")
	expect(t, "paid turns", 3, len(lead.Asked()))
	expect(t, "the thread", []string{"operator: earlier words", "proto: fine"}, voices(show(t, f, "old")))
}

// A second chat on a busy thread says that it waits, and shows what the first one says.
func TestTerminalTwoChats(t *testing.T) {
	t.Parallel()
	proto, asked, letGo := held(t, "auth broke")
	f := folder(t, says(t, "I am the lead."), roster(openaiEntry("proto", proto)))
	second := newScreen(t, f, "chat")
	second.until("›")
	first := f.Start("chat", "-m", "@proto what broke?")
	<-asked
	second.until("elsewhere, operator → @proto — what broke?")
	second.keys("hello", "Enter")
	second.until("waiting: another program is using the thread main")
	letGo()
	expect(t, "the first", clitest.Result{Out: "auth broke\n"}, first.Wait())
	shown := second.until("I am the lead.")
	expectContains(t, "the first one's answer", "elsewhere, proto — auth broke", shown)
	expect(t, "our own words are no one else's", 0, strings.Count(shown, "— hello"))
}

// Where the output is no terminal, or a terminal without abilities, there is not one escape;
// a line per event. NO_COLOR takes the colours alone.
func TestTerminalWithoutOne(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), roster(openaiEntry("proto", says(t, "auth broke"))))
	s := newScreen(t, f, "chat | tee log")
	s.until("@proto")
	s.keys("@proto what \\", "Enter", "broke?", "Enter")
	s.until("@proto — auth broke")
	s.keys("/nope", "Enter")
	s.until("There is no command /nope.")
	s.keys("C-d")
	log, err := os.ReadFile(filepath.Join(f.Dir, "log"))
	if err != nil || strings.ContainsAny(string(log), "\x1b\r") {
		t.Errorf("%v: %q", err, log)
	}
	expect(t, "answers", "@proto — auth broke\n", string(log))
	expect(t, "one message", "operator: what \nbroke?", voices(show(t, f, "main"))[0])

	dumb := newScreen(t, f, "chat; echo", "TERM=dumb")
	dumb.until("@proto")
	dumb.keys("hello", "Enter")
	dumb.until("hello\nthe lead is thinking\n")
	dumb.until("I am the lead.")

	plain := newScreen(t, f, "chat", "NO_COLOR=1")
	plain.until("›")
	plain.keys("@proto hi", "Enter")
	plain.until("@proto — auth broke")
	if shown := plain.until("@proto", "-e"); strings.Contains(shown, "\x1b[") {
		t.Errorf("colours: %q", shown)
	}
}
