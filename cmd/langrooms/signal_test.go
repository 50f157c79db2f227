package main

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/langrooms/langrooms/internal/clitest"
	"github.com/langrooms/langrooms/internal/redistest"
)

// gone is an error while one of the processes lives.
func gone(pids ...int) func() error {
	return func() error {
		for _, pid := range pids {
			if alive(pid) {
				return fmt.Errorf("the process %d lives", pid)
			}
		}
		return nil
	}
}

// design 6, spec 5.5: SIGINT stops the running turn; the record says so and the next turn
// works at once.
func TestInterruptInLineMode(t *testing.T) {
	t.Parallel()
	proto, asked, letGo := held(t, "auth broke")
	f := folder(t, says(t, "I am the lead."), roster(openaiEntry("proto", proto)))
	p := f.Start("chat", "--json")
	p.Say("@proto what broke?")
	q := <-asked
	p.Signal(syscall.SIGINT)
	first := done(p.Lines(1, "done"))[0]
	<-q.Ctx.Done() // the peer is told by the end of its request
	outcome := first["outcomes"].([]any)[0].(map[string]any)
	expect(t, "the result", []any{"stopped", false, "stopped", nil}, []any{first["reason"], outcome["ok"], outcome["error_kind"], first["error"]})
	letGo()
	p.Say("@proto what broke?")
	expect(t, "the next turn", "auth broke", done(p.Lines(2, "done"))[1].Text("text"))
	p.CloseInput()
	expect(t, "status", 0, p.Wait().Status)
	expect(t, "the thread", []string{"operator: what broke?", "proto failed: (stopped by the operator)",
		"operator: what broke?", "proto: auth broke"}, voices(show(t, f, "main")))
}

// A turn of the lead is stopped the same way; what the operator said stays.
func TestInterruptTheLead(t *testing.T) {
	t.Parallel()
	lead, asked, letGo := held(t, "I am the lead.")
	f := folder(t, lead, "")
	p := f.Start("chat")
	p.Say("hello")
	<-asked
	p.Signal(syscall.SIGINT)
	p.Out("Stopped by the operator.\n")
	letGo()
	p.Say("again")
	p.Out("I am the lead.\n")
	p.CloseInput()
	expect(t, "the whole", clitest.Result{Out: "Stopped by the operator.\nI am the lead.\n"}, p.Wait())
	expect(t, "the thread", []string{"human: hello", "human: again", "ai: I am the lead."}, voices(show(t, f, "main")))
}

// A turn that waits for a thread which another process has can be stopped too.
func TestInterruptTheWait(t *testing.T) {
	t.Parallel()
	proto, asked, letGo := held(t, "auth broke")
	f := folder(t, says(t, "hi"), roster(openaiEntry("proto", proto)))
	holder := f.Start("chat", "-m", "@proto what broke?")
	<-asked
	p := f.Start("chat", "-m", "hello")
	soonBusy(t, f)
	p.Signal(syscall.SIGINT)
	expect(t, "the waiter", clitest.Result{Out: "Stopped by the operator.\n"}, p.WaitFor(5*time.Second))
	letGo()
	expect(t, "the holder", clitest.Result{Out: "auth broke\n"}, holder.Wait())
}

// soonBusy waits until the program has surely had the time to begin its turn: another one
// that was started later has gone through its own.
func soonBusy(t testing.TB, f *clitest.Folder) {
	t.Helper()
	for i := range 3 {
		if r := f.Run("chat", "-t", fmt.Sprint("later", i), "-m", "hello"); r.Status != 0 {
			t.Fatalf("%+v", r)
		}
	}
}

// design 6: with -m SIGINT ends the program within 5 s; SIGTERM too. The agent's processes
// end with the program within 4 s, also when they resist.
func TestSignalEndsOneTurn(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"works", "resists"} {
		for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			f := folder(t, says(t, "hi"), roster(acpEntry(t, "coder", mode)))
			p := f.Start("chat", "--json", "-m", "@coder do it")
			p.Lines(1, "progress")
			p.Signal(s)
			r := p.WaitFor(5 * time.Second)
			expect(t, mode+": reason", "stopped", done(clitest.ParseLines(t, r.Out))[0].Text("reason"))
			pids := agentPIDs(t, f.Dir, mode)
			expect(t, mode+": processes", 1, len(pids))
			soon(t, mode+": the agent is gone", 4*time.Second, gone(pids...))
			expect(t, "the record", "coder: working on it\n\n(The answer is incomplete: stopped by the operator)", voices(show(t, f, "main"))[1])
		}
	}
}

// Children end with the program, whatever ends it.
func TestChildrenEnd(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"answers", "resists"} {
		for _, end := range []string{"end of input", "SIGKILL"} {
			f := folder(t, says(t, "hi"), roster(acpEntry(t, "coder", mode)))
			p := f.Start("chat", "--json")
			p.Say("@coder do it")
			p.Lines(1, "progress")
			if mode == "answers" {
				p.Lines(1, "done")
			}
			pids := agentPIDs(t, f.Dir, mode)
			expect(t, "processes", 1, len(pids))
			if end == "SIGKILL" {
				p.Signal(syscall.SIGKILL)
			} else {
				p.CloseInput()
				if mode == "resists" {
					p.Signal(syscall.SIGINT)
				}
			}
			p.Wait()
			soon(t, mode+", "+end+": the agent is gone", 4*time.Second, gone(pids...))
		}
	}
}

// Who reads the output goes away in the middle: the program ends, and its children too.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), roster(acpEntry(t, "coder", "answers")))
	for _, args := range [][]string{{"chat"}, {"chat", "--json"}} {
		p := f.StartUnread(args...)
		p.Say("@coder do it")
		p.Say("hello") // and the input stays open
		expect(t, "status; nothing is said of it", clitest.Result{Status: 1}, p.WaitFor(10*time.Second))
	}
	pids := agentPIDs(t, f.Dir, "answers")
	expect(t, "processes", 2, len(pids))
	soon(t, "the agents are gone", 4*time.Second, gone(pids...))
}

// spec 5.5: a peer that speaks A2A is told to cancel the task.
func TestInterruptCancelsTheTask(t *testing.T) {
	t.Parallel()
	asked, canceled := make(chan struct{}), make(chan struct{})
	peer := clitest.NewAgent(t, func(task clitest.Task) clitest.TaskEnd {
		close(asked)
		<-task.Ctx.Done()
		close(canceled)
		return clitest.Completed("never heard")
	})
	f := folder(t, says(t, "hi"), roster(a2aEntry("peer", peer, "")))
	p := f.Start("chat", "-m", "@peer do it")
	<-asked
	p.Signal(syscall.SIGINT)
	expect(t, "the whole", clitest.Result{Out: "@peer did not answer: stopped by the operator\n"}, p.WaitFor(5*time.Second))
	select {
	case <-canceled:
	case <-time.After(clitest.Patience):
		t.Error("the task was not canceled")
	}
}

// design 6: that holds too while the store is away.
func TestInterruptWithoutAStore(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proto, asked, letGo := held(t, "auth broke")
	defer letGo()
	f := folder(t, says(t, "hi"), fmt.Sprintf("checkpointer: { url: \"redis://%s/0\" }\n", server.Addr)+roster(openaiEntry("proto", proto)))
	p := f.Start("chat", "-m", "@proto what broke?")
	<-asked
	server.Kill()
	p.Signal(syscall.SIGINT)
	r := p.WaitFor(5 * time.Second)
	expectContains(t, "stdout", "@proto did not answer: stopped by the operator", r.Out)
	expectContains(t, "stdout", "could not be stored", r.Out)
}
