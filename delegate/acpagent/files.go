package acpagent

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// takes reports whether the agent takes a file, by what it said of its prompts (protocol document
// "Initialization", prompt capabilities).
func (s *session) takes(f delegate.File) bool {
	if len(f.Data) == 0 || s.config.Accepts != nil && !delegate.Takes(s.config.Accepts, f.MIMEType) {
		return false
	}
	can := s.hello.Capabilities.Prompt
	switch family, _, _ := strings.Cut(f.MIMEType, "/"); family {
	case "image":
		return can.Image
	case "audio":
		return can.Audio
	}
	return can.Embedded
}

// prompted is a prompt with its files: what the agent takes as blocks, the rest in words.
func (s *session) prompted(req delegate.Request) []acp.ContentBlock {
	files, stead := req.Part(s.takes)
	blocks := []acp.ContentBlock{acp.TextBlock(req.Prompt + stead)}
	for _, f := range files {
		blocks = append(blocks, block(f))
	}
	return blocks
}

func block(f delegate.File) acp.ContentBlock {
	encoded := func() string { return base64.StdEncoding.EncodeToString(f.Data) }
	family, _, _ := strings.Cut(f.MIMEType, "/")
	switch uri := "attachment:///" + url.PathEscape(f.Name); {
	case family == "image":
		return acp.ImageBlock(encoded(), f.MIMEType)
	case family == "audio":
		return acp.AudioBlock(encoded(), f.MIMEType)
	case family == "text" && utf8.Valid(f.Data):
		return acp.ResourceBlock(acp.EmbeddedResourceResource{TextResourceContents: &acp.TextResourceContents{
			MimeType: &f.MIMEType, Text: string(f.Data), Uri: uri}})
	default:
		return acp.ResourceBlock(acp.EmbeddedResourceResource{BlobResourceContents: &acp.BlobResourceContents{
			MimeType: &f.MIMEType, Blob: encoded(), Uri: uri}})
	}
}

// file adds what a block of the answer holds beside text to the files of the reply.
func (b contentBlock) file(to *delegate.Received) {
	name, kind, content := b.Name, b.MimeType, b.Data
	if b.Type == "resource" {
		name, kind, content = b.Resource.URI, b.Resource.MimeType, b.Resource.Blob
	}
	if len(content) == 0 || len(content) > base64.StdEncoding.EncodedLen(langrooms.MaxFile)+2 {
		return
	}
	var data []byte // base64 in JSON
	if json.Unmarshal(content, &data) == nil {
		to.Add(nameOf(name, b.Type), kind, data)
	}
}

// nameOf is the name of a file in an address, or else what it is.
func nameOf(name, kind string) string {
	if name == "" {
		return kind
	}
	if u, err := url.Parse(name); err == nil && u.Path != "" {
		return u.Path
	}
	return name
}
