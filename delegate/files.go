package delegate

import (
	"strings"

	"github.com/langrooms/langrooms"
)

// File goes with a message. Either Data or URL is its content.
type File struct {
	Name, MIMEType string
	Data           []byte
	// URL is where an image is that was given by its address, http or https.
	URL string
	// Stead stands in the prompt for a peer that does not take the file: its words, or its
	// name.
	Stead string
}

// Takes reports whether a list of types that a peer takes, such as "image/*" or
// "application/pdf", has the media type kind.
func Takes(types []string, kind string) bool {
	family, _, _ := strings.Cut(strings.ToLower(kind), "/")
	for _, t := range types {
		t = strings.ToLower(strings.TrimSpace(t))
		t, _, _ = strings.Cut(t, ";")
		if t == "*" || t == "*/*" || t == family+"/*" || strings.EqualFold(t, kind) {
			return true
		}
	}
	return false
}

// Part divides the files of r: those that take says the peer takes, and what is to stand behind
// the prompt for the others.
func (r Request) Part(take func(File) bool) (sent []File, stead string) {
	var b strings.Builder
	for _, f := range r.Files {
		if (len(f.Data) > 0 || f.URL != "") && take(f) {
			sent = append(sent, f)
		} else if f.Stead != "" {
			b.WriteString("\n\n" + f.Stead)
		}
	}
	return sent, b.String()
}

// Received collects the files of an answer, within the bounds of what goes with one message; what
// is beyond them is left out, as is what is no file. The zero value is ready.
type Received struct {
	files []langrooms.Part
	size  int
}

// Add takes one file, as the peer calls it and claims it to be.
func (r *Received) Add(name, claimed string, data []byte) {
	if len(r.files) == langrooms.MaxFiles || r.size+len(data) > langrooms.MaxAllFiles {
		return
	}
	p, err := langrooms.FilePart(strings.ToValidUTF8(name, "\uFFFD"), claimed, data)
	if err != nil {
		return
	}
	r.files, r.size = append(r.files, p), r.size+len(data)
}

// Files are the files so far, in order.
func (r *Received) Files() []langrooms.Part { return r.files }
