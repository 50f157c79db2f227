package acpagent

import (
	"strings"
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

// An agent is sent what it says that it takes, in blocks of its own kinds, less what its entry
// leaves out; pictures that it sends back are kept.
func TestFilesByCapability(t *testing.T) {
	const png = "iVBORw0KGgo=" // its signature
	files := []delegate.File{
		{Name: "a.png", MIMEType: "image/png", Data: []byte("png"), Stead: "[image a.png]"},
		{Name: "a.wav", MIMEType: "audio/wav", Data: []byte("wav"), Stead: "[audio a.wav]"},
		{Name: "main.go", MIMEType: "text/x-go", Data: []byte("package main"), Stead: "[file main.go]"},
		{Name: "a b.zip", MIMEType: "application/zip", Data: []byte("zip"), Stead: "[file a b.zip]"},
	}
	hello := func(capabilities string) string {
		return rawResult(`{"protocolVersion":1,"agentCapabilities":{"promptCapabilities":` + capabilities + `}}`)
	}
	for _, tt := range []struct {
		can     string
		accepts []string
		want    []string
	}{
		{`{}`, nil, []string{`{"text":"hi\n\n[image a.png]\n\n[audio a.wav]\n\n[file main.go]\n\n[file a b.zip]","type":"text"}]`}},
		{`{"image":true,"audio":true,"embeddedContext":true}`, nil, []string{`{"text":"hi","type":"text"}`,
			`"data":"cG5n","mimeType":"image/png","type":"image"`, `"data":"d2F2","mimeType":"audio/wav","type":"audio"`,
			`"text":"package main","uri":"attachment:///main.go"`, `"blob":"emlw","mimeType":"application/zip","uri":"attachment:///a%20b.zip"`}},
		{`{"image":true,"embeddedContext":true}`, []string{"text/*"}, []string{`{"text":"hi\n\n[image a.png]\n\n[audio a.wav]\n\n[file a b.zip]","type":"text"}`, `"text":"package main"`}},
	} {
		picture := rawUpdate(`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"` + png + `"}}`)
		broken := rawUpdate(`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"%%%"}}`)
		thought := rawUpdate(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"image","mimeType":"image/png","data":"` + png + `"}}`)
		a, c := rawAgent(t, func(c *Config) { c.Accepts = tt.accepts }, hello(tt.can), rawSession, strings.Join([]string{thought, broken, picture, rawEnd}, "\r"))
		reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi", Files: files})
		if err != nil || len(reply.Files) != 1 || reply.Files[0].MIMEType != "image/png" || reply.Files[0].Name != "image.png" {
			t.Errorf("%s: the reply has %+v, %v", tt.can, reply.Files, err)
		}
		sent := requests(t, c)
		for _, want := range tt.want {
			if !strings.Contains(sent, want) {
				t.Errorf("%s: %s is missing in %s", tt.can, want, sent)
			}
		}
	}
}
