package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/store"
)

// assign gives each gateway its sites, once all routes are loaded: at the start of the
// configuration, or for the first request if that comes before.
func (a *App) assign() {
	a.assigned.Do(func() {
		a.assignWays()
		for _, g := range a.gateways {
			if len(g.sites) != 1 {
				g.guard(routing.Way{}, "") // a handler that package routing does not know leads to it
			}
		}
		a.tellApart()
		for _, f := range a.findings {
			for _, name := range a.sitesOf(f) {
				a.metrics.Odd(name, f.Code)
			}
		}
		if a.running != nil && a.dry == nil {
			a.running.begin(a)
		}
		a.ready.Store(true)
	})
}

// manyWays says that one handler of a named route guards one site on several ways, which a
// request cannot be told apart by. What one backend answers is then not kept at all, and
// nothing is learned from its REST root.
const manyWays = "many ways"

// forgetful is a store that keeps no facts.
type forgetful struct{ store.Store }

// Set implements store.Store.
func (forgetful) Set(context.Context, string, string, time.Duration) error { return nil }

// SetAll implements store.Store.
func (forgetful) SetAll(context.Context, string, time.Duration, ...string) error { return nil }

// assignWays gives each gateway the sites on the ways that package routing knows.
func (a *App) assignWays() {
	if a.http == nil {
		return
	}
	type owned struct {
		g    *Gateway // nil for all
		name string   // with the server
	}
	ways, count := routing.Ways(a.http, Directives.Handler), map[owned]int{}
	nameOf := func(way *routing.Way, g *Gateway) string {
		return g.server + " " + siteName(way.Hosts, g.server, g.Base)
	}
	for i := range ways {
		if g, ok := ways[i].Module.(*Gateway); ok {
			count[owned{nil, nameOf(&ways[i], g)}]++
			count[owned{g, nameOf(&ways[i], g)}]++
		}
	}
	for _, way := range ways {
		g, ok := way.Module.(*Gateway)
		if !ok {
			continue
		}
		name := nameOf(&way, g)
		switch {
		case count[owned{g, name}] > 1:
			g.guard(way, manyWays)
		case count[owned{nil, name}] > 1:
			g.guard(way, way.Matchers)
		default:
			g.guard(way, "")
		}
	}
}

// tellApart sets Site.Apart. A site behind one server is the same wherever that listens. Of
// several, each has ports of its own, or else addresses.
func (a *App) tellApart() {
	servers, ports := map[string]map[string]bool{}, map[string]map[string]bool{}
	add := func(to map[string]map[string]bool, name, what string) {
		if to[name] == nil {
			to[name] = map[string]bool{}
		}
		to[name][what] = true
	}
	for _, g := range a.gateways {
		for _, s := range g.sites {
			add(servers, s.Name, g.server)
			add(ports, s.Name, portsOf(g.server))
		}
	}
	for _, g := range a.gateways {
		for _, s := range g.sites {
			way := strings.TrimPrefix(s.Server, g.server)
			switch n := len(servers[s.Name]); {
			case n == 1:
				s.Apart = way
			case n == len(ports[s.Name]):
				s.Apart = portsOf(g.server) + way
			default:
				s.Apart = s.Server
			}
		}
	}
}

// portsOf returns the ports of a server's addresses. What is no port stays as it is.
func portsOf(server string) string {
	addresses := strings.Fields(server)
	for i, address := range addresses {
		if at, err := caddy.ParseNetworkAddress(address); err == nil && !at.IsUnixNetwork() && !at.IsFdNetwork() {
			addresses[i] = fmt.Sprintf("%s/%d-%d", at.Network, at.StartPort, at.EndPort)
		}
	}
	return strings.Join(addresses, " ")
}

func (g *Gateway) guard(way routing.Way, apart string) {
	g.places.add(&way, len(g.sites))
	g.sites = append(g.sites, newSite(g, way, apart))
}

// sites returns the guarded sites by name, each once. It leaves out those for requests on
// ways that nobody knows, where the ways are known.
func (a *App) sites() []*site { return a.sitesWith(anySite) }

func anySite(*site) bool { return true }

// sitesWith returns the sites with one directive at least that fits: two for the same site
// may differ.
func (a *App) sitesWith(fits func(*site) bool) []*site {
	return slices.CompactFunc(a.directives(fits), func(s, t *site) bool { return s.Name == t.Name })
}

// directives returns what fits by name, once for each directive and way. There is none before assign:
// metrics may be scraped while the configuration is loaded, and some gateways are not there yet.
func (a *App) directives(fits func(*site) bool) []*site {
	if !a.ready.Load() {
		return nil
	}
	var all []*site
	for _, g := range a.gateways {
		for _, s := range g.sites {
			if (s.way.Module != nil || len(g.sites) == 1) && fits(s) {
				all = append(all, s)
			}
		}
	}
	slices.SortStableFunc(all, func(s, t *site) int { return strings.Compare(s.Name, t.Name) })
	return all
}

// siteOf returns the site that r asks for: the first one whose way covers r.
func (g *Gateway) siteOf(r *http.Request) *site {
	g.app.assign()
	if len(g.sites) == 1 {
		return g.sites[0]
	}
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	covers := func(i int) bool { return g.sites[i].way.Server == server && g.sites[i].way.Covers(r) }
	if named, ok := g.places.find(server, r.Host); ok && covers(named) {
		for _, i := range g.places.others {
			if i < named && covers(i) {
				return g.sites[i]
			}
		}
		return g.sites[named]
	}
	for i := range g.sites { // a pattern, or a spelling that only Caddy's own matcher knows
		if covers(i) {
			return g.sites[i]
		}
	}
	return g.sites[len(g.sites)-1] // the last one is for requests on ways that nobody knows
}

// places finds the sites of one handler: a named route may guard a thousand.
type places struct {
	named  map[hostKey]int // the first site with that very host
	others []int           // sites with a pattern of hosts, or for all
}

type hostKey struct {
	server *caddyhttp.Server
	host   string
}

// add notes the way to the site with this index.
func (p *places) add(way *routing.Way, i int) {
	if p.named == nil {
		p.named = map[hostKey]int{}
	}
	if way.Hosts == nil || slices.ContainsFunc(way.Hosts, func(host string) bool { return strings.ContainsAny(host, "*{") }) {
		p.others = append(p.others, i)
	}
	for _, host := range way.Hosts {
		if _, ok := p.find(way.Server, host); !ok {
			p.named[hostKey{way.Server, host}] = i
		}
	}
}

// find returns the first site with that very host.
func (p *places) find(server *caddyhttp.Server, host string) (i int, ok bool) {
	i, ok = p.named[hostKey{server, strings.ToLower(hosts.Name(host))}]
	return i, ok
}
