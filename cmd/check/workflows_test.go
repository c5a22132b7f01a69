package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// githubFiles are the files below .github that GitHub reads, with the schema of each.
var githubFiles = []struct{ pattern, schema string }{
	{"workflows/*.yml", "github-workflow"},
	{"dependabot.yml", "dependabot-2.0"},
	{"ISSUE_TEMPLATE/[^c]*.yml", "github-issue-forms"},
	{"ISSUE_TEMPLATE/config.yml", "github-issue-config"},
}

// TestGitHub_Schemas holds the files against the schemas of SchemaStore.
func TestGitHub_Schemas(t *testing.T) {
	t.Parallel()
	for _, f := range githubFiles {
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", "schemastore", f.schema+".json"))
		if err != nil {
			t.Fatal(err)
		}
		files := gitHubFiles(t, f.pattern)
		if len(files) == 0 {
			t.Errorf("no %s", f.pattern)
		}
		for name, text := range files {
			if err := fitsSchema(schema, text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestGitHub_SchemasRefuse: the schemas refuse what GitHub would.
func TestGitHub_SchemasRefuse(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"github-workflow":     "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - name: neither run nor uses\n",
		"github-issue-forms":  "name: a\ndescription: b\nbody:\n  - type: textbox\n    attributes: {label: c}\n",
		"github-issue-config": "contact_links:\n  - name: a\n",
		"dependabot-2.0":      "version: 1\nupdates: []\n",
	} {
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", "schemastore", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if fitsSchema(schema, []byte(text)) == nil {
			t.Errorf("%s takes\n%s", name, text)
		}
	}
}

// fitsSchema holds YAML against a schema.
func fitsSchema(schema *jsonschema.Schema, text []byte) error {
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		return err
	}
	asJSON, err := json.Marshal(value)
	if err != nil {
		return err
	}
	value, err = jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// gitHubFiles returns the files below .github that fit a pattern, by name.
func gitHubFiles(t *testing.T, pattern string) map[string][]byte {
	t.Helper()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(root, ".github", filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// rulesOf is what the rules below look at in a workflow.
type rulesOf struct {
	Permissions yaml.Node `yaml:"permissions"`
	Jobs        map[string]struct {
		Timeout     int            `yaml:"timeout-minutes"`
		Permissions map[string]any `yaml:"permissions"`
		Steps       []struct {
			Uses string         `yaml:"uses"`
			Run  string         `yaml:"run"`
			With map[string]any `yaml:"with"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

var (
	usesLine = regexp.MustCompile(`(?m)^\s*(?:- )?uses:(.*)$`)
	// pinned is an action by the hash of a commit, with its release as a comment.
	pinned = regexp.MustCompile(`^ ([\w.-]+/[\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$`)
	// ofEvents is what whoever opens an issue or a pull request may write.
	ofEvents = regexp.MustCompile(`\$\{\{[^}]*\b(?:github\.event|github\.head_ref|inputs)\b`)
)

// unsafeIn returns what a workflow does that none of this repository may.
func unsafeIn(text string) (problems []string) {
	var w rulesOf
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		return []string{err.Error()}
	}
	if w.Permissions.Kind != yaml.MappingNode || len(w.Permissions.Content) > 0 {
		problems = append(problems, "it does not begin with permissions: {}")
	}
	for name, job := range w.Jobs {
		if job.Timeout == 0 {
			problems = append(problems, name+" has no timeout-minutes")
		}
		if len(job.Permissions) == 0 {
			problems = append(problems, name+" does not say its permissions")
		}
		for _, step := range job.Steps {
			if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
				problems = append(problems, name+" leaves the token in the clone")
			}
			if ofEvents.MatchString(step.Run) {
				problems = append(problems, name+" runs text of others")
			}
		}
	}
	for _, m := range usesLine.FindAllStringSubmatch(text, -1) {
		if !pinned.MatchString(m[1]) {
			problems = append(problems, "not pinned by hash and release:"+m[1])
		}
	}
	return problems
}

// TestWorkflows: every workflow keeps to the rules, and one action has one version in all of them.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	files := gitHubFiles(t, "workflows/*")
	versions := map[string]string{}
	for name, text := range files {
		for _, problem := range unsafeIn(string(text)) {
			t.Errorf("%s: %s", name, problem)
		}
		for _, m := range usesLine.FindAllStringSubmatch(string(text), -1) {
			if p := pinned.FindStringSubmatch(m[1]); p != nil {
				owner, repository, _ := strings.Cut(p[1], "/")
				repository, _, _ = strings.Cut(repository, "/")
				action, version := owner+"/"+repository, p[2]+" "+p[3]
				if before, ok := versions[action]; ok && before != version {
					t.Errorf("%s: %s is %s and %s", name, action, before, version)
				}
				versions[action] = version
			}
		}
	}
	for _, name := range []string{"ci.yml", "codeql.yml", "fuzz.yml", "release.yml", "scorecard.yml"} {
		if files[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	if len(versions) < 5 {
		t.Errorf("only %v", slices.Collect(maps.Keys(versions)))
	}
}

// TestWorkflows_Unsafe: each rule finds what breaks it, and nothing in what does not.
func TestWorkflows_Unsafe(t *testing.T) {
	t.Parallel()
	const right = "permissions: {}\njobs:\n  a:\n    timeout-minutes: 5\n    permissions:\n      contents: read\n    steps:\n" +
		"      - uses: actions/checkout@0123456789012345678901234567890123456789 # v1.2.3\n        with:\n          persist-credentials: false\n      - run: make\n"
	if problems := unsafeIn(right); problems != nil {
		t.Errorf("%q", problems)
	}
	for _, change := range [][2]string{
		{"permissions: {}", "permissions: read-all"},
		{"permissions: {}\n", ""},
		{"    timeout-minutes: 5\n", ""},
		{"    permissions:\n      contents: read\n", ""},
		{"credentials: false", "credentials: true"},
		{"@0123456789012345678901234567890123456789", "@v1.2.3"},
		{" # v1.2.3", ""},
		{"run: make", "run: echo ${{ github.event.issue.title }}"},
	} {
		if problems := unsafeIn(strings.Replace(right, change[0], change[1], 1)); len(problems) != 1 {
			t.Errorf("%q in place of %q: %q", change[1], change[0], problems)
		}
	}
}
