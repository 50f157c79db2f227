package setup

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// sendable are messages with their files in a form that the endpoint has a place for: images by
// their address, and of anything else the words or that it is there. The client would send a part
// of a kind that no endpoint knows.
func sendable(messages []llms.MessageContent) []llms.MessageContent {
	out := slices.Clone(messages)
	for i, m := range out {
		if !slices.ContainsFunc(m.Parts, isBinary) {
			continue
		}
		out[i].Parts = slices.Clone(m.Parts)
		for j, part := range m.Parts {
			if b, ok := part.(llms.BinaryContent); ok {
				out[i].Parts[j] = sendableFile(b)
			}
		}
	}
	return out
}

func isBinary(p llms.ContentPart) bool {
	_, ok := p.(llms.BinaryContent)
	return ok
}

func sendableFile(b llms.BinaryContent) llms.ContentPart {
	if strings.HasPrefix(b.MIMEType, "image/") {
		return llms.ImageURLContent{URL: "data:" + b.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(b.Data)}
	}
	return llms.TextContent{Text: room.NeutralizeTags(room.FileStead(langrooms.Part{Kind: langrooms.PartBinary, MIMEType: b.MIMEType, Data: b.Data}))}
}
