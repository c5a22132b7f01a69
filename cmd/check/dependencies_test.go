package main

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDependencies_OfABuild: what docs/project/dependencies.md says is for tests or the check alone is in no build of Caddy
// with the module, and all else is.
func TestDependencies_OfABuild(t *testing.T) {
	t.Parallel()
	built := strings.Fields(goOutput(t, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./caddymodule"))
	rows := regexp.MustCompile("(?m)^\\| `(\\S+)` \\| (.+) \\|$").FindAllStringSubmatch(documents(t)["docs/project/dependencies.md"], -1)
	apart := 0
	for _, row := range rows {
		if !strings.Contains(row[1], ".") {
			continue // of npm
		}
		alone := regexp.MustCompile(`alone|for the same tests`).MatchString(row[2])
		if alone {
			apart++
		}
		if slices.Contains(built, row[1]) == alone && !caddysOwn[row[1]] {
			t.Errorf("%s is in a build: %v, and the page says %q", row[1], !alone, row[2])
		}
	}
	if apart < 3 || len(rows)-apart < 10 {
		t.Fatalf("%d of %d rows are for tests", apart, len(rows))
	}
}

// caddysOwn are the modules that tests use alone, and that Caddy itself builds with.
var caddysOwn = map[string]bool{"github.com/quic-go/quic-go": true, "github.com/quic-go/qpack": true, "golang.org/x/sys": true}

// TestDependencies_NotRaised: a build gets no other version of what Caddy requires than Caddy alone, unless a line of
// docs/project/dependencies.md names the module and its version.
func TestDependencies_NotRaised(t *testing.T) {
	t.Parallel()
	own := required(t, "go.mod")
	caddys := required(t, strings.TrimSpace(goOutput(t, "list", "-m", "-f", "{{.GoMod}}", "github.com/caddyserver/caddy/v2")))
	if len(own) < 100 || len(caddys) < 100 {
		t.Fatalf("%d and %d modules", len(own), len(caddys))
	}
	page := documents(t)["docs/project/dependencies.md"]
	for path, version := range own {
		if other, ok := caddys[path]; ok && other != version && !strings.Contains(page, "`"+path+"` "+version) {
			t.Errorf("%s is %s, Caddy requires %s", path, version, other)
		}
	}
}

// required returns the versions that a go.mod requires, by path.
func required(t *testing.T, file string) map[string]string {
	t.Helper()
	var mod struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal([]byte(goOutput(t, "mod", "edit", "-json", file)), &mod); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, r := range mod.Require {
		versions[r.Path] = r.Version
	}
	return versions
}

// goOutput runs the go command in the repository and returns what it prints.
func goOutput(t *testing.T, args ...string) string {
	t.Helper()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
