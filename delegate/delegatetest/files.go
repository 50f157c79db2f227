package delegatetest

import (
	"bytes"
	"strings"

	"github.com/langrooms/langrooms/delegate"
)

var fileRules = []rule{
	{"files", "a file that the peer takes arrives to the letter with its type, and of another what stands for it is in the prompt", checkFiles},
	{"files-returned", "a file that comes with an answer is in the reply, under a plain name, with the type that its content shows", checkReturned},
}

// png is the smallest picture.
var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")

func checkFiles(r *run) {
	const prompt = "what is this?"
	files := []delegate.File{
		{Name: "a chart.png", MIMEType: "image/png", Data: png, Stead: "[image a chart.png]"},
		{Name: "all.zip", MIMEType: "application/zip", Data: []byte("PK\x03\x04 and more"), Stead: "[file all.zip]"},
	}
	for _, of := range []struct {
		accepts []string
		want    string
		sent    int
	}{
		{nil, prompt + "\n\n[image a chart.png]\n\n[file all.zip]", 0},
		{[]string{"image/*"}, prompt + "\n\n[file all.zip]", 1},
	} {
		d := r.start(Script{End: EndAnswer, Pieces: pieces("a chart"), Accepts: of.accepts})
		a, ok := r.ask(d, delegate.Request{Prompt: prompt, Files: files})
		if !ok {
			return
		}
		m, ok := r.message(a)
		if !ok {
			return
		}
		switch {
		case a.err != nil:
			r.broken("Ask = %v", a.err)
		case m.Prompt != of.want:
			r.broken("a peer that takes %q was sent %q instead of %q", of.accepts, m.Prompt, of.want)
		case len(m.Files) != of.sent:
			r.broken("a peer that takes %q was sent %d files instead of %d", of.accepts, len(m.Files), of.sent)
		case of.sent == 1 && (m.Files[0].MIMEType != "image/png" || !bytes.Equal(m.Files[0].Data, png)):
			r.broken("the picture arrived as %q, %q", m.Files[0].MIMEType, m.Files[0].Data)
		}
	}
}

func checkReturned(r *run) {
	d := r.start(Script{End: EndAnswer, Pieces: pieces("Here it is."), Returns: &delegate.File{Name: "../../etc/a\x1b[31m.png", MIMEType: "text/html", Data: png}})
	a, ok := r.ask(d, delegate.Request{Prompt: "draw it"})
	switch {
	case !ok:
	case a.err != nil || !strings.HasPrefix(a.reply.Text, "Here it is."):
		r.broken("Ask = %q, %v", a.reply.Text, a.err)
	case len(a.reply.Files) != 1:
		r.broken("the reply has %d files, the peer returned one", len(a.reply.Files))
	case a.reply.Files[0].MIMEType != "image/png" || !bytes.Equal(a.reply.Files[0].Data, png):
		r.broken("the picture is there as %q, %q", a.reply.Files[0].MIMEType, a.reply.Files[0].Data)
	case strings.ContainsAny(a.reply.Files[0].Name, "/\\\x1b") || strings.HasPrefix(a.reply.Files[0].Name, ".") || a.reply.Files[0].Name == "":
		r.broken("it is called %q", a.reply.Files[0].Name)
	}
}
