package hotreload

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected files and docs/configuration.md")

// outcome writes what Parse made of a file: the values that are not the defaults, the
// findings, or the error.
func outcome(file string, data []byte) string {
	c, findings, err := Parse(file, data)
	if err != nil {
		return "unusable: " + err.Error() + "\n"
	}
	var b strings.Builder
	for _, v := range c.Values() {
		if !v.Default {
			fmt.Fprintf(&b, "%s = %s\n", v.Key, v.Value)
		}
	}
	for _, f := range findings {
		fmt.Fprintln(&b, f)
	}
	if b.Len() == 0 {
		return "the defaults\n"
	}
	return b.String()
}

// TestCorpus reads every file of testdata/corpus and compares values, findings and errors
// with the .want file beside it. No file's secret, hunter2, may show.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/corpus/*.yaml")
	if err != nil || len(files) < 60 {
		t.Fatalf("the corpus has %d files, want at least 60 (%v)", len(files), err)
	}
	for _, path := range files {
		name := filepath.Base(path)
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := outcome(name, data)
			if strings.Contains(got, "hunter2") {
				t.Errorf("a secret shows:\n%s", got)
			}
			want := strings.TrimSuffix(path, ".yaml") + ".want"
			if *update {
				if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			expected, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(expected), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestHostileSizes shows the bounds that a small file cannot show.
func TestHostileSizes(t *testing.T) {
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	merges := "m0: &m0 { k: v }\n"
	for i := 1; i < 40; i++ {
		merges += fmt.Sprintf("m%d: &m%d { <<: [*m%d, *m%d] }\n", i, i, i-1, i-1)
	}
	tests := []struct {
		name, data, want string
	}{
		{"ten megabytes", strings.Repeat("# ten megabytes\n", 10<<20/16), "f.yaml:1: the file has 10485760 bytes, more than the 1048576 that a configuration may have"},
		{"deep list", strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested deeper than 64 levels"},
		{"very deep list", strings.Repeat("[", 500_000), "exceeded max depth"},
		{"deep mapping", strings.Repeat("a: {", 100) + strings.Repeat("}", 100), "f.yaml:1"},
		{"deep dashes", strings.Repeat("- ", 20_000) + "x", "f.yaml:1"},
		{"aliases that multiply", laughs, "the file, aliases expanded, has more than 100000 values"},
		{"merge keys that multiply", merges, "f.yaml:"},
		{"many keys", strings.Repeat("? ", 100_000), "f.yaml:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Parse("f.yaml", []byte(tt.data))
			if !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an unusable file: %s", err, tt.want)
			}
		})
	}
}

// TestLargeRosterIsRead shows that an honest file below the bounds is taken whole.
func TestLargeRosterIsRead(t *testing.T) {
	var b strings.Builder
	b.WriteString("delegates:\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "  - { name: agent-%d, type: acp, command: c }\n", i)
	}
	c, findings, err := Parse("f.yaml", []byte(b.String()))
	if err != nil || len(findings) != 0 || len(c.Delegates) != 5000 {
		t.Fatalf("got %d delegates, %v, %v", len(c.Delegates), findings, err)
	}
	if last := c.Delegates[4999]; last.Name != "agent-4999" || last.Line != 5001 {
		t.Errorf("the last entry is %s in line %d", last.Name, last.Line)
	}
}

// TestShippedFile shows that the configuration in the repository has nothing to remark.
func TestShippedFile(t *testing.T) {
	data, err := os.ReadFile("../langgraph-config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, findings, err := Parse("langgraph-config.yaml", data)
	if err != nil || len(findings) != 0 {
		t.Fatalf("findings %v, error %v", findings, err)
	}
	var names []string
	for _, d := range c.Delegates {
		names = append(names, d.Name)
	}
	if !slices.Equal(names, []string{"proto", "reviewer", "oracle"}) || c.Model.Provider != "demo" {
		t.Errorf("got the delegates %v and provider %s", names, c.Model.Provider)
	}
	c.Delegates = nil
	if diff := cmp.Diff(Default().Values(), c.Values()); diff != "" {
		t.Errorf("the rest differs from the defaults (-want +got)\n%s", diff)
	}
}
