package doctest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// named are the documents whose names of symbols are checked. Records of decisions are not
// among them: they say what was true at their date.
var named = []string{"README.md", "docs/walkthrough.md", "docs/rough-edges.md"}

// written are files that only a run leaves behind.
var written = []string{"langrooms.db"}

var (
	// qualified looks like pkg.Symbol, Type.Method or pkg.Type.Method, with or without ().
	qualified = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*){1,2}(\(\))?$`)
	// exported looks like one exported name.
	exported = regexp.MustCompile(`^[A-Z]\w*$`)
	// place looks like a folder or file of the repository.
	place = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+/?$`)
)

// A name in back-quotes that looks like a symbol, or like a place in the repository, is one.
func TestNames(t *testing.T) {
	known := declared(t)
	for _, name := range named {
		checked := 0
		for _, span := range read(t, name).spans() {
			symbol := strings.TrimSuffix(span, "()")
			switch {
			case slices.Contains(written, span):
			case qualified.MatchString(span), exported.MatchString(span):
				checked++
				if _, err := os.Stat(filepath.Join(root, span)); err != nil && !known[symbol] {
					t.Errorf("%s speaks of `%s`, which is declared nowhere", name, span)
				}
			case place.MatchString(span):
				checked++
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(span))); err != nil {
					t.Errorf("%s speaks of `%s`, which is not there", name, span)
				}
			}
		}
		t.Logf("%s: %d names", name, checked)
	}
	for symbol, want := range map[string]bool{
		"room.Parse": true, "exchange.Turn": true, "run.settle": true, "exchange.run.settle": true,
		"Stamp.Seen": true, "room.open": true, // a field, a channel
		"room.Pars": false, "exchange.Parse": false, "Turn.Seen": false, "Nonsense": false,
	} {
		if known[symbol] != want {
			t.Errorf("%s is declared: %v, want %v", symbol, known[symbol], want)
		}
	}
}

// declared collects what the module's own files declare, in each form that a document may
// name it by: Symbol, pkg.Symbol, Type.Member, pkg.Type.Member. The strings of the code, its
// tests left out, are there too: they are the names of channels and keys.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	known := make(map[string]bool)
	walk(t, ".go", func(name string, data []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		pkg := strings.TrimSuffix(file.Name.Name, "_test")
		add := func(names ...string) {
			symbol := strings.Join(names, ".")
			known[symbol], known[pkg+"."+symbol] = true, true
			known[names[len(names)-1]] = true
		}
		for _, decl := range file.Decls {
			addDecl(decl, add)
		}
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					known[text] = true
				}
			}
			return true
		})
	})
	return known
}

func addDecl(decl ast.Decl, add func(names ...string)) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name.Name)
			return
		}
		receiver := d.Recv.List[0].Type
		if star, ok := receiver.(*ast.StarExpr); ok {
			receiver = star.X
		}
		if base, ok := receiver.(*ast.Ident); ok {
			add(base.Name, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					add(n.Name)
				}
			case *ast.TypeSpec:
				add(s.Name.Name)
				for _, member := range members(s.Type) {
					add(s.Name.Name, member)
				}
			}
		}
	}
}

// members returns the fields of a struct, or the methods of an interface.
func members(typ ast.Expr) []string {
	var list *ast.FieldList
	switch typ := typ.(type) {
	case *ast.StructType:
		list = typ.Fields
	case *ast.InterfaceType:
		list = typ.Methods
	default:
		return nil
	}
	var names []string
	for _, f := range list.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	return names
}
