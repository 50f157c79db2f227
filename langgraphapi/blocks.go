package langgraphapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/langrooms/langrooms"
)

// block is one piece of a message's content.
type block struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	ImageURL json.RawMessage `json:"image_url"`
	MIMEType string          `json:"mime_type"`
	MIME     string          `json:"mimeType"`
	Data     []byte          `json:"data"`
	URL      string          `json:"url"`
	Name     string          `json:"name"`
}

// contentParts reads a content: its parts, its text joined by spaces, and whether it was a
// plain string.
func contentParts(content json.RawMessage) (parts []langrooms.Part, text string, plain bool, err error) {
	if len(content) == 0 || string(content) == "null" {
		return nil, "", true, nil
	}
	if json.Unmarshal(content, &text) == nil {
		return []langrooms.Part{langrooms.TextPart(text)}, text, true, nil
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal(content, &blocks); err != nil {
		return nil, "", false, refused(http.StatusUnprocessableEntity, "the content of a message is neither text nor a list of blocks")
	}
	var texts []string
	for _, raw := range blocks {
		var b block
		if json.Unmarshal(raw, &b.Text) == nil {
			b.Type = "text"
		} else if err := json.Unmarshal(raw, &b); err != nil {
			return nil, "", false, refused(http.StatusUnprocessableEntity, "a block of a message's content cannot be read")
		}
		if b.Type == "text" {
			texts = append(texts, b.Text)
			continue
		}
		part, err := b.part()
		if err != nil {
			return nil, "", false, refused(http.StatusUnprocessableEntity, "%v", err)
		}
		parts = append(parts, part)
	}
	if err := langrooms.CheckFiles(parts); err != nil {
		return nil, "", false, refused(http.StatusUnprocessableEntity, "%v", err)
	}
	text = strings.Join(texts, " ")
	if text != "" {
		parts = append([]langrooms.Part{langrooms.TextPart(text)}, parts...)
	}
	return parts, text, false, nil
}

// part is a block that is no text. A file's type is what its content shows.
func (b block) part() (langrooms.Part, error) {
	mime := b.MIMEType
	if mime == "" {
		mime = b.MIME
	}
	if len(b.Data) > 0 && mime != "" {
		return langrooms.FilePart(b.Name, mime, b.Data)
	}
	if len(b.ImageURL) > 0 {
		var inner struct {
			URL    string `json:"url"`
			Detail string `json:"detail"`
		}
		if json.Unmarshal(b.ImageURL, &inner.URL) != nil {
			_ = json.Unmarshal(b.ImageURL, &inner) // what is neither stays without an address
		}
		return langrooms.Part{Kind: langrooms.PartImageURL, URL: inner.URL, Detail: inner.Detail}, nil
	}
	if b.URL != "" {
		return langrooms.Part{Kind: langrooms.PartImageURL, URL: b.URL}, nil
	}
	return langrooms.TextPart(fmt.Sprintf("[%s]", b.Type)), nil
}

// onceKey is the field of a stored message that names what stands in [sentKey] for the contents of
// its parts, which are stored there alone.
const onceKey = "sent_once"

// leastOnce is how long the content of a part is, in bytes of JSON, to be taken out of what was sent.
const leastOnce = 1000

// once is what was sent without what the parts hold already, and the word that stands for it; "" where
// nothing does.
func once(sent json.RawMessage, parts []langrooms.Part) (_ json.RawMessage, word string) {
	for i, p := range noText(parts) {
		whole := quoted(p)
		if len(whole) < leastOnce || bytes.Count(sent, whole) != 1 {
			continue
		}
		if word == "" {
			word = langrooms.NewID()
		}
		sent = bytes.Replace(sent, whole, standIn(word, i), 1)
	}
	return sent, word
}

// whole is the content of m as it was sent, or nil.
func whole(m langrooms.Message) json.RawMessage {
	sent := m.Extra[sentKey]
	var word string
	if json.Unmarshal(m.Extra[onceKey], &word) != nil || word == "" {
		return sent
	}
	for i, p := range noText(m.Parts) {
		sent = bytes.Replace(sent, standIn(word, i), quoted(p), 1)
	}
	return sent
}

// noText are the parts that a message has in the same order wherever it is stored: its text may be
// another there, or none.
func noText(parts []langrooms.Part) []langrooms.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p langrooms.Part) bool { return p.Kind == langrooms.PartText })
}

func standIn(word string, part int) []byte { return fmt.Appendf(nil, `"%s %d"`, word, part) }

// quoted is what a part holds as clients write it: the address of an image, or the bytes of a file.
func quoted(p langrooms.Part) []byte {
	switch p.Kind {
	case langrooms.PartImageURL:
		return textContent(p.URL)
	case langrooms.PartBinary:
		return textContent(base64.StdEncoding.EncodeToString(p.Data))
	}
	return nil
}
