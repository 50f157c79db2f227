package main

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
)

// A thread is called as its operator's first words, on one line and bounded; words off the record name
// nothing.
func TestTitleOf(t *testing.T) {
	stamped := func(from, text string, incognito bool) langrooms.Message {
		m := langrooms.NewMessage(langrooms.RoleHuman, text)
		m.Stamp = &langrooms.Stamp{From: from, Incognito: incognito}
		return m
	}
	long := strings.Repeat("word ", 40)
	for name, row := range map[string]struct {
		messages []langrooms.Message
		want     string
	}{
		"a question":         {[]langrooms.Message{langrooms.NewMessage(langrooms.RoleHuman, "what\n\tbroke?")}, "what broke?"},
		"an address":         {[]langrooms.Message{stamped("operator", "what broke?", false)}, "what broke?"},
		"not a member's":     {[]langrooms.Message{stamped("proto", "I did", false), stamped("operator", "who?", false)}, "who?"},
		"off the record":     {[]langrooms.Message{stamped("operator", "planted", true), stamped("operator", "later", false)}, ""},
		"a long one":         {[]langrooms.Message{langrooms.NewMessage(langrooms.RoleHuman, long)}, long[:60] + "…"},
		"nobody's words":     {[]langrooms.Message{langrooms.NewMessage(langrooms.RoleSystem, "notice")}, ""},
		"a thread of no log": {nil, ""},
	} {
		saver := memorysaver.New()
		if len(row.messages) > 0 {
			if _, err := saver.Put(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{Log: checkpointer.Append(row.messages...)}); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, name, row.want, titleOf(t.Context(), saver, "t"))
		if err := saver.Close(); err != nil {
			t.Error(err)
		}
	}
}
