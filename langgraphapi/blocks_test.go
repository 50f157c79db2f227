package langgraphapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// A picture that a client sends is stored once, and comes back as it was sent, from the record of an
// address too.
func TestSentFilesAreStoredOnce(t *testing.T) {
	picture := "data:image/png;base64," + base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 3000)...))
	bytesOf := base64.StdEncoding.EncodeToString(append([]byte("PK\x03\x04"), make([]byte, 2000)...))
	for name, content := range map[string]string{
		"a picture":          `[{"type":"text","text":"@proto see"},{"type":"image_url","image_url":{"url":"` + picture + `"}}]`,
		"a picture first":    `[ {"type":"image_url", "image_url":"` + picture + `"},"@proto see" ]`,
		"a file":             `[{"type":"text","text":"@proto see"},{"type":"file","name":"a.zip","mime_type":"application/zip","data":"` + bytesOf + `"}]`,
		"of an unknown kind": `[{"type":"text","text":"@proto see"},{"type":"other"},{"type":"image","url":"` + picture + `"}]`,
		"twice the same":     `[{"type":"text","text":"@proto see"},{"type":"image","url":"` + picture + `"},{"type":"image","url":"` + picture + `"}]`,
		"without words":      `[{"type":"image","url":"` + picture + `"}]`,
		"a short one":        `[{"type":"text","text":"@proto see"},{"type":"image","url":"https://h/i.png"}]`,
	} {
		stored, err := inputMessage{Content: json.RawMessage(content)}.stored("human")
		if err != nil {
			t.Fatal(name, err)
		}
		for _, m := range []langrooms.Message{stored, room.NewAddress(langrooms.Operator, []string{"proto"}, "x", "see", false).As(stored)} {
			data, err := m.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if long := bytes.Count(data, []byte(strings.Repeat("A", 2500))); name != "twice the same" && long > 1 {
				t.Errorf("%s is stored %d times", name, long)
			}
			var read langrooms.Message
			if err := read.UnmarshalJSON(data); err != nil {
				t.Fatal(err)
			}
			got := view{lead: "boss"}.message(read, map[string]bool{}).Content
			var want bytes.Buffer
			if err := json.Compact(&want, []byte(content)); err != nil {
				t.Fatal(err)
			}
			if string(got) != want.String() && string(got) != content {
				t.Errorf("%s comes back as %.300s", name, got)
			}
		}
	}
}

// What goes with a message is bounded, and its type is what it shows.
func TestFilesOfAnInput(t *testing.T) {
	file := func(size int) string {
		return `{"type":"file","mime_type":"image/png","data":"` + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), size)) + `"}`
	}
	m, err := inputMessage{Content: json.RawMessage(`[{"type":"text","text":"see"},` + file(9) + `]`)}.stored("human")
	if err != nil || len(m.Files()) != 1 || m.Files()[0].MIMEType != "text/plain" {
		t.Errorf("%+v, %v", m.Parts, err)
	}
	for _, bad := range []string{file(langrooms.MaxFile + 1), strings.Repeat(file(1)+",", langrooms.MaxFiles) + file(1)} {
		if _, err := (inputMessage{Content: json.RawMessage(`["see",` + bad + `]`)}).stored("human"); err == nil || !strings.Contains(err.Error(), "the file cannot go with a message") {
			t.Errorf("%v", err)
		}
	}
}
