package a2aserver

import (
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/langrooms/langrooms"
)

// fileOf is a part that is no text as a message keeps it: a file that came inline, or an image by
// its address. Nothing is fetched.
func fileOf(p *a2a.Part) (langrooms.Part, error) {
	if p != nil {
		switch content := p.Content.(type) {
		case a2a.Raw:
			file, err := langrooms.FilePart(strings.ToValidUTF8(p.Filename, "\uFFFD"), p.MediaType, content)
			if err != nil {
				return file, a2a.NewError(a2a.ErrInvalidParams, err.Error())
			}
			return file, nil
		case a2a.URL:
			address := string(content)
			if strings.HasPrefix(p.MediaType, "image/") && (strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")) {
				return langrooms.Part{Kind: langrooms.PartImageURL, URL: address}, nil
			}
		}
	}
	return langrooms.Part{}, a2a.NewError(a2a.ErrUnsupportedContentType,
		"messages are text here, with files inline and images by their address: a part of this one is none of these")
}

// filesOf are the files of a message as parts of an artifact.
func filesOf(m langrooms.Message) (parts []*a2a.Part) {
	for _, f := range m.Files() {
		part := a2a.NewRawPart(f.Data)
		part.Filename, part.MediaType = f.Name, f.MIMEType
		parts = append(parts, part)
	}
	return parts
}

// usageOf is what a turn cost as a task's metadata says it, as far as all of it is known; nil
// where nothing is.
func usageOf(s *langrooms.Spending) map[string]any {
	if s == nil {
		return nil
	}
	usage := map[string]any{}
	if s.UnknownTokens == 0 {
		usage["input_tokens"], usage["output_tokens"] = s.InputTokens, s.OutputTokens
	}
	if s.UnknownCost == 0 {
		usage["cost_usd"] = s.CostUSD
	}
	if len(usage) == 0 {
		return nil
	}
	return map[string]any{"usage": usage}
}
