package dryrun

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/policy"
)

// Serving returns the site that calls to an address come to; the address is that of a home page
// or of a REST root. Without a site, answers says what the configuration has for such
// calls instead; it is "" if the configuration does not know the host.
func (c *Config) Serving(ctx context.Context, address string) (site *gateway.ServedSite, answers string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, "", err
	}
	for _, root := range c.rootsAt(u) {
		r, err := Build("", root, nil, nil)
		if err != nil {
			return nil, "", err
		}
		site, result, err := c.Reach(ctx, r)
		switch {
		case err != nil:
			return nil, "", err
		case site == nil:
			if result.Missed.handler {
				answers = cmp.Or(answers, result.Missed.Answered)
			}
		case u.Path == site.Base || strings.HasPrefix(u.Path, site.Base+"/") || site.Base == "":
			return site, "", nil
		default:
			answers = cmp.Or(answers, fmt.Sprintf("the directive at %s, which guards %s alone,", site.At, site.Base))
		}
	}
	return nil, answers, nil
}

// rootsAt returns where the REST root of an address may be: for each prefix of the
// configuration, and in the query form.
func (c *Config) rootsAt(u *url.URL) (roots []string) {
	at := *u
	at.RawQuery, at.Fragment, at.User = "", "", nil
	home := strings.TrimSuffix(at.String(), "/")
	for _, g := range c.guards {
		prefix := "/" + g.site.Prefix
		if i := strings.Index(home+"/", prefix+"/"); i > 0 {
			home = home[:i]
		}
		roots = append(roots, prefix+"/")
	}
	slices.Sort(roots)
	roots = append(slices.Compact(roots), "/?rest_route=/")
	for i := range roots {
		roots[i] = home + roots[i]
	}
	return roots
}

// Beside returns the directives with other rules than the site's that may judge its calls
// beside the site's directive, or in place of it. address is where the site is called; "" is
// any port. A directive counts if it cannot be told apart.
func (c *Config) Beside(ctx context.Context, site *gateway.ServedSite, address string) (found []Other, err error) {
	probes, port := probesOf(site, address)
	if !slices.ContainsFunc(c.guards, func(g *guard) bool { return listensOn(g.way.Server, port) }) {
		port = 0
	}
	for _, g := range c.guards {
		switch {
		case g.rules == site.Chain, port != 0 && !listensOn(g.way.Server, port):
			continue
		case !slices.ContainsFunc(probes, func(host string) bool { return g.covers(host) && !c.apart(site, g) }):
			continue
		}
		if g.site.Base != site.Base {
			judges, err := c.judges(ctx, site, g.rules, probes)
			if err != nil {
				return nil, err
			}
			if !judges {
				continue
			}
		}
		if !slices.ContainsFunc(found, func(o Other) bool { return o.Chain == g.rules }) {
			found = append(found, Other{g.at, g.imported, g.said, g.rules})
		}
	}
	return found, nil
}

// probesOf returns hosts of a site, and the port that an address names; 0 for none. The host of
// the address counts alone if it is one of the site's.
func probesOf(site *gateway.ServedSite, address string) (probes []string, port int) {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		if (&guard{way: routing.Way{Hosts: site.Policies.Hosts}}).covers(u.Host) {
			port, _ = strconv.Atoi(u.Port())
			return []string{u.Host}, port
		}
	}
	for _, pattern := range site.Policies.Hosts {
		probes = append(probes, strings.ReplaceAll(pattern, "*", "any"))
	}
	if len(probes) == 0 {
		probes = []string{anyHost}
	}
	return probes, 0
}

// apart tells whether no request that comes to the site's directive, or would without its
// matchers, comes to g: a block for the site's own hosts stands before it.
func (c *Config) apart(site *gateway.ServedSite, g *guard) bool {
	for _, own := range c.guards {
		if own.rules != site.Chain || own.at != site.At || !slices.Equal(own.way.Hosts, site.Policies.Hosts) {
			continue
		}
		if own.way.Server == g.way.Server {
			return ends(own, g)
		}
	}
	return false // another server listens, and may get the requests of any host
}

// ends tells whether the outermost route on the way to own takes all requests to its hosts, so
// that none of them comes to the later route of g.
func ends(own, g *guard) bool {
	if len(own.way.Routes) == 0 || len(g.way.Routes) == 0 {
		return false
	}
	first, second := own.way.Routes[0], g.way.Routes[0]
	if first == second || !first.Terminal || own.way.Errors || g.way.Errors {
		return false
	}
	for _, set := range first.MatcherSets {
		if _, host := set[0].(*caddyhttp.MatchHost); len(set) != 1 || !host {
			return false
		}
	}
	for i := range own.way.Server.Routes {
		switch &own.way.Server.Routes[i] {
		case first:
			return true
		case second:
			return false
		}
	}
	return false
}

// judges tells whether one of some plain calls of the site comes to another directive.
func (c *Config) judges(ctx context.Context, site *gateway.ServedSite, other *policy.Chain, probes []string) (bool, error) {
	for _, own := range c.guards {
		if own.rules != site.Chain {
			continue
		}
		for _, root := range own.rootsFor(probes) {
			for _, route := range []string{"", own.site.Platform.Core + "/posts", own.site.Platform.Core + "/users/1"} {
				r, err := Build("", root+route, nil, nil)
				if err != nil {
					continue // a pattern of hosts that no address has
				}
				reached, _, err := c.Reach(ctx, r)
				if err != nil || reached != nil && reached.Chain == other {
					return true, err
				}
			}
		}
	}
	return false, nil
}
