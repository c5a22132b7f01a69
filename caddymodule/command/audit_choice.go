package command

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/review"
	"github.com/restwarden/restwarden/policies/typo"
)

// choose chooses the site.
func (g *guardedSite) choose(config *dryrun.Config) error {
	site, assumed, err := g.pick(config)
	if site == nil || err != nil {
		return err
	}
	if assumed != "" {
		g.limits = append(g.limits, assumed)
	}
	return g.take(config, site)
}

func placesOf(judges []dryrun.Other) (places []string) {
	for i := range judges {
		if place := routing.Place(judges[i].At, judges[i].Imported); !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return places
}

// errNotGuarded tells that the gateway is not on the way to the site.
var errNotGuarded = errors.New("the gateway is not on the way")

// pick returns the site: the one of --site, else the one that calls to the address come to, else
// the only one, if the configuration does not know the address. assumed says so in a sentence.
func (g *guardedSite) pick(config *dryrun.Config) (site *gateway.ServedSite, assumed string, err error) {
	sites, err := config.Sites(g.ctx)
	if err != nil {
		return nil, "", err
	}
	var names []string
	for _, s := range sites {
		names = append(names, s.Name)
	}
	if g.asked != "" {
		if err := typo.Check(g.asked, names...); err != nil {
			return nil, "", fmt.Errorf("--site: %w", err)
		}
		site = sites[slices.Index(names, g.asked)]
		if at, _, err := config.Serving(g.ctx, g.address); g.address != "" && err == nil && at != nil && at.Name == site.Name {
			site = at // on the port of the address
		}
		return site, "", nil
	}
	if g.address != "" && len(sites) > 0 {
		at, answers, err := config.Serving(g.ctx, g.address)
		switch {
		case err != nil || at != nil:
			return at, "", err
		case answers != "":
			return nil, "", fmt.Errorf("%w to %s: %s answers there; --site names another site of the configuration", errNotGuarded, g.address, answers)
		}
		if at := siteAt(sites, g.address); at != nil {
			return at, "", nil
		}
	}
	switch {
	case len(sites) == 0:
		return nil, "", nil
	case len(sites) > 1:
		return nil, "", fmt.Errorf("the configuration guards several sites: name one with --site: %s", typo.List(names))
	case g.address != "":
		assumed = fmt.Sprintf("Site assumed: the configuration does not know the host of the address, so that its only site, %s, is taken.", names[0])
	}
	return sites[0], assumed, nil
}

// calledAt returns the address that a site is called at, without a login: a header line "Host: …"
// says which host that is, since the server goes by it.
func calledAt(address string, header []string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	port := u.Port()
	for _, line := range header {
		name, value, _ := strings.Cut(line, ":")
		host := strings.Trim(hosts.Name(strings.TrimSpace(value)), "[]")
		switch {
		case !strings.EqualFold(strings.TrimSpace(name), "Host") || host == "":
		case port != "":
			u.Host = net.JoinHostPort(host, port)
		case strings.Contains(host, ":"):
			u.Host = "[" + host + "]"
		default:
			u.Host = host
		}
	}
	return shownAddress(u.String())
}

// siteAt returns the site that an address is one of, or nil: the one with the longest base.
func siteAt(sites []*gateway.ServedSite, address string) (found *gateway.ServedSite) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	for _, s := range sites {
		fits := slices.ContainsFunc(s.Policies.Hosts, func(pattern string) bool { return hosts.Fits(pattern, hosts.Name(u.Host)) })
		rest, below := strings.CutPrefix(u.Path, s.Base)
		if fits && below && (rest == "" || rest[0] == '/') && (found == nil || len(s.Base) > len(found.Base)) {
			found = s
		}
	}
	return found
}

// ways are the codes of findings by which calls reach the site past its rules.
var ways = []string{"W01", "W02", "W03", "W10", "W12"}

// pastOf says why calls may reach the site that the rules refuse.
func pastOf(config *dryrun.Config, site *gateway.ServedSite, judges []dryrun.Other) (limits []string) {
	for i := range config.Report.Odd {
		f := &config.Report.Odd[i]
		about := len(f.Sites) == 0 || slices.ContainsFunc(f.Sites, func(host string) bool { return serves(site, host) }) ||
			slices.ContainsFunc(judges, func(d dryrun.Other) bool { return f.At == d.At && f.Imported == d.Imported })
		if about && slices.Contains(ways, f.Code) {
			limits = append(limits, fmt.Sprintf("Calls may reach the site past the rules, %s at %s: %s.", f.Code, f.At, strings.TrimSuffix(f.Text, ".")))
		}
	}
	if site.Policies.Own.Jetpack {
		limits = append(limits, "Calls may reach the site past the rules, by credentials jetpack: who forges such a signature counts as a user until the platform refuses it.")
	}
	for _, d := range judges {
		proof, err := review.Prove(d.Chain, review.Claim{Never: true, Methods: []string{"GET"}, Routes: []string{"/"}})
		if err == nil {
			limits = append(limits, proof.Unproved...)
		}
	}
	slices.Sort(limits)
	return slices.Compact(limits)
}

// serves tells whether a host, or a pattern of hosts, may be one of the site's.
func serves(site *gateway.ServedSite, host string) bool {
	return len(site.Policies.Hosts) == 0 || slices.ContainsFunc(site.Policies.Hosts, func(own string) bool {
		return hosts.Fits(own, host) || hosts.Fits(host, own)
	})
}
