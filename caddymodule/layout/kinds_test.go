package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// TestKinds: each of Caddy's own handlers has a row. A new one gets one on purpose, be it that of a
// handler that may do anything.
func TestKinds(t *testing.T) {
	rows := []string{"php"} // FrankenPHP's, which is not in here
	for _, m := range caddy.GetModules("http.handlers") {
		name := m.ID.Name()
		if strings.HasPrefix(name, "restwarden") || name == "probe" {
			continue
		}
		rows = append(rows, name)
		if kinds[name] == nil {
			t.Errorf("the handler %s has no row in kinds", name)
		}
	}
	for name, k := range kinds {
		if !slices.Contains(rows, name) {
			t.Errorf("no Caddy has the handler %s", name)
		}
		if k.single && k.branches != nil || k.through && k.branches == nil || k.Run == RunNot {
			t.Errorf("%s: %+v", name, k)
		}
	}
	if k := KindOf("of_a_plugin"); k.Run != RunNot || k.answers || k.quiet || k.single || k.Leads() || k.changes != everything {
		t.Errorf("a handler that is not known: %+v", k)
	}
}

// TestKinds_OneList: no other file sorts handlers by their names.
func TestKinds_OneList(t *testing.T) {
	for _, dir := range []string{".", "..", "../dryrun", "../command", "../command/audit", "../command/suggest", "../command/testfile"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || filepath.Base(file) == "kinds.go" {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if list := sorted(t, string(text)); len(list) > 1 {
				t.Errorf("%s sorts handlers: %q", file, list)
			}
		}
	}
	for text, n := range map[string]int{
		`var a = []string{"encode", "other", "map"}`:                              2,
		`func f(s string) { switch s { case "encode": case "tracing": } }`:        2,
		`func f(s string) bool { return s == "encode" || "tracing" == s }`:        2,
		`var a = map[string]int{"encode": 1, "tracing": 2}`:                       2,
		`var a = []string{"encode"}; var b = struct{ a string "json:\"map\"" }{}`: 0,
	} {
		if got := sorted(t, "package a\n"+text); len(got) != n {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// sorted returns the names of handlers that stand together in the lists, switches and comparisons
// of a file.
func sorted(t *testing.T, text string) (list []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	named := func(exprs ...ast.Expr) (names []string) {
		for _, e := range exprs {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				e = pair.Key
			}
			if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if name, _ := strconv.Unquote(l.Value); kinds[name] != nil {
					names = append(names, name)
				}
			}
		}
		return names
	}
	var compared []string
	ast.Inspect(file, func(n ast.Node) bool {
		var found []string
		switch n := n.(type) {
		case *ast.CompositeLit:
			found = named(n.Elts...)
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				found = append(found, named(c.(*ast.CaseClause).List...)...)
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				compared = append(compared, named(n.X, n.Y)...)
			}
		}
		if len(found) > 1 {
			list = append(list, found...)
		}
		return true
	})
	slices.Sort(compared)
	if compared = slices.Compact(compared); len(compared) > 1 {
		list = append(list, compared...)
	}
	return list
}
