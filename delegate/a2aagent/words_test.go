package a2aagent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// inHistory is a task that says nothing but in its history, whose lines are "user" or "agent",
// a colon and the text.
func inHistory(state, lines string) string {
	var all []string
	for _, line := range strings.Split(lines, "|") {
		role, text, _ := strings.Cut(line, ":")
		all = append(all, fmt.Sprintf(`{"role":"ROLE_%s","parts":[{"text":%q}]}`, strings.ToUpper(role), text))
	}
	task := taskV1(state, "", " \n")
	return strings.TrimSuffix(task, "}") + `,"history":[` + strings.Join(all, ",") + `]}`
}

const pauseEnd = "\nParked task: task-1\n\nTo answer it, write /answer @proto and the answer in the terminal chat, or ask the lead to pass it on. A message to @proto begins something new."

// TestWhereWordsStand shows which of a task's words are its answer, wherever it has them.
func TestWhereWordsStand(t *testing.T) {
	const thought = `{"text":"hm","metadata":{"adk_thought":true}}`
	message := func(parts string) reply { return result(`{"message":{"parts":[` + parts + `]}}`) }
	question := func(text string) string {
		return "⏸ @proto needs input before it can go on.\nQuestion: " + text + pauseEnd
	}
	for _, s := range []situation{
		{name: "in the history alone", card: cardV1, text: "It is auth.",
			replies: []reply{result(inTask(inHistory("COMPLETED", "user:what broke?|agent:It is auth.")))}},
		{name: "in a history that has to be asked for", card: cardV1, text: "It is auth.",
			replies: []reply{result(inTask(taskV1("COMPLETED", ""))), result(inHistory("COMPLETED", "agent:It is auth."))}},
		{name: "since our last message", card: cardV1, text: "now",
			replies: []reply{result(inTask(inHistory("COMPLETED", "user:one|agent:before|user:two|agent:now")))}},
		{name: "in pieces that are cut anywhere", card: cardV1, text: "The build broke in main.go:17.",
			replies: []reply{result(inTask(inHistory("COMPLETED", "agent:The build|agent: broke in main.|agent:go:17.")))}},
		{name: "in whole messages", card: cardV1, text: "I read the log.\n\nThe build broke.",
			replies: []reply{result(inTask(inHistory("COMPLETED", "agent:I read the log.|agent:The build broke.")))}},
		{name: "beside what the agent does on the way", card: cardV1, text: "done",
			replies: []reply{result(`{"task":{"id":"task-1","status":{"state":"TASK_STATE_COMPLETED"},"history":[{"role":"ROLE_AGENT","parts":[{"data":{"tool":"ls"}}]},{"role":"ROLE_AGENT","parts":[{"text":"done"}]}]}}`)}},
		{name: "nowhere, and the history cannot be had", card: cardV1, text: "", replies: []reply{result(inTask(taskV1("COMPLETED", ""))), {status: 500}}},
		{name: "a blank artifact beside a spoken status", card: cardV1, text: "status words",
			replies: []reply{result(inTask(taskV1("COMPLETED", "status words", " ", "\n")))}},
		{name: "a failure's in the history", card: cardV1, kind: delegate.KindFailed, accepted: true, says: []string{"its task failed: the disk is full"},
			replies: []reply{result(inTask(taskV1("FAILED", ""))), result(inHistory("FAILED", "agent:the disk is full"))}},
		{name: "every turn ends in waiting, and nothing is asked", card: cardV1, text: "The build broke.",
			replies: []reply{result(inTask(inHistory("INPUT_REQUIRED", "agent:The build broke.")))}},
		{name: "the same, asked for", card: cardV1, text: "The build broke.",
			replies: []reply{result(inTask(taskV1("WORKING", ""))), result(taskV1("INPUT_REQUIRED", "")), result(inHistory("INPUT_REQUIRED", "agent:The build broke."))}},
		{name: "a question in the history is one", card: cardV1, text: question("Which one?"),
			replies: []reply{result(inTask(inHistory("INPUT_REQUIRED", "agent:Which one?")))}},
		{name: "an artifact beside a question", card: cardV1, text: question("Two builds broke.\n\nWhich one?"),
			replies: []reply{result(inTask(taskV1("INPUT_REQUIRED", "Which one?", "Two builds broke.")))}},
		{name: "thoughts are no answer", card: cardV1, text: "It is auth.", replies: []reply{message(thought + `,{"text":"It is auth."}`)}},
		{name: "thoughts by another name", card: cardV1, text: "yes", replies: []reply{message(`{"text":"hm","metadata":{"thought":true}},{"text":"yes","metadata":{"thought":false}}`)}},
		{name: "metadata of the wrong type", card: cardV1, text: "yes", replies: []reply{message(`{"text":"yes","metadata":"none"}`)}},
	} {
		t.Run(s.name, s.run)
	}
}

// TestThoughts shows that a peer's reasoning is progress, told once, whether it is looked at
// or comes with the answer.
func TestThoughts(t *testing.T) {
	thinking := func(state, thought string) string {
		return `{"id":"task-1","status":{"state":"TASK_STATE_` + state + `"},"artifacts":[{"artifactId":"a","parts":[{"text":"` + thought +
			`","metadata":{"adk_thought":true}},{"text":"so"}]}]}`
	}
	f := &fakePeer{card: cardV1, replies: []reply{result(inTask(thinking("WORKING", "hm"))), result(thinking("WORKING", "hm, auth")),
		result(thinking("WORKING", "hm, auth")), result(thinking("COMPLETED", "hm, auth? "+secretToken))}}
	var told []string
	got, err := f.serve(t, nil).Ask(t.Context(), delegate.Request{Prompt: "hi", Progress: func(p langrooms.Progress) {
		if p.Kind == langrooms.ProgressThought {
			told = append(told, p.Text)
		}
	}})
	if want := "hm|, auth|? [redacted]"; err != nil || got.Text != "so" || strings.Join(told, "|") != want {
		t.Errorf("Ask = %q, %v; told %q, want %q", got.Text, err, told, want)
	}
}
