package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestOSSFuzz_AllTargets: the script builds each fuzz target of the tree, and no two have one name.
func TestOSSFuzz_AllTargets(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	f := fuzzer{check: &check{root: root}, dir: t.TempDir()}
	packages, err := f.packages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, p := range packages {
		folder, err := filepath.Rel(root, p.dir)
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(p.dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, declared := range declaredTarget.FindAllString(string(text), -1) {
				name := strings.TrimSuffix(strings.TrimPrefix(declared, "func "), "(")
				want = append(want, strings.ReplaceAll(filepath.ToSlash(folder), "/", "_")+"_"+name)
			}
		}
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(root, ossFuzzBuild), "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(out))
	slices.Sort(got)
	slices.Sort(want)
	if len(want) < 50 || !slices.Equal(got, want) || len(slices.Compact(want)) != len(got) {
		t.Errorf("%s builds %q, want %q", ossFuzzBuild, got, want)
	}
}

// ossFuzzSections are what a project.yaml may have, of those that OSS-Fuzz takes (infra/presubmit.py there).
var ossFuzzSections = map[string]bool{
	"homepage": true, "language": true, "primary_contact": true, "auto_ccs": true, "main_repo": true,
	"fuzzing_engines": true, "sanitizers": true, "help_url": true, "file_github_issue": true,
}

// TestOSSFuzz_Project: project.yaml is of the form that OSS-Fuzz checks, and its Dockerfile takes the script that is tried here.
func TestOSSFuzz_Project(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(root, filepath.Dir(ossFuzzBuild))
	text, err := os.ReadFile(filepath.Join(folder, "project.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var project map[string]any
	if err := yaml.Unmarshal(text, &project); err != nil {
		t.Fatal(err)
	}
	for section := range project {
		if !ossFuzzSections[section] {
			t.Errorf("project.yaml: OSS-Fuzz has no section %s", section)
		}
	}
	for section, want := range map[string]any{
		"language": "go", "main_repo": "https://github.com/restwarden/restwarden.git",
		"fuzzing_engines": "libfuzzer", "sanitizers": "address", // all that it has for Go
	} {
		if got := project[section]; got != want {
			if list, ok := got.([]any); !ok || len(list) != 1 || list[0] != want {
				t.Errorf("project.yaml: %s is %v, want %v", section, got, want)
			}
		}
	}
	dockerfile, err := os.ReadFile(filepath.Join(folder, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`(?m)^FROM gcr\.io/oss-fuzz-base/base-builder-go$`, `(?m)^RUN .*git clone .*github\.com/restwarden/restwarden`, `(?m)^RUN .*` + regexp.QuoteMeta(ossFuzzBuild)} {
		if !regexp.MustCompile(line).Match(dockerfile) {
			t.Errorf("Dockerfile has no line %s", line)
		}
	}
}
