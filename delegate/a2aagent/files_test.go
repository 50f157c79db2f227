package a2aagent

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// What a peer takes is what its entry says, else its card, which speaks of texts as words.
func TestFilesByTheCard(t *testing.T) {
	files := []delegate.File{
		{Name: "a.png", MIMEType: "image/png", Data: []byte("png"), Stead: "[image a.png]"},
		{Name: "main.go", MIMEType: "text/plain", Data: []byte("package main"), Stead: "[file main.go]"},
		{MIMEType: "image/*", URL: "https://h/i.png", Stead: "[image i.png]"},
	}
	for _, tt := range []struct {
		modes   string
		accepts []string
		want    string
	}{
		{`["text/plain"]`, nil, "hi\n\n[image a.png]\n\n[file main.go]\n\n[image i.png]"},
		{`["text/plain","image/*"]`, nil, "hi\n\n[file main.go] a.png:image/png:cG5n :https://h/i.png"},
		{`["text/plain"]`, []string{"image/png", "text/*"}, "hi\n\n[image i.png] a.png:image/png:cG5n main.go:text/plain:cGFja2FnZSBtYWlu"},
		{`["image/*"]`, []string{"none/none"}, "hi\n\n[image a.png]\n\n[file main.go]\n\n[image i.png]"},
	} {
		f := &fakePeer{card: strings.Replace(cardV1, "{", `{"defaultInputModes":`+tt.modes+`,`, 1), replies: []reply{result(inTask(taskV1("COMPLETED", "", "hello")))}}
		a := f.serve(t, func(c *Config) { c.Accepts = tt.accepts })
		if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi", Files: files}); err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, p := range messageOf(f.requests()[0])["parts"].([]any) {
			part := p.(map[string]any)
			switch {
			case i == 0:
				got = part["text"].(string)
			case part["url"] != nil:
				got += fmt.Sprintf(" :%v", part["url"])
			default:
				got += fmt.Sprintf(" %v:%v:%v", part["filename"], part["mediaType"], part["raw"])
			}
		}
		if got != tt.want {
			t.Errorf("card %s, accepts %q: sent %q, want %q", tt.modes, tt.accepts, got, tt.want)
		}
	}
}

// Of the files of an answer so many are kept as may go with one message; what cannot be read is
// named in the text alone.
func TestFilesOfAnAnswer(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte("PK\x03\x04"))
	large := base64.StdEncoding.EncodeToString(make([]byte, langrooms.MaxFile+1))
	var parts []string
	for range langrooms.MaxFiles + 2 {
		parts = append(parts, `{"raw":"`+encoded+`","filename":"../a.zip","mediaType":"application/zip"}`)
	}
	parts = append([]string{`{"raw":"%%%","filename":"broken"}`, `{"raw":"` + large + `","filename":"large"}`, `{"url":"https://h/x","filename":"x"}`}, parts...)
	task, err := readResult(json.RawMessage(`{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[` + strings.Join(parts, ",") + `]}]}}`))
	files := task.attached()
	if err != nil || len(files) != langrooms.MaxFiles || files[0].Name != "a.zip" || string(files[0].Data) != "PK\x03\x04" {
		t.Errorf("%d files, %v", len(files), err)
	}
	for _, name := range []string{"broken", "large", "https://h/x", "a.zip"} {
		if !strings.Contains(task.words(), name) {
			t.Errorf("%s is not named", name)
		}
	}
}
