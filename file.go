package langrooms

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of what goes with one message, in bytes and in number.
const (
	MaxFile  = 5 << 20
	MaxFiles = 8
	// MaxAllFiles bounds all files of a message together: in base64 they fit into the 10 MiB that a
	// line of ACP may have.
	MaxAllFiles = 7 << 20
)

// ErrFile says that a file cannot go with a message.
var ErrFile = errors.New("the file cannot go with a message")

// FilePart makes a part of a file's content. Its name is made a plain one ([FileName]), and its
// type is what the content shows, however it was claimed: a claim counts where the content cannot
// tell, and never makes an image, sound or film of what is none. ErrFile when it is empty or
// larger than [MaxFile].
func FilePart(name, claimed string, data []byte) (Part, error) {
	switch {
	case len(data) == 0:
		return Part{}, fmt.Errorf("%w: %q is empty", ErrFile, FileName(name))
	case len(data) > MaxFile:
		return Part{}, fmt.Errorf("%w: %q is larger than %d MiB", ErrFile, FileName(name), MaxFile>>20)
	}
	kind := typeOf(name, claimed, data)
	name = FileName(name)
	if path.Ext(name) == "" {
		name += extension(kind)
	}
	return Part{Kind: PartBinary, Name: name, MIMEType: kind, Data: bytes.Clone(data)}, nil
}

const anyBytes = "application/octet-stream"

// typeOf is the media type of a content, without parameters.
func typeOf(name, claimed string, data []byte) string {
	claimed = mediaType(claimed)
	if claimed == "" || claimed == anyBytes {
		claimed = mediaType(mime.TypeByExtension(strings.ToLower(path.Ext(name))))
	}
	seen := mediaType(http.DetectContentType(data))
	family, _, _ := strings.Cut(claimed, "/")
	switch {
	case seen == "application/zip" && strings.HasPrefix(claimed, "application/"):
		return claimed // a document in a zip's form
	case seen == "text/plain" && !utf8.Valid(data), seen == anyBytes:
		if family == "image" || family == "audio" || family == "video" || family == "text" || claimed == "" || claimed == "application/pdf" {
			return anyBytes
		}
		return claimed
	case seen == "text/plain" && (family == "text" || slices.Contains(textual, claimed)):
		return claimed
	}
	return seen
}

// textual are the types of texts that are not called so.
var textual = []string{"application/json", "application/xml", "application/yaml", "application/javascript", "application/toml"}

func mediaType(text string) string {
	kind, _, err := mime.ParseMediaType(text)
	if err != nil || !strings.Contains(kind, "/") || len(kind) > 100 {
		return ""
	}
	return kind
}

func extension(kind string) string {
	known := map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "application/pdf": ".pdf", "text/plain": ".txt"}
	return known[kind]
}

// maxFileName is the longest name of a file, in code points.
const maxFileName = 100

// FileName makes a plain name of whatever names a file: its last part, by either kind of slash,
// without what shows nothing or steers a terminal, without dots and hyphens in front, and none that a system
// keeps for a device. What has no such name is "file".
func FileName(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError || strings.ContainsRune(`<>:"|?*[]`, r), unicode.IsSpace(r) && r != ' ':
			return '_'
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, name)
	if n := utf8.RuneCountInString(name); n > maxFileName {
		ext := path.Ext(name)
		if utf8.RuneCountInString(ext) > 10 {
			ext = ""
		}
		runes := []rune(strings.TrimSuffix(name, ext))
		name = string(runes[:maxFileName-utf8.RuneCountInString(ext)]) + ext
	}
	name = strings.TrimRight(strings.TrimLeft(name, ".- "), ". ")
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch {
	case name == "":
		return "file"
	case slices.Contains(devices, stem):
		return "_" + name
	}
	return name
}

// devices are names that Windows keeps for itself.
var devices = func() []string {
	names := []string{"CON", "PRN", "AUX", "NUL"}
	for n := '1'; n <= '9'; n++ {
		names = append(names, "COM"+string(n), "LPT"+string(n))
	}
	return names
}()

// Files are the parts of m that hold a file's content, in order.
func (m Message) Files() []Part {
	var files []Part
	for _, p := range m.Parts {
		if p.Kind == PartBinary && len(p.Data) > 0 {
			files = append(files, p)
		}
	}
	return files
}

// CheckFiles is an ErrFile when parts hold more than may go with one message.
func CheckFiles(parts []Part) error {
	n, size := 0, 0
	for _, p := range parts {
		if p.Kind != PartBinary {
			continue
		}
		if len(p.Data) > MaxFile {
			return fmt.Errorf("%w: %q is larger than %d MiB", ErrFile, p.Name, MaxFile>>20)
		}
		n, size = n+1, size+len(p.Data)
	}
	switch {
	case n > MaxFiles:
		return fmt.Errorf("%w: there are %d, at most %d go with one", ErrFile, n, MaxFiles)
	case size > MaxAllFiles:
		return fmt.Errorf("%w: all together are larger than %d MiB", ErrFile, MaxAllFiles>>20)
	}
	return nil
}
