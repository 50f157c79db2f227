package openaiagent

import (
	"encoding/base64"
	"strings"

	"github.com/langrooms/langrooms/delegate"
)

// takes reports whether the model takes a file.
func (a *Agent) takes(f delegate.File) bool {
	return delegate.Takes(a.cfg.Accepts, f.MIMEType) && (len(f.Data) > 0 || strings.HasPrefix(f.MIMEType, "image/"))
}

// attach puts files behind the text of the last message, as pieces of its content (OpenAI API
// reference, "Create chat completion", messages).
func attach(fields map[string]any, files []delegate.File) {
	messages, _ := fields["messages"].([]any)
	if len(files) == 0 || len(messages) == 0 {
		return
	}
	last, ok := messages[len(messages)-1].(map[string]any)
	if !ok {
		return
	}
	content, ok := last["content"].([]any)
	if !ok {
		content = []any{map[string]any{"type": "text", "text": last["content"]}}
	}
	for _, f := range files {
		content = append(content, piece(f))
	}
	last["content"] = content
}

func piece(f delegate.File) map[string]any {
	encoded := base64.StdEncoding.EncodeToString(f.Data)
	dataURL := "data:" + f.MIMEType + ";base64," + encoded
	switch family, form, _ := strings.Cut(f.MIMEType, "/"); {
	case f.URL != "":
		return map[string]any{"type": "image_url", "image_url": map[string]any{"url": f.URL}}
	case family == "image":
		return map[string]any{"type": "image_url", "image_url": map[string]any{"url": dataURL}}
	case family == "audio":
		form = map[string]string{"mpeg": "mp3", "wave": "wav", "x-wav": "wav"}[form]
		if form == "" {
			_, form, _ = strings.Cut(f.MIMEType, "/")
		}
		return map[string]any{"type": "input_audio", "input_audio": map[string]any{"data": encoded, "format": form}}
	}
	return map[string]any{"type": "file", "file": map[string]any{"filename": f.Name, "file_data": dataURL}}
}
