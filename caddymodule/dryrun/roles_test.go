package dryrun_test

import (
	"slices"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/review"
)

// TestRoles: explain knows the roles that check takes for known.
func TestRoles(t *testing.T) {
	if !slices.Equal(dryrun.Roles(), review.KnownRoles) {
		t.Errorf("%v and %v", dryrun.Roles(), review.KnownRoles)
	}
}
