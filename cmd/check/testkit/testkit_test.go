package testkit

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

const (
	module = "github.com/restwarden/restwarden"
	kit    = module + "/cmd/check/testkit"
)

// TestImports: no package that is built for users imports the kit.
func TestImports(t *testing.T) {
	t.Parallel()
	out, err := machine.Run(t.Context(), "../../..", nil, "go", "list", "-f", "{{.ImportPath}}: {{join .Deps \" \"}}", "./...")
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

// TestImports_Policies: the tests of the policies need no server, so that the parts of
// the kit that they import need none either.
func TestImports_Policies(t *testing.T) {
	t.Parallel()
	out, err := machine.Run(t.Context(), "../../..", nil, "go", "list", "-deps", "-test", "./policies/...")
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
