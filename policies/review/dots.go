package review

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/index"
)

// plain returns a route of the index without those of its keys that are refused for one of the dots
// of a site.
func plain(dots []routes.Pattern, route *index.Route) *index.Route {
	text, whole := route.Dotted()
	n := 0
	for _, p := range dots {
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
func wider(dots []routes.Pattern, route routes.Pattern) []string {
	segments, rest := route.Segments()
	texts, bends := []string{""}, false
	for i, s := range segments {
		bent := strings.Count(s, ".")
		if s[0] == ':' || dotNamed(dots, route, i) {
			bent = 0
		}
		bends = bends || bent > 0
		if texts = followed(texts, s, bent); len(texts) > maxWider {
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

// dotNamed tells whether a call is refused that differs from a pattern in a dot of one of its segments.
func dotNamed(dots []routes.Pattern, route routes.Pattern, segment int) bool {
	want, _ := route.Segments()
	return slices.ContainsFunc(dots, func(p routes.Pattern) bool {
		segments, _ := p.Segments()
		return segment < len(segments) && segments[segment] == want[segment] && p.Covers(route)
	})
}
