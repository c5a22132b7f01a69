package access

import (
	"slices"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// GuardedBy returns the line of the built-in rule of a platform that guards every call which the
// pattern matches, or "". A pattern that the rule guards in part is not guarded: a rule of the
// site's own with this pattern does not replace the built-in one.
func GuardedBy(platform platforms.Platform, method string, pattern routes.Pattern) string {
	for _, g := range builtInGuards(platform) {
		spared := slices.ContainsFunc(g.except, func(except routes.Pattern) bool { return except.Covers(pattern) })
		if !spared && g.Target().HasMethod(method) && slices.ContainsFunc(g.Target().Routes(), func(route routes.Pattern) bool { return route.Covers(pattern) }) {
			return g.Line()
		}
	}
	return ""
}
