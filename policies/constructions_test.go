package policies

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuiltOnce: no function builds a replacer or an expression of constants each time that it
// is called.
func TestBuiltOnce(t *testing.T) {
	for _, root := range []string{".", "../caddymodule"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			for _, declared := range file.Decls {
				function, ok := declared.(*ast.FuncDecl)
				if !ok {
					continue
				}
				ast.Inspect(function, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok && buildsConstant(call) {
						t.Errorf("%s: it is built with each call", files.Position(call.Pos()))
					}
					return true
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// buildsConstant tells whether a call makes a replacer or an expression of literals.
func buildsConstant(call *ast.CallExpr) bool {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, _ := function.X.(*ast.Ident)
	if of == nil || of.Name+"."+function.Sel.Name != "strings.NewReplacer" && of.Name != "regexp" {
		return false
	}
	for _, argument := range call.Args {
		if _, literal := argument.(*ast.BasicLit); !literal {
			return false
		}
	}
	return len(call.Args) > 0
}
