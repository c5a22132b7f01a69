package layout

import (
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// MatcherText writes the matchers of a route for people: "path /wp-json/*", the sets
// of them with "or" between.
func MatcherText(route *caddyhttp.Route) string {
	var sets []string
	for _, set := range matcherSets(route) {
		var all []string
		for _, m := range set {
			all = append(all, strings.TrimSpace(m.kind+" "+m.text))
		}
		sets = append(sets, strings.Join(all, " and "))
	}
	return strings.Join(sets, " or ")
}
