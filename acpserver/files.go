package acpserver

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/langrooms/langrooms"
)

var errBlock = errors.New("prompts are text here, with images, sounds and files: a block of this one is none of these")

// fileOf is a block that is no text as a message keeps it.
func fileOf(b acp.ContentBlock) (langrooms.Part, error) {
	name, kind, encoded := "", "", ""
	switch {
	case b.Image != nil:
		name, kind, encoded = "image", b.Image.MimeType, b.Image.Data
	case b.Audio != nil:
		name, kind, encoded = "audio", b.Audio.MimeType, b.Audio.Data
	case b.Resource != nil && b.Resource.Resource.BlobResourceContents != nil:
		r := b.Resource.Resource.BlobResourceContents
		name, encoded = r.Uri, r.Blob
		if u, err := url.Parse(r.Uri); err == nil && u.Path != "" {
			name = u.Path
		}
		if r.MimeType != nil {
			kind = *r.MimeType
		}
	default:
		return langrooms.Part{}, errBlock
	}
	if len(encoded) > base64.StdEncoding.EncodedLen(langrooms.MaxFile) {
		return langrooms.Part{}, fmt.Errorf("%w: it is larger than %d MiB", langrooms.ErrFile, langrooms.MaxFile>>20)
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return langrooms.Part{}, errors.New("a block's data is no base64")
	}
	return langrooms.FilePart(strings.ToValidUTF8(name, "\uFFFD"), kind, data)
}

// blockOf is a file of a reply as the client is shown it.
func blockOf(f langrooms.Part) acp.ContentBlock {
	encoded := base64.StdEncoding.EncodeToString(f.Data)
	if strings.HasPrefix(f.MIMEType, "image/") {
		return acp.ImageBlock(encoded, f.MIMEType)
	}
	return acp.ResourceBlock(acp.EmbeddedResourceResource{BlobResourceContents: &acp.BlobResourceContents{
		MimeType: &f.MIMEType, Blob: encoded, Uri: "attachment:///" + url.PathEscape(f.Name)}})
}

// usageOf are a turn's tokens, as far as all of them are known.
func usageOf(s *langrooms.Spending) *acp.Usage {
	if s == nil || s.UnknownTokens > 0 {
		return nil
	}
	return &acp.Usage{InputTokens: int(s.InputTokens), OutputTokens: int(s.OutputTokens), TotalTokens: int(s.InputTokens + s.OutputTokens)}
}
