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

	asked, address string // what --site and the command line name
	options        dryrun.Options
	ctx            context.Context     // of the command, which loads configurations as a report needs them
	site           *gateway.ServedSite // nil without a gateway
	gateway        *audit.Gateway      // likewise
	judges         []dryrun.Other      // the directives that may judge calls of the site, its own first
	platform       platforms.Platform
	open           []*dryrun.Config
}

// guarded finds the site in the configuration: the one of --site, else that of the URL's
// host, else the only one.
func (a *auditor) guarded(ctx context.Context, address string) (*guardedSite, error) {
	g := &guardedSite{ctx: ctx, asked: a.site, address: calledAt(address, a.header), options: dryrun.Options{File: a.config, Adapter: a.adapter}}
	g.platform, _ = platforms.ByName("wordpress")
	if _, err := os.Stat("Caddyfile"); a.config == "" && errors.Is(err, fs.ErrNotExist) {
		if a.site != "" {
			return nil, errors.New("--site needs a configuration: name one with --config")
		}
		return g, nil
	}
	g.configured = true
	config, err := g.load()
	if err == nil {
		err = g.choose(config)
	}
	if err != nil {
		return nil, errors.Join(err, g.close())
	}
	g.loginOnly = len(g.judges) > 0
	var parts []string
	for i := range g.judges {
		standing := access.StandingOf(g.judges[i].Chain)
		g.loginOnly = g.loginOnly && standing.LoginOnly
		if idle := notEnforced(&g.judges[i], standing); idle != "" {
			parts = append(parts, idle)
		}
	}
	g.notEnforced = strings.Join(parts, ", ")
	return g, nil
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

func (g *guardedSite) load() (*dryrun.Config, error) {
	config, err := dryrun.Load(g.options)
	if err == nil {
		g.open = append(g.open, config)
	}
	return config, err
}

func (g *guardedSite) close() (err error) {
	for _, config := range g.open {
		err = errors.Join(err, config.Close())
	}
	return err
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
	g.options = dryrun.Options{JSON: fmt.Appendf(nil, bareSite, g.platform.Name)}
}

func gatewayOf(s *gateway.ServedSite, others []dryrun.Other) *audit.Gateway {
	g := &audit.Gateway{Chain: s.Chain}
	for _, o := range others {
		g.Beside = append(g.Beside, o.Chain)
	}
	return g
}

// with loads the configuration with login_only and more lines in the site's directive.
func (g *guardedSite) with(lines []string) (*audit.Gateway, error) {
	g.options.Edit = func(d *gateway.Gateway) error {
		if g.site != nil && !g.judged(d) {
			return nil
		}
		return enforce(d, g.platform, lines)
	}
	config, err := g.load()
	if err != nil {
		return nil, err
	}
	site, _, err := g.pick(config)
	if err != nil || site == nil {
		return nil, errors.Join(err, errors.New("the site is gone"))
	}
	others, err := config.Beside(g.ctx, site, g.address)
	return gatewayOf(site, others), err
}

// judged tells whether a directive may judge calls of the site. Those of one snippet stand at one
// place, and differ in where it was imported.
func (g *guardedSite) judged(by *gateway.Gateway) bool {
	return slices.ContainsFunc(g.judges, func(d dryrun.Other) bool { return d.At == by.At && d.Imported == by.Imported[""] })
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
