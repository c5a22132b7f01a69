package policy

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// dots are the patterns with a dot that decide on calls of a site: those that its
// configuration names, and the namespaces that are known of themselves.
type dots []routes.Pattern

// dots returns those of the chain.
func (c *Chain) dots() dots {
	found := slices.Clip(knownDots)
	for _, l := range c.links {
		if p, ok := l.policy.(Router); ok {
			p.EachRoute(func(l RouteLine) {
				for _, route := range l.Routes {
					if route.Dotted() && !slices.ContainsFunc(found, func(p routes.Pattern) bool { return p.String() == route.String() }) {
						found = append(found, route)
					}
				}
			})
		}
	}
	return found
}

// knownDots are the namespaces with a dot that are known without a site's index: all that is
// below one is covered, whatever wildcard a line of the configuration has in its place.
var knownDots = func() (found dots) {
	for _, ns := range platforms.Namespaces() {
		if strings.Contains(ns, ".") {
			found = append(found, routes.MustPattern("/"+ns+"/**"))
		}
	}
	return found
}()

// errRouteDot refuses a route that the platform runs as another one: it takes a dot of what is
// registered for any byte, so that "/oembed/1_0/embed" is "/oembed/1.0/embed" (docs/platform I.1.3).
var errRouteDot = call.Ambiguous("route_dot")

// Dots returns the patterns with a dot that decide on calls of the site.
func (s *Site) Dots() []routes.Pattern { return s.dots }

// Certain returns the call of an embedded object, or nil where nobody can tell what it is.
func (r *Request) Certain(c *call.Call) *call.Call {
	if c == nil || c.Bent(r.Site.dots) {
		return nil
	}
	return c
}
