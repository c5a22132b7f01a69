package lists

import (
	"go/parser"
	"go/token"
	"testing"
)

func TestIn(t *testing.T) {
	known := func(name string) bool { return name == "one" || name == "two" }
	for text, n := range map[string]int{
		`var a = []string{"one", "other", "two"}`:                              2,
		`var a = map[string]int{"one": 1, "two": 2}`:                           2,
		`func f(s string) { switch s { case "one": case "two": } }`:            2,
		`func f(s string) bool { return s == "one" || "two" != s }`:            2,
		`func f(s string) bool { return s == "one" || "one" != s }`:            0,
		`var a = []string{"one"}; var b = struct{ a string "json:\"two\"" }{}`: 0,
		`var a, b = "one", "two"`:                                              0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package a\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := In(file, known); len(got) != n {
			t.Errorf("%s: %q", text, got)
		}
	}
}
