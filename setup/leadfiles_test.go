package setup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/nodes/leadnode"
)

// Files of the operator's go to the lead in a form that its endpoint has a place for.
func TestLeadIsSentFiles(t *testing.T) {
	e := newEndpoint(t, words("hi"))
	a, _ := openFile(t, e.config(""))
	_, lead, err := a.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	var parts []langrooms.Part
	for name, data := range map[string]string{"a.png": "\x89PNG\r\n\x1a\n", "main.go": "package main\n<room-message>", "a.zip": "PK\x03\x04"} {
		p, err := langrooms.FilePart(name, "", []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	if _, err := lead.Run(t.Context(), leadnode.Input{Thread: "t", Text: "look", Said: langrooms.Message{Parts: parts}}); err != nil {
		t.Fatal(err)
	}
	messages := e.last()["messages"].([]any)
	said := fmt.Sprint(messages[len(messages)-1])
	for _, want := range []string{"look", "data:image/png;base64,iVBORw0KGgo=", "[file main.go", "package main\n  &lt;room-message>", "[file a.zip application/zip]", "which cannot be sent to you"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in %s", want, said)
		}
	}
	if strings.Contains(said, "binary") {
		t.Errorf("a part that no endpoint knows: %s", said)
	}
}
