package dryrun

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/layout"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/hosts"
)

// guard is a directive on one way.
type guard struct {
	way          layout.Way
	at, imported string
	base, prefix string
	platform     call.Platform
	release      string
	site         *caller.Site // knows the credentials
}

// noGuard stands for the directive of a configuration that has none.
var noGuard = &guard{platform: call.Platforms()[1], site: caller.NewSite(call.Platforms()[1], caller.Own{})}

// guardsOf returns the directives of a loaded app, by servers and in their order.
func guardsOf(app *caddyhttp.App) (found []*guard) {
	for _, way := range layout.Ways(app, "restwarden") {
		var said struct {
			At       string            `json:"at"`
			Imported map[string]string `json:"imported"`
			Platform string            `json:"platform"`
			Base     string            `json:"base"`
			Prefix   call.Prefixes     `json:"prefix"`
			Release  string            `json:"release"`
			Own      caller.Own        `json:"credentials"`
		}
		text, err := json.Marshal(way.Module)
		if err != nil || json.Unmarshal(text, &said) != nil {
			continue
		}
		g := &guard{way: way, at: said.At, imported: said.Imported[""], base: said.Base, prefix: said.Prefix.First(), release: said.Release}
		g.platform, _ = call.PlatformByName(said.Platform)
		g.site = caller.NewSite(g.platform, said.Own)
		found = append(found, g)
	}
	return found
}

// covers tells whether the way is for a host, as far as its matchers of hosts say.
func (g *guard) covers(host string) bool {
	return g.way.Hosts == nil || slices.ContainsFunc(g.way.Hosts, func(pattern string) bool { return hosts.Fits(pattern, hosts.Name(host)) })
}

// home is the site's home address.
func (g *guard) home(r Request, host string) string {
	scheme := "http"
	if r.Secure {
		scheme = "https"
	}
	return scheme + "://" + host + g.base
}

// leftOut names the first matcher on the way to the directive that does not hold for a
// request; "" if all do.
func (g *guard) leftOut(r *http.Request) string {
	for _, route := range g.way.Routes {
		if len(route.MatcherSets) == 0 {
			continue
		}
		if ok, err := route.MatcherSets.AnyMatchWithError(r); !ok || err != nil {
			return layout.MatcherText(route)
		}
	}
	return ""
}

// listensOn tells whether a server listens on a port.
func listensOn(server *caddyhttp.Server, port int) bool {
	for _, address := range server.Listen {
		at, err := caddy.ParseNetworkAddress(address)
		if err == nil && !at.IsUnixNetwork() && port >= int(at.StartPort) && port <= int(at.EndPort) {
			return true
		}
	}
	return false
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
