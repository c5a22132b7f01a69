package main

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies"
)

// documents are all pages for people, by path from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	read := func(path string) {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		pages[path] = string(text)
	}
	read("README.md")
	read("CHANGELOG.md")
	read(threatsPage)
	for _, dir := range []string{"docs", ".github"} {
		err = fs.WalkDir(os.DirFS(root), dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") {
				read(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return pages
}

var policyHeadings = []string{
	"Purpose", "Caddyfile", "JSON", "Refusals", "When it cannot decide", "Limits", "Example",
}

var (
	heading     = regexp.MustCompile(`(?m)^## (.*)$`)
	anchored    = regexp.MustCompile(`(?m)^##+ (.*)$`)
	punctuation = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// TestDocs_EveryPolicy compares the pages of the policies with the catalog.
func TestDocs_EveryPolicy(t *testing.T) {
	t.Parallel()
	pages := documents(t)
	named := 0
	for path := range pages {
		if filepath.Dir(path) == "docs/policies" {
			named++
		}
	}
	if named != len(policies.Catalog) {
		t.Errorf("%d pages under docs/policies, %d policies", named, len(policies.Catalog))
	}
	for _, e := range policies.Catalog {
		page := pages["docs/policies/"+e.Name+".md"]
		if !strings.HasPrefix(page, "# "+e.Name+"\n") {
			t.Errorf("%s: no page, or one with another title", e.Name)
		}
		var found []string
		for _, m := range heading.FindAllStringSubmatch(page, -1) {
			found = append(found, m[1])
		}
		if !slices.Equal(found, policyHeadings) {
			t.Errorf("%s: headings %q, want %q", e.Name, found, policyHeadings)
		}
		if !strings.Contains(page, "```caddyfile\n") {
			t.Errorf("%s: no Caddyfile", e.Name)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestDocs_Links follows every link inside the repository.
func TestDocs_Links(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	pages := documents(t)
	for path, text := range pages {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := filepath.Join(filepath.Dir(path), target)
			if target == "" {
				to = path
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s: %s leads nowhere", path, m[1])
			} else if anchor != "" && !slices.Contains(anchors(pages[to]), anchor) {
				t.Errorf("%s: %s has no such heading", path, m[1])
			}
		}
	}
}

// anchors returns the headings of a page as links name them: without punctuation.
func anchors(text string) []string {
	var found []string
	for _, m := range anchored.FindAllStringSubmatch(text, -1) {
		found = append(found, strings.ReplaceAll(punctuation.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return found
}

var jsonBlock = regexp.MustCompile("(?ms)^```json\n(.*?)^```")

// TestDocs_JSON parses every JSON example.
func TestDocs_JSON(t *testing.T) {
	t.Parallel()
	n := 0
	for path, text := range documents(t) {
		for _, m := range jsonBlock.FindAllStringSubmatch(text, -1) {
			n++
			if !json.Valid([]byte(m[1])) {
				t.Errorf("%s: not JSON:\n%s", path, m[1])
			}
		}
	}
	if n == 0 {
		t.Error("no example found")
	}
}

// commandPages are the pages with commands, and the test that runs them.
var commandPages = map[string]string{
	"README.md":                          "the step readme",
	"docs/commands/audit.md":             "TestDocs_Audit in caddymodule/command",
	"docs/guides/cost.md":                "the steps bench, once each, latency and wordpress",
	"docs/commands/bypass.md":            "TestBypass in cmd/check/wordpress",
	"docs/commands/credentials.md":       "TestDocs_Credentials in caddymodule/command",
	"docs/guides/erp-key.md":             "TestDocs_ERPKey in caddymodule/command",
	"docs/commands/explain.md":           "TestDocs_Explain in caddymodule/command",
	"docs/install.md":                    "the step release",
	"docs/commands/open-close.md":        "TestDocs_OpenClose in caddymodule/gateway",
	"docs/commands/status.md":            "TestDocs_Status in caddymodule/gateway",
	"docs/project/wordpress.md":          "the step wordpress, in its own process",
	"docs/project/reference-platform.md": "TestDocs_Withdrawal in cmd/platform",
}

// TestDocs_Commands: only pages whose commands a test runs may have commands.
func TestDocs_Commands(t *testing.T) {
	t.Parallel()
	for path, text := range documents(t) {
		if has, runs := strings.Contains(text, "```sh\n"), commandPages[path] != ""; has != runs {
			t.Errorf("%s: commands %v, run by %q", path, has, commandPages[path])
		}
	}
}

// threatsPage lists the threats, each with the tests that prove that it fails.
const threatsPage = "cmd/check/testdata/threats.md"

var (
	threatRow  = regexp.MustCompile(`^\| (?:[A-I]\d*)? *\| .+ \| (.+) \|$`)
	namedTests = regexp.MustCompile("((?:`(?:Test|Fuzz)\\w+`(?:, )?)+) in `([\\w/.]+)`")
	// inPlaceOfTests is a test or a command, a link, or the statement that there is none.
	inPlaceOfTests = regexp.MustCompile("`|\\]\\(|no test")
)

// TestDocs_NamedTests looks up the tests of the threats. A row without one says what holds in its place, or is not covered.
func TestDocs_NamedTests(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(documents(t)[threatsPage]) {
		row := threatRow.FindStringSubmatch(strings.TrimSpace(line))
		if row == nil || row[1] == "tests" {
			continue
		}
		if rows++; !inPlaceOfTests.MatchString(row[1]) {
			t.Errorf("no test: %s", line)
		}
		for _, m := range namedTests.FindAllStringSubmatch(row[1], -1) {
			source, err := os.ReadFile(filepath.Join(root, m[2]))
			if err != nil {
				t.Error(err)
				continue
			}
			for name := range strings.SplitSeq(m[1], ", ") {
				if name = strings.Trim(name, "`"); !strings.Contains(string(source), "func "+name+"(") {
					t.Errorf("%s has no %s", m[2], name)
				}
			}
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows", rows)
	}
}

var directRequire = regexp.MustCompile(`(?m)^(?:require )?\s*([\w.-]+\.\w+/\S+) v\S+$`)

var dependencyRow = regexp.MustCompile("(?m)^\\| `([\\w.-]+\\.\\w+/\\S+)` \\|")

// TestDocs_Dependencies finds a reason for every direct dependency.
func TestDocs_Dependencies(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	page := documents(t)["docs/project/dependencies.md"]
	direct := directRequire.FindAllStringSubmatch(string(mod), -1)
	if len(direct) == 0 {
		t.Fatal("no direct dependency found in go.mod")
	}
	for _, m := range direct {
		if !strings.Contains(page, "| `"+m[1]+"` |") {
			t.Errorf("docs/project/dependencies.md does not say why %s is there", m[1])
		}
	}
	for _, row := range dependencyRow.FindAllStringSubmatch(page, -1) {
		if !slices.ContainsFunc(direct, func(m []string) bool { return m[1] == row[1] }) {
			t.Errorf("docs/project/dependencies.md names %s, which go.mod does not require", row[1])
		}
	}
}

var npmRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// npmDirs are the directories with packages of npm.
var npmDirs = []string{"agents/clients", "testkit/libraries/npm", "grafana/types"}

// TestDocs_NPM compares the page with the packages of npm.
func TestDocs_NPM(t *testing.T) {
	t.Parallel()
	var want []string
	for _, dir := range npmDirs {
		want = append(want, npmPackages(t, dir)...)
	}
	var named []string
	_, section, _ := strings.Cut(documents(t)["docs/project/dependencies.md"], "\n## From npm\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, row := range npmRow.FindAllStringSubmatch(section, -1) {
		named = append(named, row[1])
	}
	slices.Sort(named)
	slices.Sort(want)
	if len(want) == 0 || !slices.Equal(named, want) {
		t.Errorf("docs/project/dependencies.md names %q, package.json %q", named, want)
	}
}

// npmPackages are the packages that a directory names. They are held by exact versions and by
// sums, and come from no address of their own.
func npmPackages(t *testing.T, dir string) []string {
	t.Helper()
	var wanted struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	var lock struct {
		Packages map[string]struct {
			Version   string `json:"version"`
			Resolved  string `json:"resolved"`
			Integrity string `json:"integrity"`
		} `json:"packages"`
	}
	for name, into := range map[string]any{"package.json": &wanted, "package-lock.json": &lock} {
		text, err := os.ReadFile(filepath.Join(filepath.FromSlash(dir), name))
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, version := range wanted.Dependencies {
		if locked := lock.Packages["node_modules/"+name].Version; locked != version {
			t.Errorf("%s: %q wanted, %q locked", name, version, locked)
		}
	}
	for path, p := range lock.Packages {
		if path != "" && p.Integrity == "" || p.Resolved != "" {
			t.Errorf("%s: sum %q, address %q, want a sum and no address", path, p.Integrity, p.Resolved)
		}
	}
	return slices.Sorted(maps.Keys(wanted.Dependencies))
}
