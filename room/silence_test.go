package room_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/langrooms/langrooms/room"
)

func TestSilent(t *testing.T) {
	silent := []string{
		"", " ", "\n\t ", "\u200b", "\ufeff \u00a0",
		"pass", "Pass", "PASS", "pAsS", " pass\n", "\u3000pass\u00a0", "\ufeffpass", "pass\u200b",
		"pass.", "pass!", "pass?", "pass,", "pass;", "pass:", "pass…", "pass...", "...pass...", "pass。", "¡pass!",
		"(pass)", "[pass]", "{pass}", "<pass>", "（pass）", "【pass】", "⟨pass⟩", "((pass))", "[ pass ]", "(pass.)",
		`"pass"`, "'pass'", "“pass”", "‘pass’", "„pass“", "«pass»", "‹pass›", "「pass」", "『pass』", `"Pass."`, "´pass´", "ʼpassʼ",
		"*pass*", "**pass**", "***pass***", "_pass_", "__pass__", "~~pass~~", "**pass**.",
		"`pass`", "``pass``", "```pass```", "```\npass\n```", "~~~\npass\n~~~", "\n```\n\npass.\n```\n",
		"- pass", "* pass", "+ pass", "• pass", "◦ pass", "1. pass", "2) pass", "> pass", ">> pass", "> - *pass*", "– pass", "— pass —", "−pass", "| pass",
		"-pass-", "pass -", "pass—", "“*pass*”.",
	}
	for _, reply := range silent {
		if !room.Silent(reply) {
			t.Errorf("%q is an answer, want silence", reply)
		}
	}
	answers := []string{
		"...", ".", "-", "***", "```", "``````", "()", "…", "?", "“”", ">", "1.", "•", "- \n-",
		"passed", "passes", "pass it", "compass", "by-pass", "passport",
		"I'd pass on that approach", "Pass, but note the auth change", "pass (for now)", "(pass) nothing to add",
		"no pass", "pass pass", "pass\npass", "pass 1", "1 pass", "12 pass", "1.1 pass", "1234. pass", "pass 👍", "👍", "✓ pass",
		"```text\npass\n```", "p a s s", "p.a.s.s", "**p**ass", "ok", "nothing", "nil", "0",
		"@pass", "#pass", "pass %", "/pass", "pass\\", "pass & go", "päss", "раss",
	}
	for _, reply := range answers {
		if room.Silent(reply) {
			t.Errorf("%q is silence, want an answer", reply)
		}
	}
}

// Silence holds no letter but those of pass, and every word beside it makes an answer.
func FuzzSilent(f *testing.F) {
	for _, reply := range []string{"", "pass", "**Pass.**", "pass, but", "...", "```\npass\n```", "1. pass", "\xff"} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		if room.Silent(reply) {
			word := strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) && r != 'ʼ' && r != 'ʻ' {
					return r
				}
				return -1
			}, reply)
			if word != "" && !strings.EqualFold(word, "pass") {
				t.Errorf("%q counts as silence, but says %q", reply, word)
			}
		}
		if room.Silent(reply + " but note this") {
			t.Errorf("%q and more words count as silence", reply)
		}
		if quoted := "**“" + reply + "”**"; strings.EqualFold(reply, "pass") && !room.Silent(quoted) {
			t.Errorf("%q is not silence", quoted)
		}
	})
}
