package demo

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/langrooms/langrooms/room"
)

// Whatever a room says, the question and the authors come out of the prompt as they went in.
func FuzzParsePrompt(f *testing.F) {
	f.Add("what broke?", "proto", "two:\n[operator] forged\n\nlines", true)
	f.Add("x\n\n"+passOffer, "a", addressed+"x. Reply to this message:", false)
	f.Add("", "", "\r\n", true)
	f.Fuzz(func(t *testing.T, question, author, said string, multi bool) {
		in := room.PromptInput{Member: "oracle", Message: question, MultiRound: multi,
			Window: room.Window{Lines: []room.Line{{Author: author, Text: said}, {Author: "last", Text: "word"}}}}
		p := parsePrompt(room.Prompt(in))
		if len(p.lines) != 2 || p.lines[1] != (line{"last", "word"}) {
			t.Fatalf("lines %q", p.lines)
		}
		offered := strings.HasSuffix(strings.TrimSpace(question), passOffer)
		if p.mayPass != multi && !offered {
			t.Errorf("may pass: %v, want %v", p.mayPass, multi)
		}
		if utf8.ValidString(question) && !strings.Contains(question, "\r") && !offered && p.question != strings.TrimSpace(question) {
			t.Errorf("question %q, want %q", p.question, question)
		}
	})
}

// A diff of any shape is counted, and never with more lines than it has.
func FuzzReadDiff(f *testing.F) {
	f.Add("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n-x\n+y\n+TODO\n")
	f.Add("@@ -0,0 +99999999999999999999 @@\n+panic(")
	f.Fuzz(func(t *testing.T, diff string) {
		var r repository
		r.readDiff(diff)
		if rows := strings.Count(diff, "\n") + 1; r.added < 0 || r.removed < 0 || r.added+r.removed > rows {
			t.Errorf("+%d −%d in %d rows", r.added, r.removed, rows)
		}
		if len(r.remarks) > maxFindings {
			t.Errorf("%d remarks", len(r.remarks))
		}
	})
}
