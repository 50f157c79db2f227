package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Sizes in lines. A file or function above a report limit is listed; a file above
// maxFile fails.
const (
	reportFile = 400
	maxFile    = 600
	reportFunc = 80
)

// source is one parsed Go file.
type source struct {
	name  string // slash-separated, from the repository's root
	lines int
	fset  *token.FileSet
	file  *ast.File
}

func (s source) isTest() bool {
	return strings.HasSuffix(s.name, "_test.go") || testOnly(path.Dir(s.name))
}

func (s source) at(p token.Pos) string {
	return fmt.Sprintf("%s:%d", s.name, s.fset.Position(p).Line)
}

// sources parses every Go file of the repository, the example modules included.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		s, err := parse(p, nil)
		s.name = filepath.ToSlash(rel)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// parse reads one file, or src when it is not nil.
func parse(name string, src any) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	return source{name: name, fset: fset, file: file, lines: fset.File(file.Pos()).LineCount()}, nil
}

func TestSizes(t *testing.T) {
	var lines []int
	for _, s := range sources(t) {
		lines = append(lines, s.lines)
		switch {
		case s.lines > maxFile:
			t.Errorf("%s has %d lines, more than %d", s.name, s.lines, maxFile)
		case s.lines > reportFile:
			t.Logf("outlier: %s has %d lines", s.name, s.lines)
		}
		for _, decl := range s.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1; n > reportFunc {
				t.Logf("outlier: %s: %s has %d lines", s.at(fn.Pos()), fn.Name.Name, n)
			}
		}
	}
	slices.Sort(lines)
	t.Logf("%d files, median %d lines, longest %d", len(lines), lines[len(lines)/2], lines[len(lines)-1])
}

func TestHabits(t *testing.T) {
	for _, s := range sources(t) {
		for _, finding := range habits(s) {
			t.Error(finding)
		}
	}
}

// habits returns what a file does that it should not: a test that sleeps (time belongs to
// testing/synctest, order to channels), and code that tells errors apart by words written in
// it (tests and suites may look at the words that people read).
func habits(s source) []string {
	var found []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s.isTest() && isSelector(n.Fun, "time", "Sleep") {
				found = append(found, s.at(n.Pos())+": time.Sleep in a test")
			}
			if !s.isTest() && isStringsPredicate(n.Fun) && len(n.Args) == 2 && isWordsOfError(n.Args[0], n.Args[1]) {
				found = append(found, s.at(n.Pos())+": an error is told by its text")
			}
		case *ast.BinaryExpr:
			if !s.isTest() && (n.Op == token.EQL || n.Op == token.NEQ) && isWordsOfError(n.X, n.Y) {
				found = append(found, s.at(n.Pos())+": an error is told by its text")
			}
		case *ast.SwitchStmt:
			if !s.isTest() && n.Tag != nil && isErrorText(n.Tag) {
				found = append(found, s.at(n.Pos())+": an error is told by its text")
			}
		}
		return true
	})
	return found
}

// isWordsOfError reports whether one of the two is an error's text and the other a literal.
func isWordsOfError(x, y ast.Expr) bool {
	_, xLit := x.(*ast.BasicLit)
	_, yLit := y.(*ast.BasicLit)
	return isErrorText(x) && yLit || xLit && isErrorText(y)
}

// isErrorText reports whether e calls a method Error without arguments.
func isErrorText(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 0 {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Error"
}

func isStringsPredicate(e ast.Expr) bool {
	for _, name := range []string{"Contains", "HasPrefix", "HasSuffix", "EqualFold", "Index"} {
		if isSelector(e, "strings", name) {
			return true
		}
	}
	return false
}

func isSelector(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg
}

func TestHabitsAreSeen(t *testing.T) {
	tests := []struct {
		rule, file, body string
		want             int
	}{
		{"a sleeping test", "a_test.go", `time.Sleep(1)`, 1},
		{"code may sleep", "a.go", `time.Sleep(1)`, 0},
		{"equal text", "a.go", `_ = err.Error() == "x"`, 1},
		{"unequal text", "a.go", `_ = "x" != err.Error()`, 1},
		{"part of the text", "a.go", `_ = strings.Contains(err.Error(), "x")`, 1},
		{"a switch over the text", "a.go", `switch err.Error() { case "x": }`, 1},
		{"a test may look at the words", "a_test.go", `_ = strings.Contains(err.Error(), "x")`, 0},
		{"a suite may look at the words", "porttest/a.go", `_ = strings.Contains(err.Error(), "x")`, 0},
		{"taking a secret out of the text", "a.go", `_ = strings.Contains(err.Error(), secret)`, 0},
		{"two texts", "a.go", `_ = err.Error() != old.Error()`, 0},
		{"identity", "a.go", `_ = err == io.EOF`, 0},
		{"the text as text", "a.go", `fmt.Println(err.Error())`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			s, err := parse(tt.file, "package p\nfunc f() {\n"+tt.body+"\n}\n")
			if err != nil {
				t.Fatal(err)
			}
			if got := habits(s); len(got) != tt.want {
				t.Errorf("found %q, want %d", got, tt.want)
			}
		})
	}
}
