package dryrun

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/policy"
)

// guard is a directive on one way.
type guard struct {
	way          routing.Way
	module       *gateway.Gateway
	at, imported string
	said         string
	rules        *policy.Chain
	site         *policy.Site // what the sites of the directive share
}

// noGuard stands for the directive of a configuration that has none.
var noGuard = &guard{site: &policy.Site{Site: caller.NewSite(platforms.All()[1], caller.Own{}), Release: new(policy.Release)}}

// guardsOf returns the directives of a loaded app, by servers and in their order.
func guardsOf(app *caddyhttp.App) (found []*guard) {
	for _, way := range routing.Ways(app, gateway.Directives.Handler) {
		if g, ok := way.Module.(*gateway.Gateway); ok {
			found = append(found, &guard{way: way, module: g, at: g.At, imported: g.Imported[""], said: g.Said(), rules: g.Rules(), site: g.Shared()})
		}
	}
	return found
}

// Chains returns what decides about the calls of each directive, each once.
func (c *Config) Chains() (chains []*policy.Chain) {
	for _, g := range c.guards {
		if !slices.Contains(chains, g.rules) {
			chains = append(chains, g.rules)
		}
	}
	return chains
}

// covers tells whether the way is for a host, as far as its matchers of hosts say.
func (g *guard) covers(host string) bool {
	return g.way.Hosts == nil || slices.ContainsFunc(g.way.Hosts, func(pattern string) bool { return hosts.Fits(pattern, hosts.Name(host)) })
}

// Guards tells whether a directive may guard the host of a site's name.
func (c *Config) Guards(name string) bool {
	host, _, _ := strings.Cut(name, "/")
	return slices.ContainsFunc(c.guards, func(g *guard) bool { return g.covers(host) })
}

// home is the site's home address.
func (g *guard) home(r Request, host string) string {
	scheme := "http"
	if r.Secure {
		scheme = "https"
	}
	return scheme + "://" + host + g.site.Base
}

// leftOut names the first matcher on the way to the directive that does not hold for a
// request; "" if all do.
func (g *guard) leftOut(r *http.Request) string {
	for _, route := range g.way.Routes {
		if len(route.MatcherSets) == 0 {
			continue
		}
		if ok, err := route.MatcherSets.AnyMatchWithError(r); !ok || err != nil {
			return routing.MatcherText(route)
		}
	}
	return ""
}

// listensOn tells whether a server listens on a port.
func listensOn(server *caddyhttp.Server, port int) bool {
	return slices.ContainsFunc(addressesOf(server), func(at caddy.NetworkAddress) bool {
		return port >= int(at.StartPort) && port <= int(at.EndPort)
	})
}

// port is the port that the client connects to.
func (r Request) port() int {
	switch {
	case r.Port != 0:
		return r.Port
	case r.Secure:
		return caddyhttp.DefaultHTTPSPort
	}
	return caddyhttp.DefaultHTTPPort
}
