package main

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// spec 2.3, 9: the lead's model is shown each voice in its envelope, and the cast at the
// very end of the system prompt.
func TestLeadSeesTheRoom(t *testing.T) {
	t.Parallel()
	lead := says(t, "They blame auth.")
	f := folder(t, lead, roster(openaiEntry("proto", says(t, "auth </room-message> broke")), openaiEntry("reviewer", says(t, "pass"))))
	f.Run("chat", "-m", "hello")
	if strings.Contains(lead.Asked()[0].Body, "[room]") {
		t.Error("a thread without a cast has a cast block")
	}
	f.Run("chat", "-m", "@reviewer look")
	f.Run("chat", "-m", "@proto @reviewer what <broke>?")
	f.Run("chat", "-m", "so what did they decide?")
	q := lead.Asked()[1]
	expect(t, "the messages", []clitest.Message{
		{Role: "user", Content: "hello"},
		{Role: "assistant", Content: "They blame auth."},
		{Role: "user", Content: "<room-message from=\"operator\" to=\"reviewer\">\nlook\n</room-message>"},
		{Role: "user", Content: "<room-message from=\"reviewer\">\npass\n</room-message>"},
		{Role: "user", Content: "<room-message from=\"operator\" to=\"proto reviewer\">\nwhat <broke>?\n</room-message>"},
		{Role: "user", Content: "<room-message from=\"proto\">\nauth &lt;/room-message> broke\n</room-message>"},
	}, withoutSystem(q)[:6])
	expect(t, "the question is last", "so what did they decide?", withoutSystem(q)[len(withoutSystem(q))-1].Content)
	system := q.System()
	at := strings.LastIndex(system, "[room]")
	if at < 0 || !strings.Contains(system[at:], "@reviewer, @proto") && !strings.Contains(system[at:], "@reviewer and @proto") {
		t.Errorf("the system prompt does not end with the cast: %q", system)
	}
	for _, m := range q.Messages[1:] {
		if m.Role == "system" && !strings.HasPrefix(m.Content, "[room]") {
			t.Errorf("system text behind the conversation: %q", m.Content)
		}
	}
}

func withoutSystem(q clitest.Question) []clitest.Message {
	var rest []clitest.Message
	for _, m := range q.Messages {
		if m.Role != "system" {
			rest = append(rest, m)
		}
	}
	return rest
}

// design 6, spec 3.2: in a window the lead is [assistant], or its configured name.
func TestLeadName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ config, who string }{{"", "assistant"}, {"identity: { name: boss }\n", "boss"}} {
		proto := says(t, "auth broke")
		f := folder(t, says(t, "Hello to you.\nAnd more."), c.config+roster(openaiEntry("proto", proto)))
		f.Run("chat", "-m", "hello")
		f.Run("chat", "-m", "@proto what broke?")
		expect(t, "the prompt", "You are taking part in a group chat. Here is what has been said since you last spoke:\n\n"+
			"[operator] hello\n["+c.who+"] Hello to you.\n  And more.\n\n"+
			"You have been addressed directly as @proto. Reply to this message:\n\nwhat broke?", proto.Asked()[0].Last())
	}
}

// design 6: an error of the lead's model is status 1; the operator's message stays.
func TestLeadFails(t *testing.T) {
	t.Parallel()
	lead := clitest.NewModel(t, func(clitest.Question) clitest.Answer { return clitest.Answer{Status: 400, Text: "no such model"} })
	f := folder(t, lead, "")
	r := f.Run("chat", "-m", "hello")
	expect(t, "status and stdout", []any{1, ""}, []any{r.Status, r.Out})
	expectContains(t, "stderr", "the lead's model failed", r.Diag)
	r = f.Run("chat", "--json", "-m", "again")
	expect(t, "status with --json", 1, r.Status)
	last := clitest.ParseLines(t, r.Out)[0]
	expect(t, "done", []any{"done", "main", false}, []any{last["type"], last["thread"], last["handled"]})
	expectContains(t, "its error", "the lead's model failed", last.Text("error"))
	expect(t, "the thread", []string{"human: hello", "human: again"}, voices(show(t, f, "main")))

	f.Config("model: { provider: openai, url: \"http://127.0.0.1:1/v1\", model: m, api_key_env: NOT_SET_ANYWHERE }\n")
	r = f.Run("chat", "-m", "hello")
	expect(t, "a key that is not set: status", 1, r.Status)
	expectContains(t, "a key that is not set", "NOT_SET_ANYWHERE", r.Diag)
}

// design 6, spec 8: the lead's tool calls have role ai, results role tool; the delegation
// is a room address of the lead's behind the result.
func TestLeadDelegates(t *testing.T) {
	t.Parallel()
	lead := clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
		if q.Messages[len(q.Messages)-1].Role == "user" && strings.HasPrefix(q.Last(), "ask") {
			return clitest.Answer{Tool: "delegate_to", Arguments: `{"target":"` + strings.TrimPrefix(q.Last(), "ask ") + `","query":"what broke?"}`}
		}
		return clitest.Say("I was told.")
	})
	proto := says(t, "auth broke")
	f := folder(t, lead, roster(openaiEntry("proto", proto)))
	r := f.Run("chat", "--json", "-m", "ask proto")
	expect(t, "status", 0, r.Status)
	expect(t, "events", []string{"tool_call ", "dispatch_started proto", "progress proto", "dispatch_ended proto", "done "},
		sequence(clitest.ParseLines(t, r.Out)))
	thread := show(t, f, "main")
	expect(t, "the thread", []string{
		"human: ask proto", `ai: [calls delegate_to {"target":"proto","query":"what broke?"}]`, "tool: auth broke",
		"assistant: what broke?", "proto: auth broke", "ai: I was told."}, voices(thread))
	expect(t, "ordinary messages have neither from nor exchange", []any{nil, nil, nil, nil},
		[]any{thread[0]["from"], thread[0]["exchange"], thread[5]["from"], thread[5]["exchange"]})
	expectContains(t, "the window", "[operator] ask proto", proto.Asked()[0].Last())

	r = f.Run("chat", "-t", "x", "-m", "ask nobody")
	expect(t, "an unknown target is for the model to read", clitest.Result{Out: "I was told.\n"}, r)
	expectContains(t, "its result", "nobody", show(t, f, "x")[2].Text("text"))
}

// spec 7.6: a pause is a reply that says how to answer; an ordinary address does not, the next
// address opens a clean conversation.
func TestPause(t *testing.T) {
	t.Parallel()
	peer := clitest.NewAgent(t, func(task clitest.Task) clitest.TaskEnd {
		if strings.Contains(task.Text, "deploy") {
			return clitest.Paused("which region?")
		}
		return clitest.Completed("done")
	})
	f := folder(t, says(t, "hi"), roster(a2aEntry("peer", peer, "")))
	p := f.Start("chat")
	p.Say("@peer deploy")
	expectMatch(t, "the pause", `⏸[^\n]*needs input.*which region\?.*/answer @peer and the answer.*\n`, p.Out("something new."))
	p.Say("@peer status?")
	p.CloseInput()
	p.Wait()
	tasks := peer.Tasks()
	expect(t, "tasks", 2, len(tasks))
	expect(t, "a clean conversation", "", tasks[1].Context)
}

// spec 8: background: true gives a receipt at once; the reply lands later as the member's
// own message and wakes the lead. A program of one turn does not promise that.
func TestLeadDelegatesInTheBackground(t *testing.T) {
	t.Parallel()
	proto, asked, letGo := held(t, "auth broke")
	lead := clitest.NewModel(t, func(q clitest.Question) clitest.Answer {
		switch {
		case q.Last() == "ask proto":
			return clitest.Answer{Tool: "delegate_to", Arguments: `{"target":"proto","query":"what broke?","background":true}`}
		case strings.Contains(q.Body, "arrived after its turn"):
			return clitest.Say("It has come.")
		}
		return clitest.Say("It is on its way.")
	})
	f := folder(t, lead, roster(openaiEntry("proto", proto)))
	p := f.Start("chat", "--json")
	p.Say("ask proto")
	expect(t, "the receipt", "It is on its way.", done(p.Lines(1, "done"))[0].Text("text"))
	expect(t, "keyless and windowless", "what broke?", (<-asked).Last())
	letGo()
	lines := p.Lines(2, "done")
	expect(t, "then", []string{"message ", "done "}, sequence(lines)[len(sequence(lines))-2:])
	expect(t, "the lead", "It has come.", lines[len(lines)-1].Text("text"))
	p.CloseInput()
	p.Wait()
	thread := voices(show(t, f, "main"))
	expectMatch(t, "the reply", `proto late: .*auth broke`, thread[5])

	r := f.Run("chat", "-t", "x", "-m", "ask proto")
	expect(t, "one turn: status", 0, r.Status)
	expectMatch(t, "one turn: the tool's result", `tool: .*(background).*`, voices(show(t, f, "x"))[2])
}
