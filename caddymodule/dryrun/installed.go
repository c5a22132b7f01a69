package dryrun

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/review"
)

// Installed is what is known of one site, and which one that is.
type Installed struct {
	*review.Installed
	// Addresses are those of the site, the surest first: its own word for its home, then the
	// address that its REST root was read from. Any of them may be "".
	Addresses []string
	// Named tells that the user has named the site: the only one does not stand for it.
	Named bool

	directives []*routing.Directive
}

// ErrOtherSite tells that no directive guards the site that is known.
var ErrOtherSite = errors.New("none of the sites of the configuration is the one of the REST root")

// otherSite is ErrOtherSite with the host of the root and those of the configuration.
func otherSite(site *Installed, all []*routing.Directive) error {
	home, names := "no host", []string(nil)
	for _, address := range site.Addresses {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			home = hosts.Name(u.Host)
			break
		}
	}
	for _, d := range all {
		if len(d.Hosts) > 0 && !slices.Contains(names, d.Hosts[0]) {
			names = append(names, d.Hosts[0])
		}
	}
	slices.Sort(names)
	if more := len(names) - fewSites; more > 0 {
		names = append(names[:fewSites], fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%w: the root is of %s, the configuration has %s: name one with --site", ErrOtherSite, home, strings.Join(names, ", "))
}

// fewSites is how many sites an error names.
const fewSites = 8

// place finds the directives that guard the site: those for the first address that one of them
// covers, or the only one that there is.
func (c *Config) place(site *Installed) error {
	if site == nil {
		return nil
	}
	all := c.Report.Directives
	for _, address := range site.Addresses {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			continue
		}
		host, folder := hosts.Name(u.Host), strings.TrimSuffix(u.Path, "/")
		covering := slices.DeleteFunc(slices.Clone(all), func(d *routing.Directive) bool { return d.Hosts == nil || !d.Covers(host) })
		site.directives = slices.DeleteFunc(slices.Clone(covering), func(d *routing.Directive) bool { return d.Base != folder })
		if len(site.directives) == 0 && len(covering) == 1 {
			site.directives = covering
		}
		if len(site.directives) > 0 {
			return nil
		}
	}
	if len(all) != 1 || site.Named {
		return otherSite(site, all)
	}
	site.directives = all
	return nil
}

// installed returns what tells the gateways what is known of their site.
func (c *Config) installed(site *Installed) func(at, imported string) *review.Installed {
	if site == nil {
		return nil
	}
	return func(at, imported string) *review.Installed {
		if slices.ContainsFunc(site.directives, func(d *routing.Directive) bool { return d.At == at && d.Imported == imported }) {
			return site.Installed
		}
		return nil
	}
}
