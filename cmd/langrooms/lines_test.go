package main

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/langrooms/langrooms/internal/clitest"
)

// design 6: without a terminal each input line is a turn, until end of input.
func TestLineMode(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), roster(openaiEntry("proto", says(t, "auth broke"))))
	p := f.Start("chat")
	p.Say("hello")
	p.Say("")
	p.Say("@proto what broke?")
	p.Say("@prto again")
	p.CloseInput()
	r := p.Wait()
	expect(t, "stdout, status", clitest.Result{Out: "I am the lead.\nauth broke\n" +
		"Unknown or unreachable delegate: @prto. Available: proto.\nDid you mean @proto?\n"}, r)
	expect(t, "the thread", []string{"human: hello", "ai: I am the lead.", "operator: what broke?", "proto: auth broke"},
		voices(show(t, f, "main")))
}

// design 6: with --json each turn of line mode ends with its own done.
func TestLineModeJSON(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "I am the lead."), roster(openaiEntry("proto", says(t, "auth broke"))))
	p := f.Start("chat", "--json", "-t", "x")
	for i, message := range []string{"hello", "@proto what broke?", "@proto"} {
		p.Say(message)
		lines := p.Lines(i+1, "done")
		last := lines[len(lines)-1]
		expect(t, message, []any{"done", "x", i > 0}, []any{last["type"], last["thread"], last["handled"]})
	}
	p.CloseInput()
	expect(t, "status", 0, p.Wait().Status)
}

// slowFolder has a peer that works until it is let go; its address gives up after a second.
func slowFolder(t testing.TB, lead *clitest.Model, config string) (f *clitest.Folder, peer *clitest.Agent, letGo func()) {
	t.Helper()
	release := make(chan struct{})
	peer = clitest.NewAgent(t, func(task clitest.Task) clitest.TaskEnd {
		select {
		case <-release:
		case <-task.Ctx.Done():
		}
		return clitest.Completed("the late answer")
	})
	f = folder(t, lead, config+roster(a2aEntry("slow", peer, ", poll_timeout_s: 1")))
	return f, peer, func() { close(release) }
}

const collecting = "Still waiting on @slow in the background — a late answer will be posted here if it finishes."

// design 6, spec 7.5: late answers are printed between turns, the late message before the
// lead's turn, which has a done of its own.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	lead := clitest.NewModel(t, func(q clitest.Question) clitest.Answer { return clitest.Say("I have read it.") })
	for _, asJSON := range []bool{true, false} {
		f, _, letGo := slowFolder(t, lead, "")
		if !asJSON {
			p := f.Start("chat")
			p.Say("@slow do it")
			expectMatch(t, "the note", `Delegate @slow failed: still running after 1s without observable progress[^\n]*raise its poll timeout[^\n]*\n\n`+
				collecting+`\n`, p.Out(collecting+"\n"))
			letGo()
			expectMatch(t, "stdout", `(?s).*\*\*@slow\*\* — [^\n]*arrived after its turn[^\n]*\nthe late answer\nI have read it.\n`, p.Out("I have read it.\n"))
			p.CloseInput()
			expect(t, "status", 0, p.Wait().Status)
			continue
		}
		p := f.Start("chat", "--json")
		p.Say("@slow do it")
		first := done(p.Lines(1, "done"))[0]
		expect(t, "notes", any(map[string]any{"collecting": []any{"slow"}}), first["notes"])
		outcome := first["outcomes"].([]any)[0].(map[string]any)
		expect(t, "outcome", []any{true, false, "still_running"}, []any{outcome["collecting"], outcome["ok"], outcome["error_kind"]})
		letGo()
		lines := p.Lines(2, "done")
		expect(t, "the message comes before the lead's done", []string{"message ", "done "}, sequence(lines)[len(sequence(lines))-2:])
		expect(t, "the lead's done", clitest.Line{"type": "done", "thread": "main", "handled": false, "text": "I have read it.", "spent": spent(1)}, lines[len(lines)-1])
		p.CloseInput()
		expect(t, "status", 0, p.Wait().Status)
		thread := show(t, f, "main")
		expect(t, "the late record", true, thread[2]["late"])
		expect(t, "authors", []string{"operator", "slow", "slow", "", ""}, []string{thread[0].Text("from"),
			thread[1].Text("from"), thread[2].Text("from"), thread[3].Text("from"), thread[4].Text("from")})
		expect(t, "the notice and the lead", []string{"system", "ai"}, []string{thread[3].Text("role"), thread[4].Text("role")})
	}
}

// spec 2.9: what addresses nobody cannot be incognito: it is refused, and nothing is sent.
func TestIncognitoOfTheLead(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hello"), "")
	r := f.Run("chat", "--incognito", "-m", "hey @slow hi")
	if r.Status != 2 || r.Out != "" || !strings.Contains(r.Diag, "nothing was sent") {
		t.Errorf("got %+v", r)
	}
	if r := f.Run("thread", "show"); r.Status != 1 {
		t.Errorf("something is on the thread: %+v", r)
	}
}

// spec 7.5, 2.9: a late answer to an incognito address lands and wakes nobody.
func TestLateIncognito(t *testing.T) {
	t.Parallel()
	lead := says(t, "I have read it.")
	f, _, letGo := slowFolder(t, lead, "")
	p := f.Start("chat", "--json", "--incognito")
	p.Say("@slow do it")
	p.Lines(1, "done")
	letGo()
	p.Lines(1, "message")
	p.CloseInput()
	expect(t, "turns", 1, len(done(clitest.ParseLines(t, p.Wait().Out))))
	expect(t, "model calls", 0, len(lead.Asked()))
	thread := show(t, f, "main")
	expect(t, "stamps", []any{true, true, true}, []any{thread[0]["incognito"], thread[1]["incognito"], thread[2]["incognito"]})
	for _, format := range []string{"md", "json"} {
		if r := f.Run("thread", "export", "--format", format); r.Status != 0 || r.Out == "" {
			t.Errorf("export: status %d, %q", r.Status, r.Out)
		} else if got := r.Out; contains(got, "do it") || contains(got, "the late answer") {
			t.Errorf("the %s export has what was said incognito: %s", format, got)
		}
	}
}

// design 6: at end of input the program ends although a late answer is waited for.
func TestEndOfInputEndsCollections(t *testing.T) {
	t.Parallel()
	f, _, letGo := slowFolder(t, says(t, "hi"), "")
	defer letGo()
	p := f.Start("chat")
	p.Say("@slow do it")
	p.Out(collecting)
	p.CloseInput()
	expect(t, "status", 0, p.WaitFor(4*time.Second).Status)
}

// At end of input the running turn finishes, and so do the lines that were read before it.
func TestEndOfInputFinishesTurns(t *testing.T) {
	t.Parallel()
	proto, asked, letGo := held(t, "auth broke")
	f := folder(t, says(t, "I am the lead."), roster(openaiEntry("proto", proto)))
	p := f.Start("chat")
	p.Say("@proto what broke?")
	p.Say("hello")
	<-asked
	p.CloseInput()
	letGo()
	expect(t, "stdout", "auth broke\nI am the lead.\n", p.Wait().Out)
}

// A signal between turns ends the program although its input stays open; when nobody reads
// its output it ends too.
func TestOpenInputDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), "")
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		p := f.Start("chat", "-t", s.String())
		p.Say("hello")
		p.Out("hi\n")
		p.Signal(s)
		expect(t, s.String(), clitest.Result{Out: "hi\n"}, p.WaitFor(5*time.Second))
	}
}

// design 6: with durable continuity the next process on the thread takes a late answer up
// at its start, without any input, and the conversation goes on.
func TestDurableContinuity(t *testing.T) {
	t.Parallel()
	lead := says(t, "I have read it.")
	f, peer, letGo := slowFolder(t, lead, "continuity: durable\n")
	r := f.Run("chat", "-m", "@slow do it")
	expect(t, "status", 0, r.Status)
	expectContains(t, "the note", "Nobody waits for @slow now", r.Out)
	letGo()
	p := f.Start("chat", "--json")
	lines := p.Lines(1, "done")
	expect(t, "without any input", []string{"message ", "done "}, sequence(lines))
	expectContains(t, "the message", "the late answer", voices(show(t, f, "main"))[2])
	p.CloseInput()
	p.Wait()

	expect(t, "status", 0, f.Run("chat", "-m", "@slow and then?").Status)
	expect(t, "status", 0, f.Run("chat", "-m", "@slow and now?").Status)
	tasks := peer.Tasks()
	expect(t, "tasks", 3, len(tasks))
	expect(t, "the context ids after a restart", []string{tasks[0].Assigned, tasks[0].Assigned}, []string{tasks[1].Context, tasks[2].Context})
}

// A later turn of one message, too, begins with what has become ready, so that the lead and
// the members read it.
func TestOneTurnTakesUpWhatIsReady(t *testing.T) {
	t.Parallel()
	f, _, letGo := slowFolder(t, says(t, "I have read it."), "continuity: durable\n")
	f.Run("chat", "-m", "@slow do it")
	letGo()
	soon(t, "the peer is done and it lands", clitest.Patience, func() error {
		r := f.Run("chat", "-m", "and now?")
		if !contains(r.Diag, "The answer of @slow") {
			return errors.New("not yet")
		}
		return nil
	})
	lines := voices(show(t, f, "main"))
	expectContains(t, "before the last message", "the late answer", lines[len(lines)-3])
}

// spec 7.5: of two processes on one thread that wait for the same answer one takes it.
func TestLateAnswerLandsOnce(t *testing.T) {
	t.Parallel()
	f, _, letGo := slowFolder(t, says(t, "I have read it."), "continuity: durable\n")
	first := f.Start("chat", "--json")
	first.Say("@slow do it")
	first.Lines(1, "done")
	second := f.Start("chat", "--json")
	second.Say("hello") // it has begun
	second.Lines(1, "done")
	letGo()
	messages := func() int {
		n := 0
		for _, p := range []*clitest.Process{first, second} {
			n += strings.Count(p.Now(), `"type":"message"`)
		}
		return n
	}
	soon(t, "the message comes", clitest.Patience, func() error {
		if messages() == 0 {
			return errors.New("no message")
		}
		return nil
	})
	for _, p := range []*clitest.Process{first, second} {
		p.Say("and now?") // what lands twice would have landed when this is over
		p.CloseInput()
		expect(t, "status", 0, p.Wait().Status)
	}
	late := 0
	for _, l := range show(t, f, "main") {
		if l["late"] == true {
			late++
		}
	}
	expect(t, "late records and messages shown", []int{1, 1}, []int{late, messages()})
}

// The seed: in memory, continuity and late answers end with the process, and a program of
// one turn does not promise what it will not keep.
func TestMemoryContinuity(t *testing.T) {
	t.Parallel()
	f, peer, letGo := slowFolder(t, says(t, "hi"), "")
	r := f.Run("chat", "-m", "@slow do it")
	if r.Status != 0 || contains(r.Out, "Still waiting") {
		t.Errorf("status %d, %q", r.Status, r.Out)
	}
	letGo()
	p := f.Start("chat")
	p.Say("@slow and then?")
	p.Out("the late answer")
	p.Say("@slow and now?")
	p.CloseInput()
	p.Wait()
	f.Run("chat", "-m", "@slow later?")
	tasks := peer.Tasks()
	expect(t, "tasks", 4, len(tasks))
	expect(t, "after a task that was given up, and after a restart, it begins anew", []string{"", ""}, []string{tasks[1].Context, tasks[3].Context})
	expect(t, "within a process it goes on", tasks[1].Assigned, tasks[2].Context)
}
