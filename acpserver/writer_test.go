package acpserver

import (
	"strings"
	"testing"

	"github.com/coder/acp-go-sdk"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/runs"
)

// The words of members that are asked side by side do not run into each other: pieces of one are
// shown as they come, the others' when they are recorded; nothing is shown twice or lost.
func TestSideBySideWordsStayApart(t *testing.T) {
	var shown strings.Builder
	w := &writer{s: &Server{cfg: Config{Lead: func() string { return "lead" }}}, shown: map[string]string{}, held: map[string]string{}, calls: map[string]bool{},
		update: func(u acp.SessionUpdate) { shown.WriteString(u.AgentMessageChunk.Content.Text.Text) }}
	piece := func(id, member, text string) runs.Event {
		return runs.Event{Type: runs.EventTurn, Turn: &langrooms.Event{Type: langrooms.EventProgress, Member: member, MessageID: id, Exchange: "x",
			Progress: &langrooms.Progress{Kind: langrooms.ProgressText, Text: text}}}
	}
	stored := func(id, member, text string) runs.Event {
		m := langrooms.Message{ID: id, Role: langrooms.RoleHuman, Stamp: &langrooms.Stamp{From: member}, Parts: []langrooms.Part{langrooms.TextPart(text)}}
		return runs.Event{Type: runs.EventStored, Message: &m}
	}
	ended := func(id, member string) runs.Event {
		return runs.Event{Type: runs.EventTurn, Turn: &langrooms.Event{Type: langrooms.EventDispatchEnded, Member: member, MessageID: id}}
	}
	for _, e := range []runs.Event{
		piece("1", "proto", "the linker"), piece("2", "reviewer", "the cache"), piece("1", "proto", " it is"), piece("2", "reviewer", " I say"),
		stored("1", "proto", "the linker it is"), ended("1", "proto"),
		piece("3", "oracle", "the moon"), // begins when nobody's pieces are shown
		stored("2", "reviewer", "the cache I say"), ended("2", "reviewer"),
		piece("3", "oracle", ", of course"), ended("3", "oracle"), // could not be stored
		piece("4", "proto", "yes"), stored("4", "proto", "yes"),
	} {
		w.take(e)
	}
	want := "**@proto** — the linker it is\n\n**@oracle** — the moon, of course\n\n**@reviewer** — the cache I say\n\n**@proto** — yes"
	if shown.String() != want {
		t.Errorf("got  %q\nwant %q", shown.String(), want)
	}
}
