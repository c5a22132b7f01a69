package policies

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/index"
)

// router is a Policy whose configuration names routes.
type router interface {
	// eachRoute calls do for each line that names routes, with its place.
	eachRoute(do func(at, line string, routes ...call.Pattern))
}

// dots are the patterns with a dot that decide on calls of a site: those that its
// configuration names, and the namespaces that are known of themselves.
type dots []call.Pattern

// dots returns those of the chain.
func (c *Chain) dots() dots {
	found := slices.Clip(knownDots)
	for i := range c.links {
		if p, ok := c.links[i].policy.(router); ok {
			p.eachRoute(func(_, _ string, routes ...call.Pattern) {
				for _, route := range routes {
					if route.Dotted() && !slices.ContainsFunc(found, func(p call.Pattern) bool { return p.String() == route.String() }) {
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
	for _, ns := range index.KnownNamespaces() {
		if strings.Contains(ns, ".") {
			found = append(found, call.MustPattern("/"+ns+"/**"))
		}
	}
	return found
}()

// errRouteDot refuses a route that the platform runs as another one: it takes a dot of what is
// registered for any byte, so that "/oembed/1_0/embed" is "/oembed/1.0/embed" (docs/platform I.1.3).
var errRouteDot = call.Ambiguous("route_dot")

// certain returns the call of an embedded object, or nil where nobody can tell what it is.
func (r *Request) certain(c *call.Call) *call.Call {
	if c == nil || c.Bent(r.Site.dots) {
		return nil
	}
	return c
}

// plain returns a route of the index without those of its keys that are refused for a dot.
func (d dots) plain(route *index.Route) *index.Route {
	text, whole := route.Dotted()
	n := 0
	for _, p := range d {
		segments, rest := p.Segments()
		literal := "/" + strings.Join(segments, "/")
		if !strings.ContainsAny(literal, ":*") && (whole && text == literal || rest && strings.HasPrefix(text, literal+"/")) {
			n = max(n, len(literal))
		}
	}
	if n == 0 {
		return route
	}
	return route.Plain(n)
}

// wider returns patterns that every route fits which the platform runs as one of a pattern, and
// which is not refused for a dot; none if there is no such dot.
func (d dots) wider(route call.Pattern) []string {
	segments, rest := route.Segments()
	texts, bends := []string{""}, false
	for i, s := range segments {
		dots := strings.Count(s, ".")
		if s[0] == ':' || d.names(route, i) {
			dots = 0
		}
		bends = bends || dots > 0
		if texts = followed(texts, s, dots); len(texts) > maxWider {
			return []string{"/**"}
		}
	}
	if !bends {
		return nil
	}
	if rest {
		for i := range texts {
			texts[i] += "/**"
		}
	}
	return texts
}

const maxWider = 64

// followed returns texts with a segment behind each, of which some dots may be any byte: each may
// be a slash.
func followed(texts []string, segment string, dots int) (longer []string) {
	for _, text := range texts {
		if dots == 0 {
			longer = append(longer, text+"/"+segment)
			continue
		}
		for n := range dots + 1 {
			longer = append(longer, text+strings.Repeat("/*", n+1))
		}
	}
	return longer
}

// names tells whether a call is refused that differs from a pattern in a dot of one of its segments.
func (d dots) names(route call.Pattern, segment int) bool {
	want, _ := route.Segments()
	return slices.ContainsFunc(d, func(p call.Pattern) bool {
		segments, _ := p.Segments()
		return segment < len(segments) && segments[segment] == want[segment] && p.Covers(route)
	})
}
