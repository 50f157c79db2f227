package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sessionRules are the rules of shared sessions by the numbers that comments cite.
const sessionRules = "1.1 1.2 1.3 1.4 1.5 1.6 2 3 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 5 6"

var (
	ruleRow   = regexp.MustCompile(`(?m)^\| (\d(?:\.\d)?(?: [a-z ]+)?) \| .* \|$`)
	testNamed = regexp.MustCompile("`([a-z/]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)`")
	anyRow    = regexp.MustCompile(`(?m)^\| [^-|].*\|$`)
)

// Every rule of shared sessions has its row in the document, every row of its tables a test, and
// every test that is named is in its package.
func TestSharedSessionRules(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "shared-sessions.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, tables, found := strings.Cut(string(data), "\n## Which test shows what\n")
	if !found {
		t.Fatal("the section of tests is missing")
	}
	has, settled := map[string]bool{}, 0
	for _, m := range ruleRow.FindAllStringSubmatch(tables, -1) {
		if has[m[1]] = true; strings.HasPrefix(m[1], "7 ") {
			settled++
		}
	}
	for _, rule := range strings.Fields(sessionRules) {
		if !has[rule] {
			t.Errorf("rule %s has no row", rule)
		}
	}
	if settled < 12 {
		t.Errorf("section 7 has %d rows", settled)
	}
	rows, tests := 0, map[string]bool{}
	for _, row := range anyRow.FindAllString(tables, -1) {
		named := testNamed.FindAllStringSubmatch(row, -1)
		if rows++; len(named) == 0 && !strings.HasSuffix(row, "| test |") {
			t.Errorf("no test in: %s", row)
		}
		for _, m := range named {
			tests[m[1]+"."+m[2]] = true
		}
	}
	if rows < 45 {
		t.Errorf("%d rows", rows)
	}
	for name := range tests {
		pkg, test, _ := strings.Cut(name, ".")
		if !declaresTest(t, pkg, test) {
			t.Errorf("there is no %s in %s", test, pkg)
		}
	}
}

func declaresTest(t *testing.T, pkg, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "\nfunc "+test+"(") {
			return true
		}
	}
	return false
}
