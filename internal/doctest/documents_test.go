package doctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the repository's.
const root = "../.."

// document is one Markdown file.
type document struct {
	name string // slash-separated, from the repository's root
	text string
}

// documents reads every Markdown file of the repository.
func documents(t *testing.T) []document {
	t.Helper()
	var all []document
	walk(t, ".md", func(name string, data []byte) {
		all = append(all, document{name, string(data)})
	})
	return all
}

// walk calls do for each file of the repository with the extension, those of other hands
// and of tests left out.
func walk(t *testing.T, ext string, do func(name string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		base := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && (base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".")):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(base) != ext:
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		do(filepath.ToSlash(rel), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) document {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return document{name, string(data)}
}

// block is one fenced block of code.
type block struct {
	lang  string
	lines []string
}

// split returns the fenced blocks of a document, and its text without them.
func (d document) split() (blocks []block, prose string) {
	var rest []string
	fence := ""
	for line := range strings.Lines(d.text) {
		line = strings.TrimRight(line, "\n")
		mark := strings.TrimLeft(line, " ")
		switch {
		case fence == "" && strings.HasPrefix(mark, "```"):
			fence = "```"
			blocks = append(blocks, block{lang: strings.TrimPrefix(mark, "```")})
		case fence != "" && strings.HasPrefix(mark, fence):
			fence = ""
		case fence != "":
			b := &blocks[len(blocks)-1]
			b.lines = append(b.lines, line)
		default:
			rest = append(rest, line)
		}
	}
	return blocks, strings.Join(rest, "\n")
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// spans returns what stands in back-quotes in a document's prose, each on one line.
func (d document) spans() []string {
	_, prose := d.split()
	var all []string
	for _, m := range codeSpan.FindAllStringSubmatch(prose, -1) {
		all = append(all, strings.Join(strings.Fields(m[1]), " "))
	}
	return all
}
