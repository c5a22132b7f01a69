package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// absent returns W15 for the owner's own lines: first the routes, then the roles that a site does
// not have.
func absent(p policy.Router, site *Installed) []Odd {
	var routes, roles []Odd
	p.EachRoute(func(l policy.RouteLine) {
		if !l.Own {
			return
		}
		if missing := site.Lacks(l.Routes); len(missing) > 0 {
			routes = append(routes, Absent(l.At, l.Text, missing))
		}
		if l.Rule != nil {
			roles = append(roles, absentRoles(l.Rule, site)...)
		}
	})
	return append(routes, roles...)
}

// Absent is W15 for a line that names routes which the site does not list.
func Absent(at, line string, missing []string) Odd {
	return Odd{
		Code: "W15", At: at, Do: "mend the route, or remove the line",
		Text: fmt.Sprintf("%s names %s, which the REST root of the site does not list", line, strings.Join(missing, " and ")),
	}
}

// KnownRoles are the roles that the core and the shop come with (docs/platform/shop-callers).
var KnownRoles = []string{"administrator", "author", "contributor", "customer", "editor", "shop_manager", "subscriber"}

// absentRoles returns W15 for each role of r that nobody has. If the site does not say, it is
// for a role whose name is nearly that of a known one.
func absentRoles(r *policy.Rule, site *Installed) (odd []Odd) {
	for _, role := range r.Roles() {
		if slices.Contains(KnownRoles, role) {
			continue
		}
		has, known := false, false
		if site.Has != nil {
			has, known = site.Has(role)
		}
		why := "which nobody on the site has"
		if !known {
			why = "which neither the core nor the shop has"
		}
		hint := nearlyRole(role)
		if hint != "" {
			hint = ": " + hint
		}
		if known && !has || !known && hint != "" {
			odd = append(odd, Odd{
				Code: "W15", At: r.At, Do: "mend the name of the role, or remove it",
				Text: fmt.Sprintf("%s names the role %s, %s%s", r, role, why, hint),
			})
		}
	}
	return odd
}

// nearlyRole returns "did you mean editor?" for a slip of the pen. A longer name, such as
// "co-author", may well be a role of its own.
func nearlyRole(role string) string {
	var near []string
	for _, known := range typo.Words(role, KnownRoles...) {
		if len(role) <= len(known)+1 {
			near = append(near, known)
		}
	}
	return typo.Hint(role, near...)
}
