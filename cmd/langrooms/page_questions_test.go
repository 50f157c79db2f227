package main

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// What a member asks leave for is a card with its choices, in every window; the first answer
// counts, and a reload finds it again.
func TestConsoleLeave(t *testing.T) {
	f := binary.In(t)
	f.Config("model: { provider: demo }\ndelegates:\n%s", asking(t))
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.say("@proto repair it")
	b.until("no question", `find.one("group", "Question of proto")?.innerText.includes("go test ./...")`)
	b.do(chromedpReload())
	b.until("no question after a reload", `find.one("group", "Question of proto")?.innerText.includes("execute")`)
	other := b.second(eval[string](b, "location.href"))
	other.click("button", "Allow once")
	b.says("proto", `I was told {"outcome":{"optionId":"y"`)
	b.until("the question stays", `!find.one("group", "Question of proto")`)
	b.until("the turn goes on", `!find.one("button", "Stop")`)
	b.say("@proto and again")
	b.click("button", "Refuse")
	b.says("proto", "was refused by permissions: ask")
	b.until("the turn goes on", `!find.one("button", "Stop")`)

	code, body := s.ask(t, "POST", "/threads/"+strings.TrimPrefix(eval[string](b, "location.hash"), "#/thread/")+"/runs/wait",
		`{"assistant_id":"agent","input":{"messages":"@proto without anybody"}}`)
	expect(t, "a program's run", 200, code)
	expectContains(t, "a program's run", "(nobody can be asked here)", body)
	s.end(t)
}

// A member that has asked something is answered by its card, and the answer goes to what waits.
func TestConsolePause(t *testing.T) {
	peer := clitest.NewAgent(t, func(task clitest.Task) clitest.TaskEnd {
		if strings.Contains(task.Text, "deploy") {
			return clitest.Paused("which branch?")
		}
		return clitest.Completed("deployed " + task.Text)
	})
	f := binary.In(t)
	f.Config("model: { provider: demo }\ndelegates:\n%s", a2aEntry("proto", peer, ""))
	s := serve(t, f)
	b := browse(t, s.url+"/")
	b.say("@proto deploy")
	b.says("proto", "which branch?")
	b.sees("form", "Question of proto")
	b.types("textbox", "Answer to proto", "main")
	b.click("button", "Answer")
	b.says("proto", "deployed main")
	b.until("it still waits", `!find.one("form", "Question of proto") && !find.one("button", "Stop")`)
	tasks := peer.Tasks()
	expect(t, "the answer goes there alone", "main", tasks[len(tasks)-1].Text)
	s.end(t)
}
