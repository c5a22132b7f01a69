package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/nearest"
	"github.com/restwarden/restwarden/policies/plugins"
)

// absent returns W15: routes, plugins and roles that a site does not have. The lines of a
// plugin are judged as one.
func (c *Chain) absent(site *Installed) (odd []Odd) {
	check := func(at, line string, routes []call.Pattern) {
		if missing := site.Lacks(&Target{routes: routes}); len(missing) > 0 {
			odd = append(odd, Absent(at, line, missing))
		}
	}
	for i := range c.links {
		switch p := c.links[i].policy.(type) {
		case *Access:
			odd = append(odd, p.absent(site, c.site.Platform, check)...)
		case *RateLimits:
			for _, l := range p.Limits {
				if l.From == "" {
					check(l.At, l.String(), l.target.routes)
				}
			}
		case *StripQuery:
			for j := range p.Strips {
				check(p.Strips[j].At, "strip_query "+p.Strips[j].Name, p.Strips[j].target.routes)
			}
		case *Redact:
			for _, r := range p.redactions[:len(p.Fields)] { // the defaults are behind them
				check(r.At, "redact", []call.Pattern{r.pattern})
			}
		}
	}
	return odd
}

// absent checks the owner's own rules, and returns W15 for roles and plugins.
func (p *Access) absent(site *Installed, platform call.Platform, check func(at, line string, routes []call.Pattern)) (odd []Odd) {
	for i := range p.Rules {
		if r := &p.Rules[i]; r.From == "" {
			check(r.At, r.String(), r.target.routes)
			odd = append(odd, r.absentRoles(site)...)
		}
	}
	return append(odd, p.absentPlugins(site, platform)...)
}

// Absent is W15 for a line that names routes which the site does not list.
func Absent(at, line string, missing []string) Odd {
	return Odd{
		Code: "W15", At: at, Do: "mend the route, or remove the line",
		Text: fmt.Sprintf("%s names %s, which the REST root of the site does not list", line, strings.Join(missing, " and ")),
	}
}

func (p *Access) absentPlugins(site *Installed, platform call.Platform) (odd []Odd) {
	for i := range p.Plugins {
		l := &p.Plugins[i]
		plugin, err := plugins.ByName(l.Plugin)
		if err == nil && site.lacksPlugin(plugin, platform) {
			odd = append(odd, Odd{
				Code: "W15", At: l.At, Do: "mend the name, or remove the line",
				Text: fmt.Sprintf("%s: the REST root of the site lists nothing of %s", l, plugin.Name),
			})
		}
	}
	return odd
}

// KnownRoles are the roles that the core and the shop come with (docs/platform/shop-callers).
var KnownRoles = []string{"administrator", "author", "contributor", "customer", "editor", "shop_manager", "subscriber"}

// absentRoles returns W15 for each role of r that nobody has. If the site does not say, it is
// for a role whose name is nearly that of a known one.
func (r *Rule) absentRoles(site *Installed) (odd []Odd) {
	if r.who != whoRole {
		return nil
	}
	for _, role := range r.names {
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
		hint := prefixed(": ", nearlyRole(role))
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
	for _, known := range nearest.Words(role, KnownRoles...) {
		if len(role) <= len(known)+1 {
			near = append(near, known)
		}
	}
	return nearest.Hint(role, near...)
}
