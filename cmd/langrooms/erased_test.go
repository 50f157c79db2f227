package main

import (
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// spec 7.3, 11: what another process has erased is not continued by one that kept running; a
// compaction is no erasing.
func TestErasedUnderARunningProcess(t *testing.T) {
	t.Parallel()
	for _, config := range []string{"", "continuity: durable\n"} {
		peer := clitest.NewAgent(t, func(clitest.Task) clitest.TaskEnd { return clitest.Completed("done") })
		f := folder(t, says(t, "hi"), config+roster(a2aEntry("peer", peer, "")))
		p := f.Start("chat", "--json")
		asked := 0
		ask := func() {
			t.Helper()
			asked++
			p.Say("@peer go on")
			p.Lines(asked, "done")
		}
		change := func(args ...string) {
			t.Helper()
			if r := f.Run(append([]string{"thread"}, args...)...); r.Status != 0 {
				t.Fatalf("%q: %+v", args, r)
			}
		}
		ask()
		ask()
		change("rewind", "--to", show(t, f, "main")[1].Text("id"))
		ask()
		ask()
		change("compact", "--keep", "1", "--summary", "so far")
		ask()
		change("delete", "--yes")
		ask()
		p.CloseInput()
		expect(t, "status", 0, p.Wait().Status)
		tasks := peer.Tasks()
		var contexts []string
		for _, task := range tasks {
			contexts = append(contexts, task.Context)
		}
		one, two := tasks[0].Assigned, tasks[2].Assigned
		expect(t, "context ids", []string{"", one, "", two, two, ""}, contexts)
	}
}
