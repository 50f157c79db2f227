package exchange_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

// What goes with a message reaches its member: files as they are, an image in a data URL by the
// bytes and the type that they show, an address as one. More than may go is refused before
// anything is stored.
func TestFiles(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n"
	dataURL := func(kind, data string) langrooms.Part {
		return langrooms.Part{Kind: langrooms.PartImageURL, URL: "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(data))}
	}
	zip, err := langrooms.FilePart("a.zip", "", []byte("PK\x03\x04"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	a := &voice{"a", func(_ context.Context, req delegate.Request) (delegate.Reply, error) {
		for _, f := range req.Files {
			got = append(got, fmt.Sprintf("%s %s %d %s", f.Name, f.MIMEType, len(f.Data), f.URL))
			if f.Stead == "" {
				t.Errorf("nothing stands for %s", f.Name)
			}
		}
		return delegate.Reply{Text: "Here.", Files: []langrooms.Part{zip}}, nil
	}}
	s := memory(t)
	say := address("look", "a")
	say.Said.Parts = []langrooms.Part{langrooms.TextPart("look"), zip, dataURL("image/jpeg", png), dataURL("image/png", "#!/bin/sh"),
		{Kind: langrooms.PartImageURL, URL: "data:image/png;base64,%%%"}, {Kind: langrooms.PartImageURL, URL: "https://h/i.png"}, {Kind: langrooms.PartImageURL, URL: "file:///etc/passwd"}}
	result, err := take(t.Context(), s, "t", roomOf(t, 1, a), say)
	want := "a.zip application/zip 4 |image.png image/png 8 |image.txt text/plain 9 | image/* 0 https://h/i.png"
	if strings.Join(got, "|") != want || err != nil {
		t.Errorf("sent %q, %v", got, err)
	}
	if files := result.Outcomes[0].Files; len(files) != 1 || files[0] != "a.zip (application/zip, 4 bytes)" {
		t.Errorf("the outcome names %q", files)
	}
	if m := messages(t, s, "t"); len(m) != 2 || len(m[1].Files()) != 1 || m[1].Text() != "Here." {
		t.Errorf("stored %+v", m)
	}
	say.Said.Parts = []langrooms.Part{{Kind: langrooms.PartBinary, Data: make([]byte, langrooms.MaxFile+1)}}
	if _, err := take(t.Context(), s, "other", roomOf(t, 1, a), say); !errors.Is(err, langrooms.ErrFile) || len(messages(t, s, "other")) > 0 {
		t.Errorf("too much: %v", err)
	}
}
