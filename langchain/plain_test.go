package langchain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/langchain"
)

// The plain form holds the newest part within bounds, begins with the operator's side, and
// has the two sides in turn.
func TestPlain(t *testing.T) {
	var thread []langrooms.Message
	for i := range 50 {
		thread = append(thread, langrooms.NewMessage(langrooms.RoleHuman, fmt.Sprint("q", i)), langrooms.NewMessage(langrooms.RoleHuman, "more"),
			langrooms.NewMessage(langrooms.RoleAI, strings.Repeat("a", 4000)))
	}
	thread = append(thread, langrooms.NewMessage(langrooms.RoleHuman, strings.Repeat("z", 40_000)))
	got := langchain.Plain(thread)
	size := 0
	for i, m := range got {
		want := llms.ChatMessageTypeHuman
		if i%2 == 1 {
			want = llms.ChatMessageTypeAI
		}
		if m.Role != want || len(m.Parts) != 1 {
			t.Errorf("message %d is %v", i, m.Role)
		}
		size += len(m.Parts[0].(llms.TextContent).Text)
	}
	newest := got[len(got)-1].Parts[0].(llms.TextContent).Text
	if len(got) < 5 || len(got) > 30 || size > 70_000 || newest != strings.Repeat("z", 40_000) {
		t.Errorf("%d messages of %d bytes, the newest %.20q", len(got), size, newest)
	}
	if whole := langchain.Plain(thread[len(thread)-1:]); len(whole) != 1 {
		t.Errorf("a long message alone: %d", len(whole))
	}
}
