package suggest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/openings"
)

// facts are what the catalogue and the built-in rules say, with the names of a platform.
type facts struct{ *openings.Opener }

// attack tells whether only attacks call a route, as far as is known: lists of users and what
// else a built-in rule guards, and known holes that nobody needs. A route that only may meet
// one, since it has a parameter, is an honest route.
func (f *facts) attack(method, route string) bool {
	forms := index.Forms(route)
	if len(forms) > 0 && !slices.ContainsFunc(forms, func(form routes.Pattern) bool { return access.GuardedBy(f.Platform, method, form) == "" }) {
		return true
	}
	need := f.Needed(method, forms)
	r := f.Risky(method, forms, need)
	return r != nil && len(r.CVE) > 0 && need == nil && covers(r.Pattern, forms)
}

// isIndex tells whether a route is the root or the index of a namespace, which list routes.
func isIndex(route string) bool {
	return route == "/" || versioned.MatchString(route) || strings.EqualFold(index.Known(route), strings.Trim(route, "/"))
}

var versioned = regexp.MustCompile(`^/[^/]+/v?[0-9.]+$`)
