package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/langrooms/langrooms/internal/clitest"
	"github.com/langrooms/langrooms/internal/redistest"
)

// effect is how soon a change of the file takes effect, and what is wrong with it is said
// (design 6: within a second); the margin is for a busy machine.
const effect = 3 * time.Second

// soon waits until ok returns nil, or fails.
func soon(t testing.TB, what string, limit time.Duration, ok func() error) {
	t.Helper()
	if err := redistest.Eventually(limit, ok); err != nil {
		t.Errorf("%s, within %v: %v", what, limit, err)
	}
}

// design 5, 6: knobs, roster, name and model of the next turn follow the file; a running
// turn keeps what it started with.
func TestReload(t *testing.T) {
	t.Parallel()
	lead := says(t, "I am the lead.")
	proto, other := says(t, "auth broke"), says(t, "no, the network")
	f := folder(t, lead, "room: { max_rounds: 1 }\n"+roster(openaiEntry("proto", proto)))
	p := f.Start("chat", "--json")
	turns := 0
	turn := func(message string) clitest.Line {
		t.Helper()
		p.Say(message)
		turns++
		all := done(p.Lines(turns, "done"))
		return all[turns-1]
	}
	until := func(what, message, want string) {
		t.Helper()
		began := time.Now()
		for {
			if got := turn(message).Text("text"); contains(got, want) {
				return
			} else if time.Since(began) > effect {
				t.Fatalf("%s: after %v the answer to %q is still %q", what, effect, message, got)
			}
		}
	}
	expect(t, "at first", "auth broke", turn("@proto hi").Text("text"))
	model := "model: { provider: openai, url: \"" + lead.URL + "\", model: m, api_key: planted-k }\n"
	f.Config("%s", model+"room: { max_rounds: 2 }\n"+roster(openaiEntry("proto", proto), openaiEntry("other", other)))
	until("a new delegate and a knob", "@proto @other hi", "The room stopped at its 2-round cap")
	f.Config("%s", model+"room: { max_rounds: 1 }\n"+roster(openaiEntry("other", other)))
	until("a delegate that is gone", "@proto hi", "Unknown or unreachable delegate: @proto. Available: other.")
	f.Config("%s", "identity: { name: boss }\nmodel: { provider: openai, url: \""+says(t, "I am new.").URL+"\", model: m, api_key: planted-k }\n"+roster(openaiEntry("other", other)))
	until("a new model", "hello", "I am new.")
	turn("@other hi")
	asked := other.Asked()
	expectContains(t, "the lead's new name", "[boss] I am new.", asked[len(asked)-1].Last())
	p.CloseInput()
	expect(t, "status", 0, p.Wait().Status)
}

// spec 10: a turn that is running keeps the values it started with; the next one has the new.
func TestRunningTurnKeepsItsValues(t *testing.T) {
	t.Parallel()
	proto, asked, letGo := held(t, "auth broke")
	other := says(t, "no, the network")
	f := folder(t, says(t, "hi"), "room: { max_rounds: 2 }\n"+roster(openaiEntry("proto", proto), openaiEntry("other", other)))
	p := f.Start("chat", "--json")
	p.Say("@proto @other what broke?")
	<-asked
	f.Config("%s", "rooom: {}\nidentity: { name: boss }\nroom: { max_rounds: 1 }\n"+roster(openaiEntry("other", other)))
	p.Lines(1, "notice") // the new file has been taken
	letGo()
	running := done(p.Lines(1, "done"))[0]
	expectContains(t, "the running turn keeps its rounds", "The room stopped at its 2-round cap", running.Text("text"))
	outcomes, _ := running["outcomes"].([]any)
	expect(t, "and its roster, in each round", 4, len(outcomes))
	p.Say("@proto hi")
	next := done(p.Lines(2, "done"))[1]
	expect(t, "the next turn has the new ones", "Unknown or unreachable delegate: @proto. Available: other.", next.Text("text"))
	p.CloseInput()
	expect(t, "status", 0, p.Wait().Status)
}

// design 6: a bad file is said with its name and line, the last good value stays; what
// needs a restart is said.
func TestReloadFaults(t *testing.T) {
	t.Parallel()
	proto := says(t, "auth broke")
	lead := says(t, "hi")
	model := "model: { provider: openai, url: \"" + lead.URL + "\", model: m, api_key: planted-k }\n"
	for _, c := range []struct{ name, config, want string }{
		{"a bad file", model + "room:\n  max_rounds: 1\n    x: 2\n", "langgraph-config.yaml:4"},
		{"an unknown key", model + "rooom: {}\n" + roster(openaiEntry("proto", proto)), "langgraph-config.yaml:2"},
		{"a bad entry", model + roster(openaiEntry("proto", proto), "  - { name: bad, type: smoke }\n"), "langgraph-config.yaml:4"},
		{"another store", model + "checkpointer: { url: \"memory:\" }\n" + roster(openaiEntry("proto", proto)), "checkpointer.url needs a restart"},
		{"another address", model + "server: { addr: \"127.0.0.1:1\" }\n" + roster(openaiEntry("proto", proto)), "server.addr needs a restart"},
	} {
		for _, asJSON := range []bool{false, true} {
			f := folder(t, lead, roster(openaiEntry("proto", proto)))
			args := []string{"chat"}
			if asJSON {
				args = append(args, "--json")
			}
			p := f.Start(args...)
			p.Say("hello")
			p.Out("hi")
			began := time.Now()
			f.Config("%s", c.config)
			if asJSON {
				p.Lines(1, "notice")
				expectContains(t, c.name, c.want, p.Out(c.want))
			} else {
				expectContains(t, c.name, c.want, p.Diag(c.want))
			}
			if took := time.Since(began); took > effect {
				t.Errorf("%s was said after %v", c.name, took)
			} else {
				t.Logf("%s was said after %v", c.name, took)
			}
			p.Say("@proto hi")
			p.Out("auth broke")
			p.CloseInput()
			r := p.Wait()
			expect(t, c.name+": status", 0, r.Status)
			if asJSON {
				expect(t, c.name+": stderr", "", r.Diag)
			} else {
				expect(t, c.name+": stdout", "hi\nauth broke\n", r.Out)
			}
		}
	}
}

// design 6: a delegate that leaves the roster loses its process within 8 s after the turn
// that uses it.
func TestRemovedDelegateLosesItsProcess(t *testing.T) {
	t.Parallel()
	lead := says(t, "hi")
	model := "model: { provider: openai, url: \"" + lead.URL + "\", model: m, api_key: planted-k }\n"
	f := folder(t, lead, roster(acpEntry(t, "coder", "answers")))
	p := f.Start("chat")
	p.Say("@coder do it")
	p.Out("done by the coder")
	pids := agentPIDs(t, f.Dir, "answers")
	if len(pids) != 1 || !alive(pids[0]) {
		t.Fatalf("the agent's processes are %v", pids)
	}
	f.Config("%s", model)
	soon(t, "the process is gone", 8*time.Second, gone(pids...))
	p.CloseInput()
	if r := p.Wait(); r.Status != 0 || strings.Contains(r.Diag, "error") {
		t.Errorf("%+v", r)
	}
}

// A turn that is running keeps its delegate; the process goes when the turn is over.
func TestRemovedDelegateFinishesItsTurn(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hi"), roster(acpEntry(t, "coder", "works")))
	p := f.Start("chat", "--json")
	p.Say("@coder do it")
	p.Lines(1, "progress")
	f.Config("rooom: {}\n")
	p.Lines(1, "notice") // the new file has been taken
	pids := agentPIDs(t, f.Dir, "works")
	if len(pids) != 1 || !alive(pids[0]) {
		t.Fatalf("the agent's processes are %v", pids)
	}
	p.Signal(syscall.SIGINT)
	p.Lines(1, "done")
	soon(t, "the process is gone", 8*time.Second, gone(pids...))
	p.Say("@coder again")
	p.Lines(2, "done")
	p.CloseInput()
	lines := done(clitest.ParseLines(t, p.Wait().Out))
	expect(t, "the turn was stopped, not torn", "stopped", lines[0].Text("reason"))
	expect(t, "with an empty roster an address is a lead turn", false, lines[1]["handled"])
}
