package room

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/langrooms/langrooms"
)

// maxInline is the largest text file that is shown in a prompt, in bytes.
const maxInline = 100_000

// FileStead stands for a part that is no text in the prompt of who cannot be sent it: a text's
// words below its name, indented as in a window, and of anything else the name, type and size. It
// is "" for what is no file.
func FileStead(p langrooms.Part) string {
	switch {
	case p.Kind == langrooms.PartImageURL:
		return bracket("image", strings.TrimSpace(imageSource(p.URL)+", which cannot be sent to you"))
	case p.Kind != langrooms.PartBinary:
		return ""
	case strings.HasPrefix(p.MIMEType, "text/") && len(p.Data) <= maxInline && utf8.Valid(p.Data):
		return partName(p) + "\n  " + Indent(strings.TrimRight(string(p.Data), "\n"))
	}
	kind, detail := fileKind(p)
	return bracket(kind, detail+", "+SizeOf(len(p.Data))+", which cannot be sent to you")
}

// FileLabel names a file for people: "chart.png (image/png, 12 kB)".
func FileLabel(p langrooms.Part) string {
	return inline(langrooms.FileName(p.Name)) + " (" + inline(p.MIMEType) + ", " + SizeOf(len(p.Data)) + ")"
}

// SizeOf says how large something is, in few digits.
func SizeOf(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// fileKind is the word for a binary part, and its name and type.
func fileKind(p langrooms.Part) (kind, detail string) {
	kind, _, _ = strings.Cut(strings.ToLower(p.MIMEType), "/")
	if kind != "image" && kind != "audio" && kind != "video" {
		kind = "file"
	}
	return kind, strings.TrimSpace(p.Name + " " + p.MIMEType)
}
