// Package lists finds lists of one kind of names in Go files, so that a test can hold that
// there is one list of them.
package lists

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Sources returns the Go files below some folders of the repository, without those of tests and of
// packages for tests, whose names end with "test": their paths from its root, with slashes, and their
// texts. root is the way to it.
func Sources(tb testing.TB, root string, folders ...string) map[string]string {
	tb.Helper()
	tree, found := os.DirFS(root), map[string]string{}
	for _, folder := range folders {
		before := len(found)
		err := fs.WalkDir(tree, folder, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && strings.HasSuffix(file, "test") {
				return fs.SkipDir
			}
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(tree, file)
			found[file] = string(text)
			return err
		})
		if err != nil || len(found) == before {
			tb.Fatal(folder, "has no Go files", err)
		}
	}
	return found
}

// Alone fails the test for each source that has several of the names in a list, in the cases of a switch,
// or in comparisons. A home is the base name of a file that may.
func Alone(tb testing.TB, known func(name string) bool, sources map[string]string, homes ...string) {
	tb.Helper()
	for file, text := range sources {
		if slices.Contains(homes, path.Base(file)) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			tb.Fatal(err)
		}
		if names := In(parsed, known); len(names) > 0 {
			tb.Errorf("%s has a list of its own: %q", file, names)
		}
	}
}

// In returns the known names that stand together in a file.
func In(file *ast.File, known func(name string) bool) (together []string) {
	var compared []string
	ast.Inspect(file, func(n ast.Node) bool {
		var found []string
		switch n := n.(type) {
		case *ast.CompositeLit:
			found = named(known, n.Elts)
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				found = append(found, named(known, c.(*ast.CaseClause).List)...)
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				compared = append(compared, named(known, []ast.Expr{n.X, n.Y})...)
			}
		}
		if len(found) > 1 {
			together = append(together, found...)
		}
		return true
	})
	slices.Sort(compared)
	if compared = slices.Compact(compared); len(compared) > 1 {
		together = append(together, compared...)
	}
	return together
}

// named returns the known names among literals and keys.
func named(known func(name string) bool, exprs []ast.Expr) (names []string) {
	for _, e := range exprs {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Key
		}
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if name, err := strconv.Unquote(l.Value); err == nil && known(name) {
				names = append(names, name)
			}
		}
	}
	return names
}
