package main

import (
	"slices"
	"testing"
)

// TestRaceless: what a build with the race detector leaves out is what the step measure runs.
func TestRaceless(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	packages, tests, err := (&check{root: root}).raceless(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(packages, module+"/caddymodule/gateway") || !slices.Contains(tests, "TestDearest_Held") {
		t.Errorf("%v and %v without the tests of what the gateway holds", packages, tests)
	}
	if !slices.Contains(tests, "TestLongInputs") { // it does not name its *testing.T
		t.Errorf("%v", tests)
	}
	if slices.Contains(tests, "TestGateways_Load") || slices.Contains(packages, module+"/policies/mcp") {
		t.Errorf("%v and %v have what is tested with the race detector", packages, tests)
	}
}
