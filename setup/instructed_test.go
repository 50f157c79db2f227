package setup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/nodes/leadnode"
)

// The lead is told its instructions behind the programs' own words, in one system message, from
// the turn on that follows the change; what else asks its model is not.
func TestLeadInstructions(t *testing.T) {
	e := newEndpoint(t, words("hi"))
	config := e.config("")
	a, f := openFile(t, config)
	_, lead, err := a.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	turn := func() (system []string) {
		t.Helper()
		if _, err := lead.Run(t.Context(), leadnode.Input{Thread: "t", Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		for _, m := range e.last()["messages"].([]any) {
			if m := m.(map[string]any); m["role"] == "system" {
				system = append(system, fmt.Sprint(m["content"]))
			}
		}
		return system
	}
	plain := turn()
	expect(t, "system messages", 1, len(plain))
	expect(t, "the same from turn to turn", plain, turn())

	const told = "You are a critic.\nDoubt everything."
	f.write(config + "lead: { instructions: \" " + strings.ReplaceAll(told, "\n", `\n`) + "\\n\" }\n")
	eventually(t, func() error {
		if a.Config().Lead.Instructions == "" {
			return fmt.Errorf("the instructions have not come")
		}
		return nil
	})
	instructed := turn()
	expect(t, "system messages with instructions", 1, len(instructed))
	_, after, found := strings.Cut(instructed[0], "\n\n"+told)
	expect(t, "it is told", true, found)
	own, _, _ := strings.Cut(instructed[0], "\n\n"+told)
	expect(t, "nothing else changes", plain[0], own+after)

	if _, err := say(t, a); err != nil {
		t.Fatal(err)
	}
	if asked := fmt.Sprint(e.last()); strings.Contains(asked, "critic") {
		t.Errorf("a call that is no turn of the lead's is told: %s", asked)
	}

	f.write(config)
	eventually(t, func() error {
		if a.Config().Lead.Instructions != "" {
			return fmt.Errorf("the instructions are still there")
		}
		return nil
	})
	expect(t, "taken back", plain, turn())
}
