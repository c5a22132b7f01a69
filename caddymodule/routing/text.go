package routing

import (
	"encoding/json"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// MatcherText writes the matchers of a route for people: "path /wp-json/* and not path *.css",
// the sets of them with "or" between.
func MatcherText(route *caddyhttp.Route) string {
	return setsText(matcherSets(route))
}

func setsText(sets [][]*matcher) string {
	var texts []string
	for _, set := range sets {
		var all []string
		for _, m := range set {
			all = append(all, m.words())
		}
		texts = append(texts, strings.Join(all, " and "))
	}
	return strings.Join(texts, " or ")
}

// words writes one matcher for people. A matcher that is no list of words stays JSON.
func (m *matcher) words() string {
	if m.kind == "not" {
		inner := setsText(m.inner)
		if len(m.inner) > 1 || len(m.inner) == 1 && len(m.inner[0]) > 1 {
			inner = "(" + inner + ")"
		}
		return strings.TrimSpace("not " + inner)
	}
	text := m.text
	var list []string
	if json.Unmarshal(m.raw, &list) == nil && m.hosts == nil && m.paths == nil {
		text = strings.Join(list, " ")
	}
	var word string
	if json.Unmarshal(m.raw, &word) == nil {
		text = word
	}
	return strings.TrimSpace(m.kind + " " + text)
}
