package routing

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// placeholder is one in a text of a configuration, whose braces JSON has too, before a name.
var placeholder = regexp.MustCompile(`\{([^{}"\s]+)\}`)

// Placeholders returns the names of placeholders in the routes of app that no replacer knows
// by itself: those that handlers of the site define, such as map. They are sorted. As Survey,
// it must run before Caddy has loaded a directive.
func Placeholders(app *caddyhttp.App) []string {
	p := placeholders{known: caddy.NewReplacer(), names: map[string]bool{}}
	for _, server := range app.Servers {
		p.addRoutes(server.Routes)
		for _, route := range server.NamedRoutes {
			p.addRoutes(caddyhttp.RouteList{*route})
		}
	}
	return slices.Sorted(maps.Keys(p.names))
}

// placeholders collects names.
type placeholders struct {
	known *caddy.Replacer
	names map[string]bool
}

func (p *placeholders) addRoutes(routes caddyhttp.RouteList) {
	for _, route := range routes {
		for _, s := range steps(&route) {
			p.add(s.json())
		}
		p.addMatchers(matcherSets(&route))
	}
}

func (p *placeholders) addMatchers(sets [][]*matcher) {
	for _, set := range sets {
		for _, m := range set {
			p.add(m.raw)
			p.addMatchers(m.inner)
		}
	}
}

func (p *placeholders) add(raw json.RawMessage) {
	for _, found := range placeholder.FindAllSubmatch(raw, -1) {
		name := string(found[1])
		if strings.HasPrefix(name, "http.") || strings.HasPrefix(name, "file.") {
			continue
		}
		if _, is := p.known.Get(name); !is {
			p.names[name] = true
		}
	}
}
