package policies

import (
	"cmp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/cover"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/plugins"
)

// Installed is what a site's REST root tells of the site. What the root leaves open counts as
// there: a route that cannot be read may be any route that begins like it.
type Installed struct {
	// Has tells whether somebody on the site has a role; nil if nobody can be asked. known is
	// false if the site does not say.
	Has func(role string) (has, known bool)

	namespaces []string
	http       bool // the home address is not https
	index      *index.Index
	routes     []*index.Route
	tools      []*index.Route // servers of tools
	found      []*plugins.Plugin
}

// NewInstalled reads a root. It returns nil if the root lists nothing that can be reasoned
// about.
func NewInstalled(root *index.Root) *Installed {
	x := &Installed{
		namespaces: root.Namespaces,
		http:       strings.HasPrefix(strings.ToLower(cmp.Or(root.Home, root.URL)), "http:"),
		index:      index.New(root.Patterns(), root.Namespaces),
		found:      plugins.Find(root.Namespaces, root.Patterns()).Plugins,
	}
	x.routes = x.index.Routes()
	for _, route := range x.routes {
		if slices.ContainsFunc(root.Routes, func(l index.Listed) bool { return l.ServesTools() && l.Called() == route.Called() }) {
			x.tools = append(x.tools, route)
		}
	}
	if len(x.routes) == 0 {
		return nil
	}
	return x
}

// Lacks returns those of the routes of a target that the site certainly does not list.
func (x *Installed) Lacks(t *Target) (missing []string) {
	for i, there := range x.there(t.routes) {
		if !there {
			missing = append(missing, t.routes[i].String())
		}
	}
	return missing
}

// there tells for each pattern whether the site has, or may have, a route that the pattern
// fits.
func (x *Installed) there(patterns []call.Pattern) []bool {
	there := make([]bool, len(patterns))
	all := cover.New("")
	for i := range patterns {
		all.Add(patterns[i], i)
		all.Mark(patterns[i])
	}
	skip := func(s *cover.State) bool { return !s.Marked() }
	for _, route := range x.routes {
		if _, opaque := route.Opaque(); opaque {
			continue
		}
		err := all.Walk(route, skip, func(p *cover.Place) bool {
			for _, i := range p.State.Matches() {
				there[i] = true
			}
			return true
		})
		if err != nil {
			return slices.Repeat([]bool{true}, len(patterns))
		}
	}
	for i := range patterns {
		there[i] = there[i] || x.perhaps(patterns[i])
	}
	return there
}

// perhaps tells whether a route that cannot be read may fit a pattern.
func (x *Installed) perhaps(pattern call.Pattern) bool {
	a := cover.New("")
	a.Mark(pattern)
	return slices.ContainsFunc(x.routes, func(route *index.Route) bool {
		prefix, opaque := route.Opaque()
		if !opaque {
			return false
		}
		may, err := mayBegin(a, prefix)
		return may || err != nil
	})
}

// risks returns those risks that the site has: the route itself, or the plugin, which may keep
// a route out of the root. All of them are returned if the site is not known.
func (x *Installed) risks(all []risk) (found []risk) {
	if x == nil || len(all) == 0 {
		return all
	}
	var patterns []call.Pattern
	for i := range all {
		patterns = append(patterns, call.MustPattern(all[i].row.Route))
	}
	for i, there := range x.there(patterns) {
		if there || slices.Contains(x.found, all[i].plugin) {
			found = append(found, all[i])
		}
	}
	return found
}

// lacksPlugin tells whether the site has nothing of a plugin: none of its namespaces and none
// of its routes. It is false for a plugin without any.
func (x *Installed) lacksPlugin(p *plugins.Plugin, platform call.Platform) bool {
	var patterns []call.Pattern
	add := func(route string) { patterns = append(patterns, call.MustPattern(routeOn(platform, route))) }
	for _, ns := range p.Namespaces {
		name := routeOn(platform, "/"+ns.Name)[1:]
		if slices.ContainsFunc(x.namespaces, func(listed string) bool { return strings.EqualFold(listed, name) }) {
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
	return len(patterns)+len(p.Namespaces) > 0 && !slices.Contains(x.there(patterns), true)
}
