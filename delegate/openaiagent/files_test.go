package openaiagent

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/delegate"
)

// A model is sent what its entry accepts, each kind in its place, and told the rest.
func TestFilesInTheRequest(t *testing.T) {
	files := []delegate.File{
		{Name: "a.png", MIMEType: "image/png", Data: []byte("png"), Stead: "[image a.png]"},
		{MIMEType: "image/*", URL: "https://h/i.png", Stead: "[image i.png]"},
		{Name: "a.mp3", MIMEType: "audio/mpeg", Data: []byte("mp3"), Stead: "[audio a.mp3]"},
		{Name: "a.pdf", MIMEType: "application/pdf", Data: []byte("pdf"), Stead: "[file a.pdf]"},
		{Name: "a.zip", MIMEType: "application/zip", Data: []byte("zip"), Stead: "[file a.zip]"},
	}
	for accepts, want := range map[string]string{
		"": "hi\n\n[image a.png]\n\n[image i.png]\n\n[audio a.mp3]\n\n[file a.pdf]\n\n[file a.zip]",
		"image/* audio/mpeg application/pdf": "[map[text:hi\n\n[file a.zip] type:text] map[image_url:map[url:data:image/png;base64,cG5n] type:image_url]" +
			" map[image_url:map[url:https://h/i.png] type:image_url] map[input_audio:map[data:bXAz format:mp3] type:input_audio]" +
			" map[file:map[file_data:data:application/pdf;base64,cGRm filename:a.pdf] type:file]]",
	} {
		var got string
		a := serve(t, func(w http.ResponseWriter, r *http.Request) {
			messages := asked(t, r)["messages"].([]any)
			got = fmt.Sprint(messages[len(messages)-1].(map[string]any)["content"])
			io.WriteString(w, whole("ok"))
		}, func(c *Config) { c.Accepts = strings.Fields(accepts) })
		if _, err := a.Ask(t.Context(), delegate.Request{Prompt: "hi", Files: files}); err != nil || got != want && got != "[map[text:"+want+" type:text]]" {
			t.Errorf("accepts %q: %v, sent\n%s, want\n%s", accepts, err, got, want)
		}
	}
}
