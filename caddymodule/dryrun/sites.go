package dryrun

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/hosts"
)

// anyHost is a host for a site that takes all of them.
const anyHost = "site.invalid"

// Sites returns the sites that the configuration guards, in its order, each name once. A
// site is found by a request for its REST root: one whose matchers leave that out is none.
func (c *Config) Sites(ctx context.Context) (sites []*gateway.ServedSite, err error) {
	found, err := c.Homes(ctx)
	for _, home := range found {
		if !slices.ContainsFunc(sites, func(s *gateway.ServedSite) bool { return s.Name == home.Name }) {
			sites = append(sites, home.ServedSite)
		}
	}
	return sites, err
}

// Home is a site with the address of its home page, "https://shop.example.com/blog", and the place of its directive.
type Home struct {
	*gateway.ServedSite
	Address string
}

// Homes is Sites with the addresses. A site that directives guard with other rules on other ports is there for each.
func (c *Config) Homes(ctx context.Context) ([]Home, error) {
	var found []Home
	tags := map[string][]string{} // of a site, by whichever of its directives
	for _, g := range c.guards {
		for _, address := range g.roots() {
			r, err := Build("", address, nil, nil)
			if err != nil {
				continue // a pattern of hosts that no address has
			}
			site, _, err := c.Reach(ctx, r)
			if err != nil {
				return nil, err
			}
			if site == nil {
				continue
			}
			if !slices.ContainsFunc(found, func(h Home) bool { return h.Name == site.Name && h.Chain == site.Chain }) {
				found = append(found, Home{site, homeOf(address, site.Prefix)})
			}
			tags[site.Name] = append(tags[site.Name], site.Tags...)
			break
		}
	}
	for i := range found {
		found[i].Tags = tags[found[i].Name]
	}
	return found, nil
}

// homeOf returns the home address of a site, without the usual port, by that of its REST root in either form.
func homeOf(root, prefix string) string {
	home, _, _ := strings.Cut(root, "/?")
	u, err := url.Parse(strings.TrimSuffix(home, "/"+prefix+"/"))
	if err != nil { // it was built, and has reached the site
		return home
	}
	if usual := map[string]string{"http": "80", "https": "443"}; u.Port() == usual[u.Scheme] {
		u.Host = strings.TrimSuffix(u.Host, ":"+u.Port())
	}
	return u.String()
}

// roots are addresses of the REST root, in both forms.
func (g *guard) roots() []string {
	host := anyHost
	if len(g.way.Hosts) > 0 {
		host = strings.ReplaceAll(g.way.Hosts[0], "*", "any")
	}
	return g.rootsFor([]string{host})
}

// rootsFor is roots for some hosts.
func (g *guard) rootsFor(names []string) (all []string) {
	for _, name := range names {
		for _, at := range addressesOf(g.way.Server) {
			port, scheme := int(at.StartPort), "http"
			if port == caddyhttp.DefaultHTTPSPort || len(g.way.Server.TLSConnPolicies) > 0 {
				scheme = "https"
			}
			home := scheme + "://" + net.JoinHostPort(hosts.Name(name), strconv.Itoa(port)) + g.site.Base
			all = append(all, home+"/"+g.site.Prefix+"/", home+"/?rest_route=/")
		}
	}
	return all
}

// addressesOf returns the addresses with ports that a server listens on.
func addressesOf(server *caddyhttp.Server) (found []caddy.NetworkAddress) {
	for _, address := range server.Listen {
		if at, err := caddy.ParseNetworkAddress(address); err == nil && !at.IsUnixNetwork() {
			found = append(found, at)
		}
	}
	return found
}
