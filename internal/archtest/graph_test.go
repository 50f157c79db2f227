package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// listed is what `go list -json` says of one package.
type listed struct {
	ImportPath string
	Name       string
	Doc        string
	Imports    []string
}

// goList returns the packages of the module.
func goList(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Name,Doc,Imports", "./...")
	cmd.Dir = "../.."
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
}

func TestLayers(t *testing.T) {
	used := make(map[string]bool)
	for _, p := range goList(t) {
		pkg, _ := local(p.ImportPath)
		if testOnly(pkg) {
			continue
		}
		if r := rowOf(layers, pkg); r != nil {
			used[r.pkg] = true
		} else {
			t.Errorf("package %s has no row in the layer table", pkg)
			continue
		}
		for _, imported := range p.Imports {
			if err := checkEdge(layers, p.ImportPath, imported); err != nil {
				t.Error(err)
			}
		}
	}
	for _, r := range layers {
		if !used[r.pkg] {
			t.Errorf("the layer table has a row for %s, and there is no such package", r.pkg)
		}
	}
}

// The table's own rows must obey the words above them.
func TestTable(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range layers {
		if seen[r.pkg] {
			t.Errorf("two rows for %s", r.pkg)
		}
		seen[r.pkg] = true
		if r.layer > 0 && r.below >= r.layer {
			t.Errorf("%s (layer %d) admits its own layer: siblings never import each other", r.pkg, r.layer)
		}
	}
}

func TestCheckEdge(t *testing.T) {
	rows := []row{
		{layer: 0, pkg: "."},
		{layer: 1, pkg: "port"},
		{layer: 1, pkg: "policy"},
		{layer: 2, pkg: "port/one", may: []string{"port", "port/internal/*"}, modules: []string{"example.org/driver"}},
		{layer: 2, pkg: "port/two", may: []string{"port"}},
		{layer: 2, pkg: "port/internal/*", may: []string{"port"}},
		{layer: 3, pkg: "node", below: 2, modules: []string{"*"}},
	}
	tests := []struct {
		rule, from, to string
		want           string // part of the error; empty when the edge is allowed
	}{
		{"the standard library is free", ".", "net/http", ""},
		{"the root is free for all", "port/two", ".", ""},
		{"a package of its row", "port/one", "port", ""},
		{"a pattern of its row", "port/one", "port/internal/log", ""},
		{"a lower layer where the row admits it", "node", "port/two", ""},
		{"a module of its row", "port/one", "example.org/driver/sub", ""},
		{"any module", "node", "example.org/other", ""},
		{"siblings", "port/one", "port/two", "port/one (layer 2) imports port/two (layer 2): not in its row"},
		{"a lower layer that the row leaves out", "port/one", "policy", "not in its row"},
		{"upwards", "port", "node", "not in its row"},
		{"the root imports nothing", ".", "port", "not in its row"},
		{"a module outside its row", "port/two", "example.org/driver", "imports example.org/driver: not in its row"},
		{"a prefix of a name is not the module", "port/one", "example.org/driver2", "not in its row"},
		{"a suite outside tests", "node", "port/porttest", "for tests only"},
		{"a package without a row", "node", "stray", "has no row"},
		{"from a package without a row", "stray", "fmt", "package stray has no row"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			err := checkEdge(rows, full(tt.from), full(tt.to))
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// full returns the import path of a path in the table of TestCheckEdge.
func full(p string) string {
	switch {
	case p == ".":
		return module
	case strings.HasPrefix(p, "example.org/"), p == "fmt", p == "net/http":
		return p
	}
	return module + "/" + p
}

// The hold on a thread knows nothing of rooms, and nobody below it takes one.
func TestThreadKnowsNoRoom(t *testing.T) {
	for from, to := range map[string][]string{
		"thread":                   {"room", "delegate", "exchange", "late"},
		"room":                     {"thread"},
		"delegate":                 {"thread"},
		"checkpointer/memorysaver": {"thread"},
		"durable":                  {"thread"},
	} {
		for _, to := range to {
			if err := checkEdge(layers, full(from), full(to)); err == nil {
				t.Errorf("%s may import %s", from, to)
			}
		}
	}
}
