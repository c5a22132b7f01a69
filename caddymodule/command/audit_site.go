package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/command/audit"
	"github.com/restwarden/restwarden/caddymodule/command/siteroot"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/policy"
)

// errUnknowable tells that facts are missing.
var errUnknowable = dryrun.ErrUnknowable

// guardedSite is the site of an audit in a configuration.
type guardedSite struct {
	name, prefix string
	configured   bool // there is a configuration
	loginOnly    bool
	notEnforced  string
	limits, past []string // as in audit.Input

	asked, address string              // what --site and the command line name
	ctx            context.Context     // of the command, which loads configurations as a report needs them
	site           *gateway.ServedSite // nil without a gateway
	gateway        *audit.Gateway      // likewise
	judges         []dryrun.Other      // the directives that may judge calls of the site, its own first
	alone          []byte              // a configuration of the judges
	platform       platforms.Platform
}

func newGuardedSite(ctx context.Context, address string) *guardedSite {
	g := &guardedSite{ctx: ctx, address: address}
	g.platform, _ = platforms.ByName("wordpress")
	return g
}

// guarded finds the site in the configuration: the one of --site, else that of the URL's
// host, else the only one.
func (a *auditor) guarded(ctx context.Context, address string) (*guardedSite, error) {
	g := newGuardedSite(ctx, calledAt(address, a.header))
	if len(a.choice.Sites) > 0 {
		g.asked = a.choice.Sites[0]
	}
	if !a.hasConfig() {
		if g.asked != "" {
			return nil, errors.New("--site needs a configuration: name one with --config")
		}
		return g, nil
	}
	config, err := dryrun.Load(dryrun.Options{File: a.config, Adapter: a.adapter})
	if err != nil {
		return nil, err
	}
	g.configured = true
	return g, errors.Join(g.choose(config), config.Close())
}

// hasConfig tells whether there is a configuration.
func (a *auditor) hasConfig() bool {
	_, err := os.Stat("Caddyfile")
	return a.config != "" || !errors.Is(err, fs.ErrNotExist)
}

// take makes a site of the configuration the one of the audit.
func (g *guardedSite) take(config *dryrun.Config, site *gateway.ServedSite) error {
	others, err := config.Beside(g.ctx, site, g.address)
	if err != nil {
		return err
	}
	g.configured, g.site = true, site
	g.name, g.prefix, g.platform = site.Name, site.Prefix, site.Policies.Platform
	g.judges = append([]dryrun.Other{{At: site.At, Imported: site.Imported, Said: site.Said, Chain: site.Chain}}, others...)
	g.gateway = &audit.Gateway{Chain: site.Chain}
	for _, o := range others {
		g.gateway.Beside = append(g.gateway.Beside, o.Chain)
	}
	if len(others) > 0 {
		g.limits = append(g.limits, fmt.Sprintf(
			"Several directives may judge calls of the site, at %s: what their rules do not agree on is not known. Lines to add belong into each of them.", strings.Join(placesOf(g.judges), ", ")))
	}
	g.past, g.loginOnly = pastOf(config, site, g.judges), true
	var idle, said []string
	for i := range g.judges {
		standing := access.StandingOf(g.judges[i].Chain)
		g.loginOnly = g.loginOnly && standing.LoginOnly
		if one := notEnforced(&g.judges[i], standing); one != "" {
			idle = append(idle, one)
		}
		said = append(said, g.judges[i].Said)
	}
	g.notEnforced = strings.Join(idle, ", ")
	g.alone, err = config.Alone(said...)
	return err
}

// notEnforced says what keeps the rules of a directive from refusing calls.
func notEnforced(d *dryrun.Other, standing access.Standing) string {
	place := routing.Place(d.At, d.Imported)
	switch {
	case standing.Off:
		return fmt.Sprintf("access off (%s)", place)
	case standing.Mode == policy.Observe:
		return fmt.Sprintf("mode observe of access (%s)", cmp.Or(standing.At, place))
	case standing.Observes:
		return fmt.Sprintf("mode observe (%s)", place)
	}
	return ""
}

// bareSite is a configuration for a site that no gateway guards, with a directive in it.
const bareSite = `{"apps": {"http": {"servers": {"site": {"listen": [":80"], "routes": [{"handle": [
	{"handler": "restwarden", "platform": %q}, {"handler": "reverse_proxy", "upstreams": [{"dial": "127.0.0.1:80"}]}
]}]}}}}}`

// chooses takes from a root what no configuration has said.
func (g *guardedSite) chooses(root *siteroot.Root) {
	if g.site != nil {
		return
	}
	for _, p := range platforms.All() {
		if slices.Contains(root.Namespaces, p.Core) {
			g.platform = p
		}
	}
	g.alone = fmt.Appendf(nil, bareSite, g.platform.Name)
}

// with loads the directives of the site with login_only and more lines.
func (g *guardedSite) with(lines []string) (*audit.Gateway, error) {
	config, err := dryrun.Load(dryrun.Options{JSON: g.alone, Edit: func(d *gateway.Gateway) error { return enforce(d, g.platform, lines) }})
	if err != nil {
		return nil, err
	}
	chains := config.Chains()
	return &audit.Gateway{Chain: chains[0], Beside: chains[1:]}, config.Close()
}

// enforce makes a directive enforce, with login_only and lines such as "allow plugin x".
func enforce(g *gateway.Gateway, platform platforms.Platform, lines []string) error {
	g.Mode = ""
	c, err := g.Policy(access.Entry)
	if err != nil {
		return err
	}
	c.Settings.Mode, c.Settings.Off = "", false
	c.Policy.(*access.Access).LoginOnly = true
	if err := g.SetPolicy(c); err != nil {
		return err
	}
	for _, line := range lines {
		options, err := access.ExpandLine(line, platform)
		if err != nil {
			return err
		}
		for _, o := range options {
			if err := g.Add(o); err != nil {
				return err
			}
		}
	}
	return nil
}
