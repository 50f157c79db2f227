package main

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// A person answers a parked task by /answer; the reply says how, in a person's words.
func TestTerminalAnswersAParkedTask(t *testing.T) {
	t.Parallel()
	peer := clitest.NewAgent(t, func(task clitest.Task) clitest.TaskEnd {
		if strings.Contains(task.Text, "deploy") {
			return clitest.Paused("which branch?")
		}
		return clitest.Completed("deployed " + task.Text)
	})
	f := folder(t, says(t, "hi"), roster(a2aEntry("proto", peer, "")))
	s := newScreen(t, f, "chat")
	s.until("(new)")
	s.keys("/answer @proto main", "Enter")
	s.until("@proto does not wait for an answer.")
	s.keys("@proto deploy", "Enter")
	shown := s.until("begins something new.")
	expectContains(t, "the question", "Question: which branch?", shown)
	expectContains(t, "how to answer", "write /answer @proto and the answer", shown)
	expect(t, "a model's words", 0, strings.Count(shown, "delegate_to"))
	s.keys("/answer @proto main", "Enter")
	s.until("@proto — deployed main")
	s.keys("/quit", "Enter")
	s.until("the status is 0")
	tasks := peer.Tasks()
	expect(t, "asks", 2, len(tasks))
	expect(t, "the answer goes there alone", "main", tasks[1].Text)
	expect(t, "the same conversation", tasks[0].Assigned, tasks[1].Assigned)
}
