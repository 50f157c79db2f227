package demo

import "testing"

func TestOracleAnswersFromTheWindow(t *testing.T) {
	ask := func(question string, lines ...line) string {
		text, err := oracleAnswer(t.Context(), situation{prompt: prompt{lines: lines, question: question}})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	lines := []line{
		{"operator", "who is on the release?"},
		{"proto", "The build fails.\nbroken.go:4: the release script is stale"},
		{"assistant", "Ada has the release."},
		{"proto", "Lunch."},
	}
	wants(t, ask("what about the release?", lines...),
		"On your question I was shown:\n- assistant: Ada has the release.\n- proto: broken.go:4: the release script",
		"The newest words are proto's: Lunch.", "Here spoke operator (1), proto (2), assistant (1).", "demo agent")
	wants(t, ask("colour?", lines...), "Nothing that I was shown has your question's words in it.")
	wants(t, ask("anything?"), "shown nothing but your question")
	wants(t, ask("is it safe to release?", line{"operator", "is it safe to release?"}), "!- operator")
}
