package scope

import (
	"slices"
	"testing"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// TestWideners: every platform has the table, in its own names.
func TestWideners(t *testing.T) {
	t.Parallel()
	for _, p := range platforms.All() {
		wideners := widenersOf(p)
		for _, key := range []string{"/" + p.Core + "/users", "/" + p.Shop[2] + "/webhooks/batch", "/" + p.Shop[2] + "/settings/general/x", "/" + p.Analytics + "/settings/x"} {
			if !slices.ContainsFunc(wideners, func(route routes.Pattern) bool { return route.Match(key) }) {
				t.Errorf("%s: %s", p.Name, key)
			}
		}
	}
}
