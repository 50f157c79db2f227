package archtest

import (
	"go/doc"
	"path"
	"strings"
	"testing"
)

// withoutExample lists the public packages that have no runnable Example, with the reason.
var withoutExample = map[string]string{
	"delegate/delegatetest": "its entry point needs a *testing.T",
}

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
	public := make(map[string]bool)
	for _, p := range goList(t) {
		pkg, _ := local(p.ImportPath)
		if p.Doc == "" {
			t.Errorf("package %s has no package comment", pkg)
		}
		if p.Name == "main" || strings.Contains("/"+pkg+"/", "/internal/") {
			continue
		}
		public[pkg] = true
		reason, excepted := withoutExample[pkg]
		switch {
		case !excepted && !examples[pkg]:
			t.Errorf("package %s has no Example with output", pkg)
		case excepted && examples[pkg]:
			t.Errorf("package %s has an Example: it needs no exception (%s)", pkg, reason)
		}
	}
	for pkg := range withoutExample {
		if !public[pkg] {
			t.Errorf("exception for %s: there is no such public package", pkg)
		}
	}
}
