package access

import (
	"fmt"
	"slices"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/review"
)

// absentPlugins returns W15 for the lines of plugins of which the site has nothing.
func (p *Access) absentPlugins(site *review.Installed, platform platforms.Platform) (odd []review.Odd) {
	for i := range p.Plugins {
		l := &p.Plugins[i]
		plugin, err := plugins.ByName(l.Plugin)
		if err == nil && lacksPlugin(site, plugin, platform) {
			odd = append(odd, review.Odd{
				Code: "W15", At: l.At, Do: "mend the name, or remove the line",
				Text: fmt.Sprintf("%s: the REST root of the site lists nothing of %s", l, plugin.Name),
			})
		}
	}
	return odd
}

// risksOn returns those risks that the site has: the route itself, or the plugin, which may keep
// a route out of the root. All of them are returned if the site is not known.
func risksOn(site *review.Installed, all []risk) (found []risk) {
	if site == nil || len(all) == 0 {
		return all
	}
	var patterns []routes.Pattern
	for i := range all {
		patterns = append(patterns, routes.MustPattern(all[i].row.Route))
	}
	for i, there := range site.There(patterns) {
		if there || site.HasPlugin(all[i].plugin) {
			found = append(found, all[i])
		}
	}
	return found
}

// lacksPlugin tells whether the site has nothing of a plugin: none of its namespaces and none
// of its routes. It is false for a plugin without any.
func lacksPlugin(site *review.Installed, p *plugins.Plugin, platform platforms.Platform) bool {
	var patterns []routes.Pattern
	add := func(route string) { patterns = append(patterns, routes.MustPattern(RouteOn(platform, route))) }
	for _, ns := range p.Namespaces {
		if site.HasNamespace(RouteOn(platform, "/"+ns.Name)[1:]) {
			return false
		}
	}
	for i := range p.Needed {
		add(p.Needed[i].Route)
	}
	for i := range p.Risky {
		if p.Risky[i].Scope == "" { // else it is a route of the core
			add(p.Risky[i].Route)
		}
	}
	for _, route := range p.Detect {
		add(route + "/**")
	}
	return len(patterns)+len(p.Namespaces) > 0 && !slices.Contains(site.There(patterns), true)
}
