package archtest

import (
	"go/doc"
	"path"
	"strings"
	"testing"
)

// Every package says what it is, and every public one shows it in an Example that runs.
func TestPackagesAreDocumented(t *testing.T) {
	examples := make(map[string]bool)
	for _, s := range sources(t) {
		if !s.isTest() {
			continue
		}
		for _, ex := range doc.Examples(s.file) {
			if ex.Output != "" || ex.EmptyOutput {
				examples[path.Dir(s.name)] = true
			}
		}
	}
	for _, p := range goList(t) {
		pkg, _ := local(p.ImportPath)
		if p.Doc == "" {
			t.Errorf("package %s has no package comment", pkg)
		}
		if p.Name == "main" || strings.Contains("/"+pkg+"/", "/internal/") {
			continue
		}
		if !examples[pkg] {
			t.Errorf("package %s has no Example with output", pkg)
		}
	}
}
