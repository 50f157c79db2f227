package room_test

import (
	"fmt"
	"iter"
	"slices"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// newestFirst stands for a checkpointer's backward reading.
func newestFirst(thread []langrooms.Message) iter.Seq2[langrooms.Message, error] {
	return func(yield func(langrooms.Message, error) bool) {
		for _, m := range slices.Backward(thread) {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// One address to two members, from the operator's text to the operator's answer.
func Example() {
	replies := map[string]string{"reviewer": "I'd blame auth", "proto": "auth.go:7 does not compile"}

	address := room.Parse("@reviewer @proto what broke the build?", []string{"proto", "reviewer"})
	thread := []langrooms.Message{room.NewAddress(langrooms.Operator, address.To, "x1", address.Message, false)}

	run := room.NewRun(address.To, 1)
	var outcomes []langrooms.Outcome
	for _, member := range run.Members() {
		window, err := room.ReadWindow(newestFirst(thread), room.WindowQuery{Member: member, Exchange: "x1"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("--- to @%s\n%s\n", member, room.Prompt(room.PromptInput{
			Member: member, Message: address.Message, Window: window, MultiRound: run.MultiRound()}))

		reply := room.NewReply(langrooms.Stamp{From: member, Exchange: "x1", Round: run.Round(),
			Seen: int64(len(thread))}, replies[member])
		reply.Seq = int64(len(thread))
		thread = append(thread, reply)

		outcome := langrooms.Outcome{Author: member, Round: run.Round(), OK: true, Reply: reply.Text()}
		outcomes = append(outcomes, outcome)
		run = run.Record(outcome)
	}

	_, reason, _ := run.NextRound()
	text, _ := room.Compose(address.To, outcomes, room.NotesOf(outcomes, reason, 1))
	fmt.Printf("--- %s\n%s\n", reason, text)
	fmt.Println("--- the lead reads")
	fmt.Println(room.Envelope(thread[1]))

	// Output:
	// --- to @reviewer
	// what broke the build?
	// --- to @proto
	// You are taking part in a group chat. Here is what has been said since you last spoke:
	//
	// [operator] what broke the build?
	// [reviewer] I'd blame auth
	//
	// You have been addressed directly as @proto. Reply to this message:
	//
	// what broke the build?
	// --- answered
	// **@reviewer** — I'd blame auth
	//
	// **@proto** — auth.go:7 does not compile
	// --- the lead reads
	// <room-message from="reviewer">
	// I'd blame auth
	// </room-message>
}

func ExampleParse() {
	roster := []string{"proto", "reviewer", "claude-code"}
	for _, text := range []string{"@Proto, what broke?", "@proto @nope hi", "@prto hi", "tell @proto"} {
		switch a := room.Parse(text, roster); a.Kind {
		case room.Addressed:
			fmt.Printf("%v: %s\n", a.To, a.Message)
		case room.UnknownDelegate:
			fmt.Println(room.UnknownText(a.Token, roster, a.Near))
		default:
			fmt.Println("for the lead:", text)
		}
	}
	// Output:
	// [proto]: what broke?
	// [proto]: @nope hi
	// Unknown or unreachable delegate: @prto. Available: proto, reviewer, claude-code.
	// Did you mean @proto?
	// for the lead: tell @proto
}
