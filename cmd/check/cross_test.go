package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestCrossSystems: the workflow builds for the systems of the step, a release is for these and
// the check's own, and the page on running it names them.
func TestCrossSystems(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, ".github", "workflows", "ci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct {
					Include []struct{ GOOS, GOARCH string }
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	var systems []string
	for _, built := range workflow.Jobs["cross"].Strategy.Matrix.Include {
		systems = append(systems, built.GOOS+"/"+built.GOARCH)
	}
	if !slices.Equal(systems, crossSystems) {
		t.Errorf("the workflow builds for %q, the step for %q", systems, crossSystems)
	}
	if text, err = os.ReadFile(filepath.Join(root, ".github", "workflows", "release.yml")); err != nil {
		t.Fatal(err)
	}
	if matrix := strings.ReplaceAll("linux/amd64, "+strings.Join(systems, ", "), "/", "_"); !strings.Contains(string(text), "system: ["+matrix+"]") {
		t.Errorf("the workflow release is not for %s", matrix)
	}
	page := documents(t)["docs/guides/service.md"]
	for _, system := range systems {
		if !strings.Contains(page, "| `"+system+"` |") {
			t.Errorf("docs/guides/service.md does not name %s", system)
		}
	}
}

// TestCompiles: what a system does not have is found, in a test too, and elsewhere it is
// none.
func TestCompiles(t *testing.T) {
	t.Parallel()
	c := &check{root: t.TempDir()}
	for name, text := range map[string]string{
		"go.mod":       "module example.test/own\n\ngo 1.26\n",
		"own.go":       "package own\n",
		"kill_test.go": "package own\n\nimport \"syscall\"\n\nvar kill = syscall.Kill\n",
	} {
		if err := os.WriteFile(filepath.Join(c.root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string]string{"windows/amd64": "undefined: syscall.Kill", "linux/arm64": ""} {
		out, err := c.compiles(t.Context(), system)
		if !strings.Contains(out, want) || (err != nil) != (want != "") {
			t.Errorf("%s: %v\n%s", system, err, out)
		}
	}
}
