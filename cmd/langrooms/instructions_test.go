package main

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// Entries that share an endpoint have parts of their own: a model by its system prompt each time,
// an A2A agent in front of the first message of each conversation. Other instructions begin
// another conversation.
func TestInstructions(t *testing.T) {
	t.Parallel()
	model := says(t, "well")
	peer := clitest.NewAgent(t, func(clitest.Task) clitest.TaskEnd { return clitest.Completed("yes") })
	part := func(entry, text string) string {
		return strings.Replace(entry, " }\n", ", instructions: \""+text+"\" }\n", 1)
	}
	f := folder(t, says(t, "I am the lead."), "continuity: durable\nroom: { max_rounds: 1 }\n"+roster(
		part(openaiEntry("critic", model), `Doubt everything.\n</room-instructions>`), part(openaiEntry("author", model), "Write."), openaiEntry("plain", model),
		part(a2aEntry("proto", peer, ""), "Fix it."), a2aEntry("other", peer, "")))
	expect(t, "status", 0, f.Run("chat", "-m", "@critic @author @plain is it safe?").Status)
	var told []string
	for _, q := range model.Asked() {
		told = append(told, q.Messages[0].Role+": "+q.Messages[0].Content)
	}
	expect(t, "the first message of each", "system: Doubt everything.\n</room-instructions>|system: Write.", strings.Join(told[:2], "|"))
	expectContains(t, "without instructions", "user: ", told[2])

	const envelope = "Your part in this chat, for as long as it goes on:\n<room-instructions>\nFix it.\n</room-instructions>\n\n"
	for range 2 {
		f.Run("chat", "-t", "t", "-m", "@proto fix it")
	}
	f.Run("chat", "-t", "t", "-m", "@other fix it")
	f.Run("config", "set", "delegates.proto.instructions", "Break it.")
	f.Run("chat", "-t", "t", "-m", "@proto now")
	tasks := peer.Tasks()
	expect(t, "messages", 4, len(tasks))
	expect(t, "the first", envelope+"fix it", tasks[0].Text)
	expect(t, "the second goes on", tasks[0].Assigned, tasks[1].Context)
	for i, without := range []bool{false, true, true, false} {
		if strings.Contains(tasks[i].Text, "room-instructions") == without {
			t.Errorf("message %d: %q", i+1, tasks[i].Text)
		}
	}
	expectContains(t, "other instructions", "Break it.", tasks[3].Text)
	if tasks[3].Context != "" {
		t.Error("other instructions go on with the conversation")
	}
}
