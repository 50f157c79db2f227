package a2aagent

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/langrooms/langrooms/delegate"
)

// wirePart has the fields of both versions: 1.0 puts the content into a field that names
// it, 0.3 has a kind and puts files into an object.
type wirePart struct {
	Metadata struct {
		ADKThought bool `json:"adk_thought"` // by Google's agent development kit
		Thought    bool
	}
	Text *string
	Data json.RawMessage
	Raw  string
	URL  string

	Filename  string
	MediaType string

	File *struct {
		Name     string
		MimeType string
		Bytes    string
		URI      string
	}
}

// file returns the file of a part, in either version's fields.
func (p *wirePart) file() (name, mediaType, content, uri string) {
	if p.File != nil {
		return p.File.Name, p.File.MimeType, p.File.Bytes, p.File.URI
	}
	return p.Filename, p.MediaType, p.Raw, p.URL
}

// isThought reports whether a part is the agent's reasoning, which is no part of its answer.
func (p *wirePart) isThought() bool { return p.Metadata.ADKThought || p.Metadata.Thought }

// thoughts returns the reasoning among parts.
func thoughts(parts []wirePart) string {
	var b strings.Builder
	for i := range parts {
		if p := &parts[i]; p.isThought() && p.Text != nil {
			b.WriteString(*p.Text)
		}
	}
	return b.String()
}

// render puts parts into one text: text verbatim, without anything between, because a
// streamed text is cut anywhere; data and files on lines of their own.
func render(parts []wirePart) string {
	var c canvas
	for i := range parts {
		p := &parts[i]
		if p.isThought() {
			continue
		}
		name, mediaType, content, uri := p.file()
		switch {
		case p.Text != nil:
			c.text(*p.Text)
		case present(p.Data):
			c.block("[data] " + compact(p.Data))
		case uri != "":
			c.block(label("file", name, mediaType, delegate.OneLine(uri, 2000)))
		case content != "":
			c.block(inline(name, mediaType, content))
		}
	}
	return c.String()
}

// maxInline is the largest text file that is shown, in bytes.
const maxInline = 100_000

// inline renders a file that came as base64: its words when it is text, else its name,
// type and size.
func inline(name, mediaType, content string) string {
	data, err := base64.StdEncoding.DecodeString(content)
	if err != nil {
		return label("file", name, mediaType, "unreadable")
	}
	if strings.HasPrefix(mediaType, "text/") && utf8.Valid(data) && len(data) <= maxInline {
		return label("file", name, mediaType) + "\n" + string(data)
	}
	return label("file", name, mediaType, sizeOf(len(data)))
}

func label(words ...string) string {
	var shown []string
	for _, w := range words {
		if w != "" {
			shown = append(shown, delegate.OneLine(w, 2000))
		}
	}
	return "[" + strings.Join(shown, " ") + "]"
}

func compact(data json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return "unreadable"
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// canvas is a text that grows by pieces and by blocks on lines of their own.
type canvas struct {
	strings.Builder
	last    byte
	inBlock bool // the last piece was a block
}

func (c *canvas) text(s string) {
	if s == "" {
		return
	}
	if c.inBlock && s[0] != '\n' {
		c.WriteByte('\n')
	}
	c.WriteString(s)
	c.last, c.inBlock = s[len(s)-1], false
}

func (c *canvas) block(s string) {
	if c.Len() > 0 && c.last != '\n' {
		c.WriteByte('\n')
	}
	c.WriteString(s)
	c.last, c.inBlock = s[len(s)-1], true
}
