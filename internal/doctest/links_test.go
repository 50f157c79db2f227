package doctest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// A relative link leads to a file or folder of the repository.
func TestLinks(t *testing.T) {
	checked := 0
	for _, d := range documents(t) {
		_, prose := d.split()
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, ":") {
				continue
			}
			checked++
			to := path.Join(path.Dir(d.name), target)
			if strings.HasPrefix(to, "..") {
				t.Errorf("%s links to %s, which is outside of the repository", d.name, m[1])
			} else if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
				t.Errorf("%s links to %s: %v", d.name, m[1], err)
			}
		}
	}
	if checked == 0 {
		t.Error("no link was found")
	}
}

// Every record of a decision stands in the index, under its own title, and in order.
func TestDecisionIndex(t *testing.T) {
	const folder = "docs/adr/"
	index := read(t, folder+"README.md")
	var want, got []string
	for _, d := range documents(t) {
		if name, ok := strings.CutPrefix(d.name, folder); ok && name != "README.md" {
			number := name[:min(len(name), 4)]
			heading, _, _ := strings.Cut(d.text, "\n")
			title, ok := strings.CutPrefix(heading, "# "+number+": ")
			if !ok {
				t.Errorf("%s begins with %q, not with its number", d.name, heading)
			}
			if !strings.Contains(d.text, "\nDate: 20") || !strings.Contains(d.text, "\n## Alternatives\n") {
				t.Errorf("%s lacks its date or its alternatives", d.name)
			}
			want = append(want, "| ["+number+"]("+name+") | "+title+" |")
		}
	}
	for line := range strings.Lines(index.text) {
		if strings.HasPrefix(line, "| [") {
			got = append(got, strings.TrimRight(line, "\n"))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s lists\n%s\nand the records are\n%s", index.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
