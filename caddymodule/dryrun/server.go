package dryrun

import (
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/hosts"
)

// serverFor returns the server that r reaches: one that listens on its port. Of several, which listen on other addresses, it is the one
// with a route for the closest host. A port that no server has may be one of a proxy in front; then it is the server with a way for the host.
func (c *Config) serverFor(r Request, host string) (server *caddyhttp.Server, direct bool) {
	if all := c.listening(r.port()); len(all) > 0 {
		server = all[0]
		for _, other := range all[1:] {
			if closeness(other, host) > closeness(server, host) {
				server = other
			}
		}
		return server, true
	}
	for _, g := range c.guards {
		if g.covers(host) {
			return g.way.Server, false
		}
	}
	return nil, false
}

// listening returns the servers that listen on a port, by their keys.
func (c *Config) listening(port int) (all []*caddyhttp.Server) {
	for _, name := range slices.Sorted(maps.Keys(c.app.Servers)) {
		if server := c.app.Servers[name]; listensOn(server, port) {
			all = append(all, server)
		}
	}
	return all
}

// closeness says how closely the routes of a server name a host: as it is (2), by a pattern (1), or not at all (0).
func closeness(server *caddyhttp.Server, host string) (most int) {
	name := strings.ToLower(hosts.Name(host))
	for i := range server.Routes {
		for _, set := range server.Routes[i].MatcherSets {
			for _, matcher := range set {
				match, ok := matcher.(*caddyhttp.MatchHost)
				if !ok {
					continue
				}
				for _, pattern := range *match {
					switch {
					case strings.ToLower(hosts.Name(pattern)) == name:
						most = 2
					case hosts.Fits(pattern, name):
						most = max(most, 1)
					}
				}
			}
		}
	}
	return most
}
