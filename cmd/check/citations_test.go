package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// leastCitations is far below the number in the tree; with fewer, the search is broken.
const leastCitations = 150

// TestCitations resolves every citation of the tree.
func TestCitations(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	_, problems := checkCitations(t, os.DirFS(root), leastCitations)
	for _, problem := range problems {
		t.Error(problem)
	}
}

// checkCitations returns the places of the documents that the files of tree cite.
// problems names each citation that does not resolve to exactly one place, and says if
// there are fewer than least.
func checkCitations(t *testing.T, tree fs.FS, least int) (found []place, problems []string) {
	t.Helper()
	cited := citedDocuments(t, tree)
	err := fs.WalkDir(tree, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir() || !mayCite(file):
			return nil
		}
		text, err := fs.ReadFile(tree, file)
		if err != nil {
			return err
		}
		for _, m := range documentName.FindAllStringSubmatchIndex(string(text), -1) {
			places, err := readCitation(string(text[m[2]:m[3]]), string(text[m[1]:]))
			for _, p := range places {
				found = append(found, p)
				if err == nil {
					err = cited[p.document].resolve(p)
				}
			}
			if err != nil {
				line := 1 + strings.Count(string(text[:m[0]]), "\n")
				problems = append(problems, fmt.Sprintf("%s:%d: %v", file, line, err))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < least {
		problems = append(problems, fmt.Sprintf("%d citations found, want %d or more", len(found), least))
	}
	return found, problems
}

// mayCite tells whether a file is searched.
func mayCite(file string) bool {
	return slices.Contains([]string{".go", ".php", ".md", ".yml", ".yaml"}, path.Ext(file)) ||
		strings.Contains(strings.ToLower(path.Base(file)), "caddyfile")
}

// madeUp returns a tree with correct citations of all forms.
func madeUp() fstest.MapFS {
	tree := fstest.MapFS{}
	for file, text := range map[string]string{
		"docs/platform/one.md": "# I From request to route\n\n## I.1 The route\n\n### I.1.1 Which?\n\n1. a\n2. b\n3. c\n\n" +
			"## I.2 Servers\n\n| # | cause |\n|--:|---|\n| N1 | x |\n| **N15** | y |\n",
		"docs/platform/two.md": "# Part II: Newer releases\n\n```caddyfile\n# I.1 is no heading here\n```\n\n## II.1 One\n## II.2 Two\n## II.3 Three\n",
		"docs/project/interface.md": "## 4. Endpoints\n\n| # | path |\n|---|---|\n| E12 | a |\n| E13 | b |\n| E14 | c |\n\n### Rules\n\n1. a\n2. b\n3. c\n\n" +
			"## 5. Authentication\n\n1. a\n2. b\n3. c\n\n## 7. Errors\n\n1. twice\n\n1. twice\n",
		"docs/project/design.md": "## 1. Who\n\n## 7. Caller\n\n## 7. Caller again\n",

		"a.go":              "// (%platform I.1.1). And %platform\n// I.1, II.1 and I.2: 404. %platform I or II, of two\n",
		"b.go":              "x() // %platform I.1.1, 1 and 2; I.2, N1, N15; %project/interface E13; %project/interface E12 to E14, section 5.\n",
		"c/d.php":           "/*\n * See %platform I.1,\n * II.2 (%platform II.1 to II.3).\n */\n",
		"c/Caddyfile":       "# %project/interface 5, rules 1 to 3\n",
		".github/check.yml": "# %project/interface 4, 7 and 5,\n  # rule 3; 4, rules 1 and 2 (%project/design 1)\n",
		"README.md":         "`%project/interface` 4 and [%project/design 1](docs/project/design.md#1-who), %platform/one.md, %project/interface.md, %project/design-x 9, %project/design says 3.\n",
		"binary.txt":        "%project/design 99",
	} {
		tree[file] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, "%", docs))}
	}
	return tree
}

// TestCitations_Right reads citations of all forms.
func TestCitations_Right(t *testing.T) {
	t.Parallel()
	places, problems := checkCitations(t, madeUp(), 1)
	if len(problems) > 0 {
		t.Errorf("problems with right citations:\n%s", strings.Join(problems, "\n"))
	}
	want := []place{
		// .github/check.yml and README.md
		{"project/interface", "4", ""},
		{"project/interface", "7", ""},
		{"project/interface", "5", ""},
		{"project/interface", "5", "3"},
		{"project/interface", "4", ""},
		{"project/interface", "4", "1"},
		{"project/interface", "4", "2"},
		{"project/design", "1", ""},
		{"project/interface", "4", ""},
		{"project/design", "1", ""},
		// a.go and b.go
		{"platform", "I.1.1", ""},
		{"platform", "I.1", ""},
		{"platform", "II.1", ""},
		{"platform", "I.2", ""},
		{"platform", "I", ""},
		{"platform", "II", ""},
		{"platform", "I.1.1", ""},
		{"platform", "I.1.1", "1"},
		{"platform", "I.1.1", "2"},
		{"platform", "I.2", ""},
		{"platform", "I.2", "N1"},
		{"platform", "I.2", "N15"},
		{"project/interface", "", "E13"},
		{"project/interface", "", "E12"},
		{"project/interface", "", "E13"},
		{"project/interface", "", "E14"},
		{"project/interface", "5", ""},
		// c/Caddyfile and c/d.php
		{"project/interface", "5", ""},
		{"project/interface", "5", "1"},
		{"project/interface", "5", "2"},
		{"project/interface", "5", "3"},
		{"platform", "I.1", ""},
		{"platform", "II.2", ""},
		{"platform", "II.1", ""},
		{"platform", "II.2", ""},
		{"platform", "II.3", ""},
	}
	if !slices.Equal(places, want) {
		t.Errorf("found %v\nwant  %v", places, want)
	}
}

// TestCitations_Wrong adds one wrong citation at a time.
func TestCitations_Wrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"%platform III.8", "is the number of 0 headings"},
		{"%platform\n// I.9", "is the number of 0 headings"},
		{"%platform I.1, II.1 and II.4", "is the number of 0 headings"},
		{"%platform II.1 to II.4", "is the number of 0 headings"},
		{"%platform II.3 to II.1", "is no range"},
		{"%platform II.1 to I.2", "is no range"},
		{"%platform I.1.1, 9", "is the number of 0 lines"},
		{"%platform I.2, N1 and N2", "is the number of 0 lines"},
		{"%platform 1.1", "has no numbers like 1.1"},
		{"%platform N15", "has no numbers like N15"},
		{"%platform E13", "has no numbers like E13"},
		{"%platform i.1", "has no numbers like i.1"},
		{"%platform, I.1", "is in no form that is known"},
		{"%platform: section I.1", "is in no form that is known"},
		{"%platform #7", "is in no form that is known"},
		{"%platform I.2 N1", "is in no form that is known"},
		{"%platform II.1-3", "is in no form that is known"},
		{"%platform/route.md I.1", "is in no form that is known"},
		{"%project/interface.md E13", "is in no form that is known"},
		{"%project/interface E99", "is the number of 0 lines"},
		{"%project/interface E12 to E15", "is the number of 0 lines"},
		{"%project/interface 6", "is the number of 0 headings"},
		{"%project/interface 5, rule 4", "is the number of 0 lines"},
		{"%project/interface 5, rules 2 to 4", "is the number of 0 lines"},
		{"%project/interface 7, rule 1", "is the number of 2 lines"},
		{"%project/interface E13, rule 1", "has no numbers like 1"},
		{"%project/interface 5, rule 1; 9", "is the number of 0 headings"},
		{"%project/interface 5.1", "has no numbers like 5.1"},
		{"%project/interface §5", "is in no form that is known"},
		{"%project/interface III.8", "has no numbers like III.8"},
		{"%project/design 2", "is the number of 0 headings"},
		{"%project/design 7", "is the number of 2 headings"},
		{"%project/design 1, rule 1", "has no numbers like 1"},
		{"%project/design E1", "has no numbers like E1"},
	} {
		tree := madeUp()
		tree["new.go"] = &fstest.MapFile{Data: []byte("package x\n\n// Why (" + strings.ReplaceAll(c.text, "%", docs) + ").\n")}
		_, problems := checkCitations(t, tree, 1)
		if len(problems) != 1 || !strings.HasPrefix(problems[0], "new.go:3: ") || !strings.Contains(problems[0], c.want) {
			t.Errorf("%q: %q, want one problem that says %q", c.text, problems, c.want)
		}
	}
}

// TestCitations_Few has a tree with too few citations.
func TestCitations_Few(t *testing.T) {
	t.Parallel()
	tree := madeUp()
	found, _ := checkCitations(t, tree, 1)
	_, problems := checkCitations(t, tree, len(found)+1)
	if len(problems) != 1 || !strings.Contains(problems[0], "citations found, want") {
		t.Errorf("problems %q, want one that says how few there are", problems)
	}
}

// TestCitations_Missing has a tree without the documents.
func TestCitations_Missing(t *testing.T) {
	t.Parallel()
	for _, gone := range []string{"docs/platform/one.md", "docs/platform/two.md", "docs/project/interface.md", "docs/project/design.md"} {
		tree := madeUp()
		delete(tree, gone)
		if _, problems := checkCitations(t, tree, 1); len(problems) == 0 {
			t.Errorf("without %s all citations resolve", gone)
		}
	}
}
