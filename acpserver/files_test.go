package acpserver

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/acp-go-sdk"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/runs"
)

// Images and files of a prompt are kept as what they are; what is none is refused.
func TestFilesOfAPrompt(t *testing.T) {
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"))
	blob := func(uri, data string) acp.ContentBlock {
		return acp.ResourceBlock(acp.EmbeddedResourceResource{BlobResourceContents: &acp.BlobResourceContents{Uri: uri, Blob: data}})
	}
	text, files, err := words([]acp.ContentBlock{acp.TextBlock("@proto look"), acp.ImageBlock(png, "image/jpeg"), blob("file:///home/me/a%20b.png", png)})
	var got []string
	for _, f := range files {
		got = append(got, fmt.Sprint(f.Name, " ", f.MIMEType, " ", len(f.Data)))
	}
	if want := "image.png image/png 8|a b.png image/png 8"; err != nil || text != "@proto look" || strings.Join(got, "|") != want {
		t.Errorf("%q, %q, %v", text, got, err)
	}
	large := base64.StdEncoding.EncodeToString(make([]byte, langrooms.MaxFile+1))
	for name, b := range map[string][]acp.ContentBlock{
		"no base64": {acp.ImageBlock("%%%", "image/png")}, "empty": {acp.AudioBlock("", "audio/wav")}, "large": {blob("a", large)}, "no text": {acp.ImageBlock(png, "image/png")},
		"many": {acp.ImageBlock(png, ""), acp.ImageBlock(png, ""), acp.ImageBlock(png, ""), acp.ImageBlock(png, ""), acp.ImageBlock(png, ""), acp.ImageBlock(png, ""),
			acp.ImageBlock(png, ""), acp.ImageBlock(png, ""), acp.ImageBlock(png, ""), acp.TextBlock("hi")},
	} {
		if name != "no text" {
			b = append(b, acp.TextBlock("hi"))
		}
		if _, files, err := words(b); err == nil {
			t.Errorf("%s: %d files", name, len(files))
		}
	}
}

// What a member returned is shown behind its words, once, whether or not they came in pieces.
func TestFilesOfAReply(t *testing.T) {
	for _, pieces := range []bool{true, false} {
		var shown []string
		w := &writer{s: &Server{cfg: Config{}}, shown: map[string]string{}, held: map[string]string{}, calls: map[string]bool{}, update: func(u acp.SessionUpdate) {
			switch c := u.AgentMessageChunk.Content; {
			case c.Text != nil:
				shown = append(shown, c.Text.Text)
			case c.Image != nil:
				shown = append(shown, c.Image.MimeType+" "+c.Image.Data)
			case c.Resource != nil:
				r := c.Resource.Resource.BlobResourceContents
				shown = append(shown, r.Uri+" "+r.Blob)
			}
		}}
		m := room.NewReply(langrooms.Stamp{From: "proto"}, "here")
		m.Parts = append(m.Parts, langrooms.Part{Kind: langrooms.PartBinary, Name: "a.png", MIMEType: "image/png", Data: []byte("png")},
			langrooms.Part{Kind: langrooms.PartBinary, Name: "a b.zip", MIMEType: "application/zip", Data: []byte("zip")})
		if pieces {
			w.take(runs.Event{Type: runs.EventTurn, Turn: &langrooms.Event{Type: langrooms.EventProgress, Member: "proto", MessageID: m.ID,
				Progress: &langrooms.Progress{Kind: langrooms.ProgressText, Text: "here"}}})
		}
		w.take(runs.Event{Type: runs.EventStored, Message: &m})
		if got, want := strings.Join(shown, "|"), "**@proto** — here|image/png cG5n|attachment:///a%20b.zip emlw"; got != want {
			t.Errorf("in pieces %v: %s, want %s", pieces, got, want)
		}
	}
}

// Tokens are told where all of them are known.
func TestUsageOfATurn(t *testing.T) {
	if u := usageOf(&langrooms.Spending{Answers: 1, InputTokens: 12, OutputTokens: 3, UnknownCost: 1}); u == nil || u.InputTokens != 12 || u.OutputTokens != 3 || u.TotalTokens != 15 {
		t.Errorf("known: %+v", u)
	}
	for _, s := range []*langrooms.Spending{nil, {Answers: 2, InputTokens: 12, UnknownTokens: 1}} {
		if u := usageOf(s); u != nil {
			t.Errorf("unknown: %+v", u)
		}
	}
}
