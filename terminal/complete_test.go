package terminal

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms/room"
)

// spec 1.7: Tab completes the name before the cursor, by the rule that the room itself has.
// The cursor is written as |.
func TestComplete(t *testing.T) {
	c := Chat{Complete: func(before string) []string {
		return room.Complete(before, []string{"proto", "reviewer", "reviser", "Ärzte"})
	}}
	for _, row := range []struct{ typed, want string }{
		{"@p|", "@proto |"},
		{"@PR|", "@proto |"},
		{"@p| what broke?", "@proto | what broke?"},
		{"@r|", "@revi|"},
		{"@proto @revie|", "@proto @reviewer |"},
		{"@proto\u00a0@revie|", "@proto\u00a0@reviewer |"},
		{"@är|", "@Ärzte |"},
		{"@x|", ""},
		{"hello @p|", ""},
		{"@proto hello @r|", ""},
		{"|", ""},
		{"p|", ""},
	} {
		before, after, _ := strings.Cut(row.typed, "|")
		line, pos, ok := c.complete(before+after, len(before), '\t')
		got := ""
		if ok {
			got = line[:pos] + "|" + line[pos:]
		}
		if got != row.want {
			t.Errorf("%q becomes %q, want %q", row.typed, got, row.want)
		}
	}
	if _, _, ok := c.complete("@p", 2, 'x'); ok {
		t.Error("another key completes")
	}
	if _, _, ok := (&Chat{}).complete("@p", 2, '\t'); ok {
		t.Error("a chat without Complete completes")
	}
}
