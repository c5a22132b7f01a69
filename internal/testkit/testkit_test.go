package testkit

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/internal/testkit/machine"
)

const (
	module = "github.com/restwarden/restwarden"
	kit    = module + "/internal/testkit"
)

// TestImports: nothing that is built for others has a part of the kit in it.
func TestImports(t *testing.T) {
	t.Parallel()
	out, err := machine.Run(t.Context(), "../..", nil, "go", "list", "-f", "{{.ImportPath}}: {{join .Deps \" \"}}", "./...")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := 0
	for line := range strings.Lines(out) {
		of, deps, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if of == module+"/cmd/caddy" {
			seen++
		}
		if strings.HasPrefix(of, kit) || strings.HasPrefix(of, module+"/cmd/check") {
			continue
		}
		for dep := range strings.FieldsSeq(deps) {
			if dep == kit || strings.HasPrefix(dep, kit+"/") {
				t.Errorf("%s imports %s", of, dep)
			}
		}
	}
	if seen != 1 {
		t.Error("go list does not list cmd/caddy")
	}
}

// TestImports_Policies: the tests of the policies need no server, so what they
// have of the kit brings none.
func TestImports_Policies(t *testing.T) {
	t.Parallel()
	out, err := machine.Run(t.Context(), "../..", nil, "go", "list", "-deps", "-test", "./policies/...")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(out, kit+"/recordings\n") {
		t.Error("the recordings are not used")
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "github.com/caddyserver/caddy") {
			t.Errorf("the tests of the policies import %s", line)
		}
	}
}
