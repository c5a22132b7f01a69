package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var (
	span = regexp.MustCompile("`([^`\n]+)`")
	// ownPath is the path of a file or folder of the repository.
	ownPath = regexp.MustCompile(`^(?:policies|caddymodule|cmd|docs|\.github|\.ci)(?:/[\w.*<>-]+)*/?$`)
	goFile  = regexp.MustCompile(`^[\w*<>-]+\.go$`)
	// packages is what a command of Go is told to work on.
	goArgument   = regexp.MustCompile(`(?:^|[\s])\./((?:policies|caddymodule|cmd)[\w/.-]*)`)
	placeholders = regexp.MustCompile(`<\w+>|…`)
	// inComment is a file that a comment names.
	inComment = regexp.MustCompile(`(?:policies|caddymodule|cmd|docs)/[\w./-]+\.(?:go|md|json|yml|txt|php|caddyfiletest|gz)\b`)
)

// notThere are names of files that are not in the repository: those of an example, and what a run
// makes.
var notThere = []string{
	"policies/geo.go", "policies/geo_test.go", "docs/policies/geo.md", "caddymodule/gateway/testdata/adapt/policy_geo.caddyfiletest",
	"cmd/check/wordpress/testdata/rapid",
}

// TestDocs_Files resolves each file, folder and package of the repository that the pages name.
func TestDocs_Files(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	tree, n := os.DirFS(root), 0
	for page, text := range documents(t) {
		for _, name := range filesIn(text) {
			if n++; !resolves(t, tree, name) {
				t.Errorf("%s: there is no %s", page, name)
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d names found", n)
	}
}

// filesIn returns the files, folders and packages that a page names.
func filesIn(text string) (names []string) {
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		if ownPath.MatchString(m[1]) || goFile.MatchString(m[1]) {
			names = append(names, m[1])
		}
	}
	for _, m := range goArgument.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.TrimSuffix(strings.TrimRight(m[1], "."), "/"))
	}
	return names
}

// resolves tells whether there is a file, or a folder, of a name, in which * and <name> stand for
// anything. A Go file may stand without its folder.
func resolves(t *testing.T, tree fs.FS, name string) bool {
	t.Helper()
	name = placeholders.ReplaceAllString(strings.TrimSuffix(name, "/"), "*")
	if slices.Contains(notThere, name) {
		return true
	}
	if goFile.MatchString(name) {
		return slices.ContainsFunc(sourcesOf(t).files, func(file string) bool { return path.Base(file) == name })
	}
	found, err := fs.Glob(tree, name)
	return err == nil && len(found) > 0
}

// TestDocs_FilesWrong finds the names that a page has wrong.
func TestDocs_FilesWrong(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"see `policies/gone.go`", "`gone.go`", "`caddymodule/gone/`", "`cmd/caddy/gone_*_test.go`", "`go test ./policies/gone -run X`",
		"```sh\ngo test ./cmd/gone/...\n```\n",
	} {
		names := filesIn(text)
		if len(names) != 1 || resolves(t, os.DirFS(root), names[0]) {
			t.Errorf("%q: found %q", text, names)
		}
	}
}

// TestDocs_FilesOfComments resolves each file that a comment of the code names.
func TestDocs_FilesOfComments(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	for file, names := range sourcesOf(t).named {
		for _, name := range names {
			if !resolves(t, os.DirFS(root), name) {
				t.Errorf("%s: there is no %s", file, name)
			}
		}
	}
}

var (
	// identifier is a name of Go: no word, no header.
	identifier = regexp.MustCompile(`^(?:[a-z]\w*\.)?(?:\w+\.)?[A-Za-z]*(?:[a-z][A-Z]|[A-Z][a-z])\w*(?:\(\))?$`)
	testName   = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z]\w*$`)
)

// TestDocs_Identifiers looks up the names of Go in the pages about the code, and tests in all.
func TestDocs_Identifiers(t *testing.T) {
	t.Parallel()
	known, n := sourcesOf(t), 0
	for page, text := range documents(t) {
		ofCode := page == "docs/project/design.md" || page == ".github/CONTRIBUTING.md"
		for _, m := range span.FindAllStringSubmatch(text, -1) {
			if name := m[1]; testName.MatchString(name) || ofCode && identifier.MatchString(name) && name != "Caddyfile.example" {
				if n++; !known.has(name) {
					t.Errorf("%s: there is no %s", page, name)
				}
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d names found", n)
	}
	for _, gone := range []string{"builtIn" + "RulesOfOld", "TestGone" + "ForGood", "policies.NoSuch" + "Thing"} {
		if known.has(gone) || !identifier.MatchString(gone) {
			t.Errorf("%s is found", gone)
		}
	}
}

// runsTests is a command that runs some tests of some packages.
var runsTests = regexp.MustCompile(`go test ((?:-\w+ )*(?:-tags \w+ )?)((?:\./[\w/]+ )+)-run ('[^']+'|\w+)`)

// TestDocs_Runs: each word of -run in a page names a test of the packages beside it.
func TestDocs_Runs(t *testing.T) {
	t.Parallel()
	known, n := sourcesOf(t), 0
	for page, text := range documents(t) {
		for _, m := range runsTests.FindAllStringSubmatch(text, -1) {
			var tests []string
			for folder := range strings.FieldsSeq(m[2]) {
				tests = append(tests, known.tests[path.Clean(folder)]...)
			}
			for word := range strings.SplitSeq(strings.Trim(m[3], "'"), "|") {
				if n++; word != "^$" && !slices.ContainsFunc(tests, func(name string) bool { return strings.Contains(name, strings.Trim(word, "^$")) }) {
					t.Errorf("%s: %s: no test %s", page, m[0], word)
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d words found", n)
	}
}

// goSources is what the Go files of the repository have.
type goSources struct {
	files  []string
	idents map[string]bool     // identifiers, and texts in quotes
	named  map[string][]string // the files that the comments of a file name
	tests  map[string][]string // by folder
}

// has tells whether each part of a name is an identifier somewhere.
func (g *goSources) has(name string) bool {
	if g.idents[name] {
		return true
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(name, "()"), ".") {
		if !g.idents[part] {
			return false
		}
	}
	return true
}

// readSources reads the Go files below a folder.
var readSources = sync.OnceValues(func() (*goSources, error) {
	root, err := repositoryRoot()
	if err != nil {
		return nil, err
	}
	g := &goSources{idents: map[string]bool{}, named: map[string][]string{}, tests: map[string][]string{}}
	return g, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && file != root:
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(file) != ".go":
			return nil
		}
		return g.add(root, file)
	})
})

func sourcesOf(t *testing.T) *goSources {
	t.Helper()
	g, err := readSources()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *goSources) add(root, file string) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if file, err = filepath.Rel(root, file); err != nil {
		return err
	}
	g.files = append(g.files, file)
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if testName.MatchString(n.Name.Name) {
				g.tests[path.Dir(filepath.ToSlash(file))] = append(g.tests[path.Dir(filepath.ToSlash(file))], n.Name.Name)
			}
		case *ast.Ident:
			g.idents[n.Name] = true
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				g.idents[text] = true
			}
		}
		return true
	})
	for _, c := range parsed.Comments {
		g.named[file] = append(g.named[file], inComment.FindAllString(c.Text(), -1)...)
	}
	return nil
}
