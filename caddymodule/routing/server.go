package routing

import (
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// follow follows all requests through a server's routes.
func follow(name string, server *caddyhttp.Server, r *reader) *flow {
	f := &flow{
		name: name, server: server, reader: r, named: map[string]*node{},
		passed: map[string]bool{}, groups: map[string]bool{}, invoked: map[string]bool{},
	}
	f.top(server.Routes, spot{cubes: []cube{nil}, top: true})
	if server.Errors != nil {
		f.afterError()
		f.version = version{} // Caddy restores method and URL
		f.root, f.values = "", nil
		f.top(server.Errors.Routes, spot{cubes: []cube{nil}, errors: true, final: true})
	}
	for _, route := range slices.Sorted(maps.Keys(server.NamedRoutes)) {
		f.node(route) // directives in a route that nothing invokes count, too
	}
	return f
}

// top follows requests through routes of the server's own. Each site has a route, of which
// requests to other hosts know nothing: there may be thousands.
func (f *flow) top(routes caddyhttp.RouteList, s spot) {
	known := shelf{}
	for i := range routes {
		n := f.reader.node(&routes[i])
		f.ends = n.terminal
		f.facts = known.about(n)
		had := len(f.facts)
		f.route(n, s)
		known.add(f.facts[had:])
	}
	if f.facts = nil; f.loose && s.top {
		f.facts = known.all
		f.visits = append(f.visits, f.visit(s, true))
	}
}

// shelf holds facts by the hosts that they are about.
type shelf struct {
	all    []fact
	wide   []fact            // about hosts that are not known, or all
	host   map[string][]fact // about single hosts
	parent map[string][]fact // about hosts below a domain, by wildcard or not
	star   map[string][]fact // about all hosts below a domain
}

// add takes in facts.
func (k *shelf) add(facts []fact) {
	if k.host == nil {
		k.host, k.parent, k.star = map[string][]fact{}, map[string][]fact{}, map[string][]fact{}
	}
	k.all = append(k.all, facts...)
	for _, f := range facts {
		hosts, ok := f.simpleHosts()
		if !ok {
			k.wide = append(k.wide, f)
			continue
		}
		for _, h := range hosts {
			h = strings.ToLower(h)
			if isLiteral(h) {
				k.host[h] = append(k.host[h], f)
			} else {
				k.star[parent(h)] = append(k.star[parent(h)], f)
			}
			k.parent[parent(h)] = append(k.parent[parent(h)], f)
		}
	}
}

// about returns all facts that may be about requests that n takes.
func (k *shelf) about(n *node) []fact {
	if n.hosts == nil || slices.ContainsFunc(n.hosts, func(h string) bool { return !isSimple(h) }) {
		return slices.Clone(k.all)
	}
	facts := slices.Clone(k.wide)
	for _, h := range n.hosts {
		h = strings.ToLower(h)
		if isLiteral(h) {
			facts = append(append(facts, k.host[h]...), k.star[parent(h)]...)
		} else {
			facts = append(facts, k.parent[parent(h)]...)
		}
	}
	return facts
}

// simpleHosts returns the hosts that the requests in c are to, if they are known.
func (c cube) simpleHosts() ([]string, bool) {
	for _, a := range c {
		if a.kind == "host" && a.pure && a.host == 0 && !slices.ContainsFunc(a.hosts, func(h string) bool { return !isSimple(h) }) {
			return a.hosts, true
		}
	}
	return nil, false
}

// isSimple tells whether a pattern is a host, or a star and a domain.
func isSimple(h string) bool { return isLiteral(strings.TrimPrefix(h, "*.")) }

// parent returns the domain above a host.
func parent(h string) string {
	_, domain, _ := strings.Cut(h, ".")
	return domain
}
