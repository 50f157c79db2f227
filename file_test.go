package langrooms_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/langrooms/langrooms"
)

const pngHead = "\x89PNG\r\n\x1a\n"

// A file's type is what its content shows: a claim makes no picture of what is none.
func TestFilePart(t *testing.T) {
	for _, tt := range []struct{ name, claimed, data, want, called string }{
		{"a.png", "image/png", pngHead, "image/png", "a.png"},
		{"a.png", "", pngHead, "image/png", "a.png"},
		{"a", "", pngHead, "image/png", "a.png"},
		{"a.png", "image/jpeg", pngHead, "image/png", "a.png"},
		{"a.txt", "text/plain", pngHead, "image/png", "a.txt"},
		{"a.png", "image/png", "#!/bin/sh\nrm -rf /\n", "text/plain", "a.png"},
		{"a.png", "image/png", "\x00\x01\x02", "application/octet-stream", "a.png"},
		{"a.svg", "image/svg+xml", "<html><script>x</script>", "text/html", "a.svg"},
		{"main.go", "text/x-go", "package main", "text/x-go", "main.go"},
		{"main.zzz", "", "package main", "text/plain", "main.zzz"},
		{"a.json", "", "{}", "application/json", "a.json"},
		{"a.pdf", "", "%PDF-1.7 \x00", "application/pdf", "a.pdf"},
		{"a.pdf", "application/pdf", "\x00\x01", "application/octet-stream", "a.pdf"},
		{"a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "PK\x03\x04", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "a.docx"},
		{"a.zip", "image/png", "PK\x03\x04", "application/zip", "a.zip"},
		{"a.x", "application/x-thing", "\x00\x01", "application/x-thing", "a.x"},
		{"a.x", "a\nb/c\r\nd", "\x00\x01", "application/octet-stream", "a.x"},
		{"a.txt", "text/plain", "\xff\xfe\x00a", "application/octet-stream", "a.txt"},
		{"latin1.txt", "text/plain", "caf\xe9 au lait", "application/octet-stream", "latin1.txt"},
	} {
		p, err := langrooms.FilePart(tt.name, tt.claimed, []byte(tt.data))
		if err != nil || p.Kind != langrooms.PartBinary || p.MIMEType != tt.want || p.Name != tt.called || string(p.Data) != tt.data {
			t.Errorf("%q claimed as %q: %q, %q, %v; want %q, %q", tt.name, tt.claimed, p.MIMEType, p.Name, err, tt.want, tt.called)
		}
	}
	for _, data := range [][]byte{nil, make([]byte, langrooms.MaxFile+1)} {
		if _, err := langrooms.FilePart("a", "", data); !errors.Is(err, langrooms.ErrFile) {
			t.Errorf("%d bytes: %v", len(data), err)
		}
	}
}

// Whatever names a file, what it is saved as is a plain name in the folder that was asked for.
func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"chart.png": "chart.png", "my chart.png": "my chart.png", "日本語.txt": "日本語.txt",
		"../../etc/passwd": "passwd", `..\..\windows\system.ini`: "system.ini", "/etc/passwd": "passwd", `C:\a\b.txt`: "b.txt",
		"": "file", ".": "file", "..": "file", "/": "file", "a/..": "file", "...": "file", ". . .": "file",
		".bashrc": "bashrc", "..ssh": "ssh", "a\x1b[31mb": "a_31mb", "a\x00b": "ab", "a\nb": "a_b", "\u202egnp.exe": "gnp.exe",
		"CON": "_CON", "nul.txt": "_nul.txt", "com1": "_com1", "a:b": "a_b", "trailing. . ": "trailing", "\xff\xfe": "__", "-rf": "rf", "- .-x": "x",
		strings.Repeat("é", 300) + ".png": strings.Repeat("é", 96) + ".png", "a." + strings.Repeat("x", 300): "a." + strings.Repeat("x", 98),
	} {
		if got := langrooms.FileName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func FuzzFileName(f *testing.F) {
	f.Add("../a\x1b.png")
	f.Fuzz(func(t *testing.T, name string) {
		got := langrooms.FileName(name)
		bad := strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(`/\:`, r) })
		if got == "" || got[0] == '.' || bad || len([]rune(got)) > 101 || langrooms.FileName(got) != got {
			t.Errorf("%q is %q", name, got)
		}
	})
}

func TestCheckFiles(t *testing.T) {
	part := func(size int) langrooms.Part {
		return langrooms.Part{Kind: langrooms.PartBinary, Data: make([]byte, size)}
	}
	few := []langrooms.Part{langrooms.TextPart("x"), part(langrooms.MaxFile), part(langrooms.MaxAllFiles - langrooms.MaxFile)}
	if err := langrooms.CheckFiles(few); err != nil {
		t.Error(err)
	}
	for _, many := range [][]langrooms.Part{append(few, part(1)), {part(langrooms.MaxFile + 1)}, make9(part(1))} {
		if err := langrooms.CheckFiles(many); !errors.Is(err, langrooms.ErrFile) {
			t.Errorf("%d parts: %v", len(many), err)
		}
	}
}

func make9(p langrooms.Part) (parts []langrooms.Part) {
	for range 9 {
		parts = append(parts, p)
	}
	return parts
}
