package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	golists "github.com/restwarden/restwarden/cmd/check/testkit/lists"
)

const (
	foldersBefore    = "| folder | what is in it |\n|---|---|\n"
	interfacesBefore = "| interface | a policy |\n|---|---|\n"
)

// TestDocs_Folders holds the layout in docs/project/design.md: every folder with Go files down to the second
// level, by the first sentence of its package. With -update it writes it. Deeper ones must say what they are, too.
func TestDocs_Folders(t *testing.T) {
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	err = fs.WalkDir(os.DirFS(root), ".", func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); folder != "." && (name == "testdata" || name[0] == '.' || name[0] == '_') {
			return fs.SkipDir
		}
		switch what, found := packageDoc(t, filepath.Join(root, folder)); {
		case found && what == "":
			t.Errorf("%s: no comment says what the package is", folder)
		case found && strings.Count(folder, "/") < 2:
			rows = append(rows, fmt.Sprintf("| `%s/` | %s |", folder, shortened(what)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 20 {
		t.Fatalf("%d folders", len(rows))
	}
	deciding := func(row string) bool { return strings.HasPrefix(row, "| `policies/") }
	slices.SortStableFunc(rows, func(a, b string) int { // what decides stands first
		switch {
		case deciding(a) == deciding(b):
			return 0
		case deciding(a):
			return -1
		}
		return 1
	})
	holdRows(t, root, "docs/project/design.md", foldersBefore, rows)
}

var (
	packageHead = regexp.MustCompile(`^(?:Package|Command) \w+ `)
	docLink     = regexp.MustCompile(`\[([\w.]+)\]`)
)

// packageDoc returns the first sentence about the package of a folder, without its name. found is
// false where the folder has no Go files.
func packageDoc(t *testing.T, folder string) (what string, found bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		if what = new(doc.Package).Synopsis(parsed.Doc.Text()); what != "" {
			break
		}
	}
	what = docLink.ReplaceAllString(packageHead.ReplaceAllString(what, ""), "$1")
	return strings.TrimRight(what, ".:"), len(files) > 0
}

// shortened returns a sentence up to its first colon, where the words before it say something.
func shortened(what string) string {
	if short, _, _ := strings.Cut(what, ": "); len(strings.Fields(short)) > 4 {
		return short
	}
	return what
}

var (
	ofPolicies = regexp.MustCompile(`(?s)^\w+ is a (?:\w+\.)?Policy,? (.*?)\.(?:\s|$)`)
	// askedFor is where the interface of a policy is asked for.
	askedFor = regexp.MustCompile(`olicy\.\((?:\w+\.)?([A-Z]\w+)\)`)
)

// TestDocs_Interfaces holds the table of docs/project/design.md: every interface by which a policy says
// what it can do. With -update it writes it.
func TestDocs_Interfaces(t *testing.T) {
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	sources := golists.Sources(t, root, "policies", "caddymodule")
	var rows []string
	listed, asked := map[string]bool{"Closer": true}, map[string]bool{}
	for _, file := range slices.Sorted(maps.Keys(sources)) {
		for _, m := range askedFor.FindAllStringSubmatch(sources[file], -1) {
			asked[m[1]] = true
		}
		if !strings.HasPrefix(file, "policies/") {
			continue
		}
		for name, text := range interfacesIn(t, file, sources[file]) {
			if m := ofPolicies.FindStringSubmatch(text); m != nil && ast.IsExported(name) {
				rows = append(rows, fmt.Sprintf("| `%s` | %s |", name, strings.Join(strings.Fields(m[1]), " ")))
				listed[name] = true
			}
		}
	}
	if len(asked) < 10 {
		t.Fatalf("only %v", asked)
	}
	for name := range asked {
		if !listed[name] {
			t.Errorf("a policy is asked for %s, whose comment does not begin with %q", name, name+" is a Policy that")
		}
	}
	holdRows(t, root, "docs/project/design.md", interfacesBefore, append(rows, "| `io.Closer` | that holds something which must be released when the configuration is unloaded |"))
}

// interfacesIn returns the interfaces that a file declares, with their comments, in order.
func interfacesIn(t *testing.T, file, text string) func(func(name, comment string) bool) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return func(do func(name, comment string) bool) {
		for _, d := range parsed.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.TypeSpec) //nolint:forcetypeassert // of a declaration of types
				if _, ok := spec.Type.(*ast.InterfaceType); ok && !do(spec.Name.Name, g.Doc.Text()+spec.Doc.Text()) {
					return
				}
			}
		}
	}
}

// holdRows holds the rows of a page's table behind a text. With -update it writes them.
func holdRows(t *testing.T, root, page, before string, rows []string) {
	t.Helper()
	text := documents(t)[page]
	head, rest, found := strings.Cut(text, before)
	got, tail, closed := strings.Cut(rest, "\n\n")
	want := strings.Join(rows, "\n")
	switch {
	case !found || !closed:
		t.Errorf("%s: no table %q", page, before)
	case got == want:
	case *update:
		if err := os.WriteFile(filepath.Join(root, path.Clean(page)), []byte(head+before+want+"\n\n"+tail), 0o600); err != nil {
			t.Error(err)
		}
	default:
		t.Errorf("%s is not what the packages say (run go test ./cmd/check -run %s -update):\n%s\nwant:\n%s", page, t.Name(), got, want)
	}
}

var (
	metricRow  = regexp.MustCompile("(?m)^\\| `(caddy_restwarden_\\w+)` \\|(.*?)\\|")
	metricName = regexp.MustCompile(`(?m)^metric (caddy_restwarden_\w+?)(?:_bucket|_sum|_count)? (\w+)$`)
	quotedWord = regexp.MustCompile("`(\\w+)`")
)

// TestDocs_Metrics holds the table of docs/operations.md: the metrics that a running gateway has,
// with their labels.
func TestDocs_Metrics(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadFile(filepath.Join(root, "caddymodule/drytest/testdata/names.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want, said := map[string]bool{}, map[string]bool{}
	for _, m := range metricName.FindAllStringSubmatch(string(names), -1) {
		switch m[2] {
		case "counter", "gauge", "histogram":
			want[m[1]] = true
		case "le":
		default:
			want[m[1]+" "+m[2]] = true
		}
	}
	for _, m := range metricRow.FindAllStringSubmatch(documents(t)["docs/operations.md"], -1) {
		said[m[1]] = true
		for _, label := range quotedWord.FindAllStringSubmatch(m[2], -1) {
			if label[1] != "metrics" { // metrics { per_host }
				said[m[1]+" "+label[1]] = true
			}
		}
	}
	if len(want) < 30 {
		t.Fatal(want)
	}
	for name := range want {
		if !said[name] {
			t.Errorf("docs/operations.md does not say %s", name)
		}
	}
	for name := range said {
		if !want[name] {
			t.Errorf("docs/operations.md says %s, which no gateway has", name)
		}
	}
}
