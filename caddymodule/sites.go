package caddymodule

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/layout"
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
				g.guard(layout.Way{}, "") // a handler that layout does not know leads to it
			}
		}
		a.countFindings()
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

// assignWays gives each gateway the sites on the ways that layout knows.
func (a *App) assignWays() {
	if a.http == nil {
		return
	}
	type owned struct {
		g    *Gateway // nil for all
		name string   // with the server
	}
	ways, count := layout.Ways(a.http, "restwarden"), map[owned]int{}
	nameOf := func(way *layout.Way, g *Gateway) string {
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

func (g *Gateway) guard(way layout.Way, apart string) {
	g.places.add(&way, len(g.sites))
	g.sites = append(g.sites, newSite(g, way, apart))
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
	named  map[place]int // the first site with that very host
	others []int         // sites with a pattern of hosts, or for all
}

type place struct {
	server *caddyhttp.Server
	host   string
}

// add notes the way to the site with this index.
func (p *places) add(way *layout.Way, i int) {
	if p.named == nil {
		p.named = map[place]int{}
	}
	if way.Hosts == nil || slices.ContainsFunc(way.Hosts, func(host string) bool { return strings.ContainsAny(host, "*{") }) {
		p.others = append(p.others, i)
	}
	for _, host := range way.Hosts {
		if _, ok := p.find(way.Server, host); !ok {
			p.named[place{way.Server, host}] = i
		}
	}
}

// find returns the first site with that very host.
func (p *places) find(server *caddyhttp.Server, host string) (i int, ok bool) {
	i, ok = p.named[place{server, strings.ToLower(hosts.Name(host))}]
	return i, ok
}
