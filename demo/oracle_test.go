package demo

import (
	"strings"
	"testing"
)

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
		{"proto", "The build fails in:\nbroken.go:4: the release script is stale\n" + protoSign},
		{"assistant", "Ada has the release."},
		{"proto", "Lunch."},
	}
	wants(t, ask("what about the release?", lines...),
		"On your question I was shown:\n- assistant: Ada has the release.\n- proto: The build fails in: broken.go:4: the release script is stale\n",
		"The newest words are proto's: Lunch.", "Here spoke operator (1), proto (2), assistant (1).", "demo agent")
	twice := ask("build?", lines[1], lines[1])
	if n := strings.Count(twice, "\n- proto: "); n != 1 {
		t.Errorf("the same words are quoted %d times:\n%s", n, twice)
	}
	wants(t, ask("colour?", lines...), "Nothing that I was shown has your question's words in it.")
	wants(t, ask("anything?"), "shown nothing but your question")
	wants(t, ask("is it safe to release?", line{"operator", "is it safe to release?"}), "!- operator")
}
