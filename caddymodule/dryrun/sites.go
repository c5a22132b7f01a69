package dryrun

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/routing"
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

// Home is a site with the address of its home page, "https://shop.example.com/blog".
type Home struct {
	*gateway.ServedSite
	Address string
	Called  string // the address with its port, also the usual one
}

// Unreached is a site that may be there: no request for a REST root comes to its directive.
type Unreached struct {
	Name         string
	Tags         []string
	At, Imported string // of the directive
}

// Why says it in a sentence.
func (u *Unreached) Why() string {
	return fmt.Sprintf("no request for its REST root that a dry run knows comes to the directive at %s: name an address of the site", routing.Place(u.At, u.Imported))
}

// Homes is Sites with the addresses. A site that directives guard with other rules on other ports is there for each.
func (c *Config) Homes(ctx context.Context) ([]Home, error) {
	err := c.look(ctx)
	return slices.Clone(c.homes), err
}

// Addressed is Homes with each address once: directives that share one are told apart by their matchers.
func (c *Config) Addressed(ctx context.Context) ([]Home, error) {
	all, err := c.Homes(ctx)
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(h Home) bool {
		twice := seen[h.Called]
		seen[h.Called] = true
		return twice
	}), err
}

// Unreached returns what Homes leaves out, since nobody knows its address: a matcher leaves the REST root out, or the directive stands on a
// socket. It is none where another directive of the same site and server gets these requests.
func (c *Config) Unreached(ctx context.Context) ([]Unreached, error) {
	err := c.look(ctx)
	return slices.Clone(c.unreached), err
}

// look finds the sites, once.
func (c *Config) look(ctx context.Context) error {
	if c.looked {
		return nil
	}
	c.homes, c.unreached = nil, nil
	tags := map[string][]string{} // of a site, by whichever of its directives
	var found, without []*guard
	for _, g := range c.guards {
		site, root, err := c.reached(ctx, g)
		switch {
		case err != nil:
			return err
		case site == nil:
			without = append(without, g)
			continue
		case !slices.ContainsFunc(c.homes, func(h Home) bool { return h.Name == site.Name && h.Chain == site.Chain }):
			c.homes = append(c.homes, newHome(site, root))
		}
		found = append(found, g)
		tags[site.Name] = append(tags[site.Name], site.Tags...)
	}
	for _, g := range without {
		beside := func(other *guard) bool { return other.way.Server == g.way.Server && other.name() == g.name() }
		at := slices.IndexFunc(c.unreached, func(u Unreached) bool { return u.Name == g.name() })
		switch {
		case slices.ContainsFunc(found, beside):
			tags[g.name()] = append(tags[g.name()], g.module.Tag...)
		case g.way.Errors:
		case at >= 0:
			c.unreached[at].Tags = slices.Concat(c.unreached[at].Tags, g.module.Tag)
		default:
			c.unreached = append(c.unreached, Unreached{g.name(), slices.Clone(g.module.Tag), g.at, g.imported})
		}
	}
	for i := range c.homes {
		c.homes[i].Tags = tags[c.homes[i].Name]
	}
	c.looked = true
	return nil
}

// name is that of the site that the directive guards on its way.
func (g *guard) name() string { return g.module.NameOf(g.way.Hosts) }

// reached returns the site to which a request for the REST root comes on the way of a directive, with the address of that root; nil if none
// does.
func (c *Config) reached(ctx context.Context, g *guard) (*gateway.ServedSite, string, error) {
	for _, address := range g.roots() {
		r, err := Build("", address, nil, nil)
		if err != nil {
			continue // a pattern of hosts that no address has
		}
		site, _, err := c.Reach(ctx, r)
		if err != nil {
			return nil, "", err
		}
		if site != nil && site.Said == g.said {
			return site, address, nil
		}
	}
	return nil, "", nil
}

func newHome(site *gateway.ServedSite, root string) Home {
	h := Home{ServedSite: site, Address: homeOf(root, site.Prefix)}
	h.Called = h.Address
	if u, err := url.Parse(h.Address); err == nil && u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), usualPort[u.Scheme])
		h.Called = u.String()
	}
	return h
}

var usualPort = map[string]string{"http": "80", "https": "443"}

// homeOf returns the home address of a site, without the usual port, by that of its REST root in either form.
func homeOf(root, prefix string) string {
	home, _, _ := strings.Cut(root, "/?")
	u, err := url.Parse(strings.TrimSuffix(home, "/"+prefix+"/"))
	if err != nil { // it was built, and has reached the site
		return home
	}
	if u.Port() == usualPort[u.Scheme] {
		u.Host = strings.TrimSuffix(u.Host, ":"+u.Port())
	}
	return u.String()
}

// maxTried bounds the hosts of a directive that are tried for one that leads to it.
const maxTried = 100

// roots are addresses of the REST root, in both forms, for each host.
func (g *guard) roots() []string {
	var names []string
	for _, pattern := range g.way.Hosts[:min(len(g.way.Hosts), maxTried)] {
		names = append(names, strings.ReplaceAll(pattern, "*", "any"))
	}
	if names == nil {
		names = []string{anyHost}
	}
	return g.rootsFor(names)
}

// rootsFor is roots for some hosts.
func (g *guard) rootsFor(names []string) (all []string) {
	addresses := addressesOf(g.way.Server)
	if addresses == nil { // a socket, behind a proxy
		addresses = []caddy.NetworkAddress{{StartPort: caddyhttp.DefaultHTTPPort}}
	}
	for _, name := range names {
		for _, at := range addresses {
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
