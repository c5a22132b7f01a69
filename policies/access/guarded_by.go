package access

import (
	"slices"

	"github.com/restwarden/restwarden/policies/call"
)

// GuardedBy returns the line of the built-in rule of a platform that guards every call which the
// pattern matches, or "". A pattern that the rule guards in part is not guarded: a rule of the
// site's own with this pattern does not replace the built-in one.
func GuardedBy(platform call.Platform, method string, pattern call.Pattern) string {
	for _, g := range builtInGuards(platform) {
		spared := slices.ContainsFunc(g.except, func(except call.Pattern) bool { return except.Covers(pattern) })
		if !spared && g.Target().HasMethod(method) && slices.ContainsFunc(g.Target().Routes(), func(route call.Pattern) bool { return route.Covers(pattern) }) {
			return g.Line()
		}
	}
	return ""
}

// PluginRoute returns a route of the catalogue of plugins as a platform writes it.
func PluginRoute(platform call.Platform, route string) string {
	return (&expansion{platform: platform}).route(route)
}
