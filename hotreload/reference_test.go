package hotreload

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/langrooms/langrooms/setting"
)

// TestReference keeps docs/configuration.md equal to the schema; -update rewrites it.
func TestReference(t *testing.T) {
	const path = "../docs/configuration.md"
	tmpl := template.New("configuration.md.tmpl").Funcs(template.FuncMap{
		"groups": groups, "fields": groupRows, "entries": entryRows,
		"types": func() []string { return []string{"a2a", "openai", "acp"} },
	})
	if _, err := tmpl.ParseFiles("testdata/configuration.md.tmpl"); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := tmpl.Execute(&b, nil); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("%s is not what the schema says; run go generate ./hotreload (-want +got)\n%s", path, diff)
	}
}

func groups() []string {
	var all []string
	for _, f := range Schema() {
		if !slices.Contains(all, f.Group) {
			all = append(all, f.Group)
		}
	}
	return all
}

func groupRows(group string) []string {
	var rows []string
	for _, f := range Schema() {
		if f.Group != group || strings.Contains(f.Key, "[]") {
			continue
		}
		change := "restart"
		if f.Live {
			change = "live"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s |", f.Key, takes(f), defaultOf(f), ceilingOf(f), change, f.Help))
	}
	return rows
}

func entryRows(list, typ string) []string {
	var rows []string
	for _, f := range Schema() {
		key, ok := strings.CutPrefix(f.Key, list+"[].")
		if !ok || typ == "" && f.Types != nil || typ != "" && !slices.Contains(f.Types, typ) {
			continue
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s | %s |", key, takes(f), defaultOf(f), ceilingOf(f), f.Help))
	}
	return rows
}

func takes(f setting.Field) string {
	var named []string
	for _, c := range f.Choices {
		if c != "" {
			named = append(named, "`"+c+"`")
		}
	}
	switch {
	case f.Kind == setting.Choice:
		return strings.Join(named, ", ")
	case named != nil:
		return "list of " + strings.Join(named, ", ")
	case f.Kind == setting.Bool:
		return "`true`, `false`"
	}
	return string(f.Kind)
}

func defaultOf(f setting.Field) string {
	switch {
	case f.Required:
		return "*required*"
	case f.Default == nil || f.Default == "":
		return "–"
	}
	return fmt.Sprintf("`%v`", f.Default)
}

func ceilingOf(f setting.Field) string {
	if f.Ceiling == 0 {
		return "–"
	}
	return strings.TrimSpace(plain(f.Ceiling) + " " + f.Unit)
}

// TestSchema shows that every key is described, that its default is a value that it
// takes, and that what Schema returns is the caller's.
func TestSchema(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Schema() {
		id := f.Key + " " + strings.Join(f.Types, ",")
		if seen[id] {
			t.Errorf("%s is described twice", id)
		}
		seen[id] = true
		if f.Group == "" || f.Help == "" || f.Kind == "" || !strings.HasSuffix(f.Help, ".") {
			t.Errorf("%s is not described: %+v", f.Key, f)
		}
		if text, ok := f.Default.(string); ok {
			if err := checkText(f, text); err != nil {
				t.Errorf("the default of %s is refused: %v", f.Key, err)
			}
		}
		if f.Knob && (f.Ceiling == 0 || f.Default == nil) {
			t.Errorf("the knob %s has no ceiling or no default", f.Key)
		}
	}
	for key, live := range map[string]bool{"room.max_rounds": true, "delegates": true, "delegates[].url": true, "identity.name": true, "model.url": true,
		"continuity": true, "shared_sessions.enabled": true, "checkpointer.url": false, "server.addr": false} {
		i := slices.IndexFunc(Schema(), func(f setting.Field) bool { return f.Key == key })
		if i < 0 || Schema()[i].Live != live {
			t.Errorf("%s: want live %v", key, live)
		}
	}
	all := Schema()
	all[0].Key = "changed"
	if Schema()[0].Key == "changed" {
		t.Error("the schema can be changed through what it returned")
	}
}
