package a2aagent

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// message is what goes to the peer: the text, with the names of the files that it does not take,
// and the files that it does.
func (x *ask) message(ctx context.Context, text string) *a2a.Message {
	var inputs []string
	if len(x.req.Files) > 0 && x.cfg.Accepts == nil {
		inputs = x.card(ctx).inputs
	}
	files, stead := x.req.Part(func(f delegate.File) bool {
		if x.cfg.Accepts != nil {
			return delegate.Takes(x.cfg.Accepts, f.MIMEType)
		}
		return !strings.HasPrefix(f.MIMEType, "text/") && delegate.Takes(inputs, f.MIMEType)
	})
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text+stead))
	for _, f := range files {
		part := a2a.NewRawPart(f.Data)
		if f.URL != "" {
			part = a2a.NewFileURLPart(a2a.URL(f.URL), "")
		} else {
			part.MediaType = f.MIMEType
		}
		part.Filename = f.Name
		m.Parts = append(m.Parts, part)
	}
	return m
}

// files are what came inline with an answer.
func files(parts []wirePart) []langrooms.Part {
	var got delegate.Received
	for i := range parts {
		p := &parts[i]
		if name, mediaType, content, _ := p.file(); content != "" && p.Text == nil && len(content) <= base64.StdEncoding.EncodedLen(langrooms.MaxFile) {
			if data, err := base64.StdEncoding.DecodeString(content); err == nil {
				got.Add(name, mediaType, data)
			}
		}
	}
	return got.Files()
}
