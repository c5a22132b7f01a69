package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/command/audit"
	"github.com/restwarden/restwarden/caddymodule/command/siteroot"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/nearest"
)

// errUnknowable tells that facts are missing.
var errUnknowable = dryrun.ErrUnknowable

// guardedSite is the site of an audit in a configuration.
type guardedSite struct {
	name, prefix string
	loginOnly    bool
	limits       []string

	options   dryrun.Options
	ctx       context.Context // of the command, which loads configurations as a report needs them
	site      *dryrun.Site    // nil without a gateway
	home      string          // an address of the site
	directive string          // the place of the directive; "" for all
	platform  call.Platform
	open      []*dryrun.Config
}

// guarded finds the site in the configuration: the one of --site, else that of the URL's
// host, else the only one.
func (a *auditor) guarded(ctx context.Context, address string) (*guardedSite, error) {
	g := &guardedSite{ctx: ctx, options: dryrun.Options{File: a.config, Adapter: a.adapter}}
	g.platform, _ = call.PlatformByName("wordpress")
	if _, err := os.Stat("Caddyfile"); a.config == "" && errors.Is(err, fs.ErrNotExist) {
		if a.site != "" {
			return nil, errors.New("--site needs a configuration: name one with --config")
		}
		return g, nil
	}
	loginOnly := map[string]bool{}
	g.options.Edit = func(at string, d map[string]any) { loginOnly[at] = loginOnly[at] || hasLoginOnly(d) }
	config, err := g.load()
	if err == nil {
		err = g.choose(config, a.site, address)
	}
	if err != nil {
		return nil, errors.Join(err, g.close())
	}
	if g.site != nil {
		g.loginOnly = loginOnly[g.site.At]
	}
	return g, nil
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

// choose chooses the site.
func (g *guardedSite) choose(config *dryrun.Config, name, address string) error {
	sites, err := config.Sites(g.ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, s := range sites {
		names = append(names, s.Name)
	}
	switch {
	case name != "":
		if err := nearest.Check(name, names...); err != nil {
			return fmt.Errorf("--site: %w", err)
		}
		g.site = sites[slices.Index(names, name)]
	case len(sites) == 0:
		return nil
	default:
		if g.site = siteAt(sites, address); g.site == nil && len(sites) > 1 {
			return fmt.Errorf("the configuration guards several sites: name one with --site: %s", strings.Join(names, ", "))
		} else if g.site == nil {
			g.site = sites[0]
		}
	}
	g.name, g.prefix, g.platform = g.site.Name, g.site.Prefix, g.site.Policies.Platform
	g.limits = limitsOf(config, g.site)
	return nil
}

// siteAt returns the site that an address is one of, or nil: the one with the longest base.
func siteAt(sites []*dryrun.Site, address string) (found *dryrun.Site) {
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

// bareSite is a configuration for a site that no gateway guards, with a directive in it.
const bareSite = `{"apps": {"http": {"servers": {"site": {"listen": [":80"], "routes": [{"handle": [
	{"handler": "restwarden", "platform": %q}, {"handler": "reverse_proxy", "upstreams": [{"dial": "127.0.0.1:80"}]}
]}]}}}}}`

// chooses takes from a root what no configuration has said.
func (g *guardedSite) chooses(root *siteroot.Root) {
	if g.site != nil {
		return
	}
	for _, p := range call.Platforms() {
		if slices.Contains(root.Namespaces, p.Core) {
			g.platform = p
		}
	}
	g.options = dryrun.Options{JSON: fmt.Appendf(nil, bareSite, g.platform.Name)}
}

// now is the gateway of the site, or nil.
func (g *guardedSite) now() *audit.Gateway {
	if g.site == nil {
		return nil
	}
	return gatewayOf(g.site)
}

func gatewayOf(s *dryrun.Site) *audit.Gateway {
	return &audit.Gateway{Chain: s.Chain, Jetpack: s.Policies.Own.Jetpack}
}

// with loads the configuration with login_only and more lines in the site's directive.
func (g *guardedSite) with(lines []string) (*audit.Gateway, error) {
	var failed error
	at := ""
	if g.site != nil {
		at = g.site.At
	}
	g.options.Edit = func(place string, d map[string]any) {
		if at == "" || place == at {
			failed = errors.Join(failed, enforce(d, g.platform, lines))
		}
	}
	config, err := g.load()
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	sites, err := config.Sites(g.ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range sites {
		if g.site == nil || s.Name == g.site.Name {
			return gatewayOf(s), nil
		}
	}
	return nil, errors.New("the site is gone")
}

// enforce makes a directive enforce, with login_only and lines such as "allow plugin x".
func enforce(directive map[string]any, platform call.Platform, lines []string) error {
	options := []policies.Option{}
	for _, line := range lines {
		words := strings.Fields(line)
		expanded, err := policies.ExpandPlugins(policies.Option{Name: words[0], Args: words[1:]}, platform)
		if err != nil {
			return err
		}
		options = append(options, expanded...)
	}
	delete(directive, "mode")
	configured := objectIn(directive, "policies")
	access := objectIn(configured, "access")
	delete(access, "mode")
	delete(access, "off")
	access["login_only"] = true
	for _, o := range options {
		if o.Name == "credentials" {
			objectIn(directive, "credentials")[o.Args[0]] = true
			continue
		}
		if err := configure(configured, o); err != nil {
			return err
		}
	}
	return nil
}

// configure adds a line to the JSON of the policy that takes it.
func configure(configured map[string]any, o policies.Option) error {
	i := slices.IndexFunc(policies.Catalog, func(e policies.Entry) bool { return slices.Contains(e.Words, o.Name) })
	c := policies.NewConfigured(policies.Catalog[i])
	text, err := json.Marshal(objectIn(configured, c.Entry.Name))
	if err != nil {
		return err
	}
	if err := c.UnmarshalJSON(text); err != nil {
		return err
	}
	if err := c.Configure(o); err != nil {
		return err
	}
	if text, err = json.Marshal(c); err != nil {
		return err
	}
	var changed map[string]any
	err = json.Unmarshal(text, &changed)
	configured[c.Entry.Name] = changed
	return err
}

// objectIn returns the object under a name, and makes it if there is none.
func objectIn(of map[string]any, name string) map[string]any {
	o, _ := of[name].(map[string]any)
	if o == nil {
		o = map[string]any{}
		of[name] = o
	}
	return o
}

func hasLoginOnly(directive map[string]any) bool {
	return objectIn(objectIn(directive, "policies"), "access")["login_only"] == true
}

// ways are the codes of findings by which calls reach the site past its rules.
var ways = []string{"W01", "W02", "W03", "W10", "W12"}

// limitsOf says why calls may reach the site that the rules refuse.
func limitsOf(config *dryrun.Config, site *dryrun.Site) (limits []string) {
	for i := range config.Report.Odd {
		f := &config.Report.Odd[i]
		about := f.At == site.At && f.Imported == site.Imported || len(f.Sites) == 0 ||
			slices.ContainsFunc(f.Sites, func(host string) bool { return slices.Contains(site.Policies.Hosts, host) })
		if about && slices.Contains(ways, f.Code) {
			limits = append(limits, fmt.Sprintf("Calls may reach the site past the rules, %s at %s: %s.", f.Code, f.At, strings.TrimSuffix(f.Text, ".")))
		}
	}
	proof, err := site.Chain.Prove(policies.Claim{Never: true, Methods: []string{"GET"}, Routes: []string{"/"}})
	if err == nil {
		limits = append(limits, proof.Unproved...)
	}
	return limits
}
