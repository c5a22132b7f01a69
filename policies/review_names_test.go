package policies

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// part is the part of the package to which a file belongs: "review", the name of the policy after
// which it is named, or "" for the frame.
func part(file string) string {
	for _, name := range append([]string{"review"}, catalogNames()...) {
		if file == name+".go" || strings.HasPrefix(file, name+"_") {
			return name
		}
	}
	return ""
}

func catalogNames() (names []string) {
	for _, e := range Catalog {
		names = append(names, e.Name)
	}
	return names
}

// TestReview_Names: what reasons about a chain names no policy, and the frame names nothing of it.
// A policy is known by what it can do, and knows of the others what they export.
func TestReview_Names(t *testing.T) {
	files, declaredIn := map[string]*ast.File{}, map[string]string{}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = f
		for name := range f.Scope.Objects {
			declaredIn[name] = part(e.Name())
		}
	}
	if declaredIn["Access"] != "access" || declaredIn["Prove"] != "review" || declaredIn["Chain"] != "" {
		t.Fatalf("%v", declaredIn)
	}
	for name, f := range files {
		own := part(name)
		for _, used := range f.Unresolved {
			of, ours := declaredIn[used.Name]
			wrong := own == "review" && slices.Contains(catalogNames(), of) || own == "" && of == "review"
			hidden := own != of && (own == "review" || of == "review") && !used.IsExported()
			if ours && (wrong || hidden) {
				t.Errorf("%s names %s of %q", name, used.Name, of)
			}
		}
	}
}
