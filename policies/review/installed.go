package review

import (
	"cmp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/keyset"
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
	tools := map[string]bool{}
	for i := range root.Routes {
		if l := &root.Routes[i]; l.ServesTools() {
			tools[l.Called()] = true
		}
	}
	for _, route := range x.routes {
		if tools[route.Called()] {
			x.tools = append(x.tools, route)
		}
	}
	if len(x.routes) == 0 {
		return nil
	}
	return x
}

// Lacks returns those of some routes that the site certainly does not list.
func (x *Installed) Lacks(routes []routes.Pattern) (missing []string) {
	for i, there := range x.There(routes) {
		if !there {
			missing = append(missing, routes[i].String())
		}
	}
	return missing
}

// There tells for each pattern whether the site has, or may have, a route that the pattern
// fits.
func (x *Installed) There(patterns []routes.Pattern) []bool { return among(x.routes, patterns) }

// ServeTools is There for servers of tools alone.
func (x *Installed) ServeTools(patterns []routes.Pattern) []bool { return among(x.tools, patterns) }

// among tells which patterns one of routes fits, or may fit.
func among(routes []*index.Route, patterns []routes.Pattern) []bool {
	there := make([]bool, len(patterns))
	all := keyset.New("")
	for i := range patterns {
		all.Add(patterns[i], i)
		all.Mark(patterns[i])
	}
	skip := func(s *keyset.State) bool { return !s.Marked() }
	for _, route := range routes {
		if _, opaque := route.Opaque(); opaque {
			continue
		}
		err := all.Walk(route, skip, func(p *keyset.Place) bool {
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
		there[i] = there[i] || perhaps(routes, patterns[i])
	}
	return there
}

// perhaps tells whether one of routes that cannot be read may fit a pattern.
func perhaps(routes []*index.Route, pattern routes.Pattern) bool {
	a := keyset.New("")
	a.Mark(pattern)
	return slices.ContainsFunc(routes, func(route *index.Route) bool {
		prefix, opaque := route.Opaque()
		if !opaque {
			return false
		}
		may, err := mayBegin(a, prefix)
		return may || err != nil
	})
}

// HasPlugin tells whether the site shows a namespace or a route of a plugin.
func (x *Installed) HasPlugin(p *plugins.Plugin) bool { return slices.Contains(x.found, p) }

// HasNamespace tells whether the site lists a namespace.
func (x *Installed) HasNamespace(ns string) bool {
	return slices.ContainsFunc(x.namespaces, func(listed string) bool { return strings.EqualFold(listed, ns) })
}

// PlainHTTP tells whether the home address is not https.
func (x *Installed) PlainHTTP() bool { return x.http }
