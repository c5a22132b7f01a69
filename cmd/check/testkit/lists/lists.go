// Package lists finds lists of one kind of names in Go files, so that a test can hold that
// there is one list of them.
package lists

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Alone fails the test for each Go file of some directories, tests and homes apart, that has several
// of the names in a list, in the cases of a switch, or in comparisons. A home is the base name of a
// file that may.
func Alone(tb testing.TB, known func(name string) bool, dirs, homes []string) {
	tb.Helper()
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			tb.Fatal(dir, "has no Go files", err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || slices.Contains(homes, filepath.Base(file)) {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				tb.Fatal(err)
			}
			if names := In(parsed, known); len(names) > 0 {
				tb.Errorf("%s has a list of its own: %q", file, names)
			}
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
