//go:build wordpress

package wordpress

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/sync/errgroup"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

//go:embed plugin config
var embedded embed.FS

// stack is everything that runs, in one temporary directory.
type stack struct {
	root     string // of the repository
	source   source
	dir      string
	reports  string // where the plugin writes what was dispatched
	socket   string // of the database
	admin    int    // port of Caddy's admin interface
	inner    int    // port of the Caddy behind another one
	nginx    int    // port of nginx
	franken  int    // port of the admin interface of FrankenPHP's Caddy
	sites    []*site
	gates    []*gate
	early    earlyPorts
	targets  []*target // of the part attack
	children []*machine.Process
	reaper   *reaper
}

// webUser is whose rights PHP runs with where the tests run as root.
const webUser = "www-data"

// The four set-ups that every run has.
const (
	fpm       = "fpm"    // php_fastcgi in the same site block
	apache    = "apache" // reverse_proxy to Apache with mod_php
	subFolder = "blog"   // sub-folder, login cookies for the install path only
	plain     = "plain"  // plain permalinks
)

// fronts are how the site fpm stands behind more gates, beside php_fastcgi with its
// defaults.
var fronts = []string{
	"try_files", // php_fastcgi with try_files of its own
	"transport", // reverse_proxy with transport fastcgi
	"caddy",     // reverse_proxy to another Caddy
	"nginx",     // reverse_proxy to nginx
	rewritten,
}

// rewritten is try_files before the gateway and nothing but FastCGI behind it.
const rewritten = "rewritten"

const prettyPermalinks = "/%postname%/"

// startStack starts all set-ups. The stack must be stopped in any case.
func startStack(ctx context.Context, root string) (*stack, error) {
	dir, err := os.MkdirTemp("", "restwarden-wordpress-")
	if err != nil {
		return nil, err
	}
	s := &stack{root: root, dir: dir, reports: filepath.Join(dir, "reports"), source: sourceFromEnvironment()}
	s.sites = []*site{
		{Name: fpm, Permalinks: prettyPermalinks},
		{Name: apache, Permalinks: prettyPermalinks},
		{Name: subFolder, Base: "/blog", Core: "/core", Permalinks: prettyPermalinks},
		{Name: plain},
	}
	s.sites = append(s.sites, frankenSites()...)
	if s.reaper, err = startReaper(dir); err != nil {
		return s, err
	}
	if err := s.allotPorts(); err != nil {
		return s, err
	}
	if err := errors.Join(os.Chmod(dir, 0o755), s.shareDir(s.reports)); err != nil {
		return s, err
	}
	steps := []func(context.Context) error{s.startMariaDB, s.startPHP, s.createSites, s.startCaddy, s.startFrankenPHP, s.warmUp}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return s, err
		}
	}
	return s, nil
}

// warmUp calls every gate, and has the gateway ask each site about a caller: PHP compiles
// WordPress for the first request, which takes longer than the gateway waits for an answer.
func (s *stack) warmUp(ctx context.Context) error {
	for _, g := range s.gates {
		if _, err := fetch(ctx, g, request{path: "/?rest_route=/"}); err != nil {
			return fmt.Errorf("%s: %w", g.Name, err)
		}
	}
	for _, g := range append(s.gatesOf(modeBare), s.gatesOf(modeDefault)...) {
		admin := g.Site.Accounts["administrator"]
		order := fmt.Sprintf("/?rest_route=/wc/v3/orders/%d", g.Site.Orders[1])
		if _, err := fetch(ctx, g, request{path: order, as: &admin}); err != nil {
			return fmt.Errorf("%s: %w", g.Name, err)
		}
	}
	return nil
}

// allotPorts decides which gates there are.
func (s *stack) allotPorts() error {
	var err error
	if s.targets, err = readTargets(s.root); err != nil {
		return err
	}
	for i, site := range s.sites {
		site.Index = i
		modes := []string{modeDefault, modeLocked, modeBare, modeKey}
		switch site.Name {
		case fpm:
			modes = append(modes, modeObserve, modeMisread, modeKept, modeScoped, modeLogins)
		case apache:
			modes = append(modes, modeMisread, modeKept, modeScoped, modeLogins)
		case subFolder:
			modes = append(modes, modeCookies)
		}
		s.addGates(site, "", modes...)
	}
	for _, front := range fronts {
		s.addGates(s.site(fpm), front, modeDefault, modeLocked, modeBare, modeKey)
	}
	ports, err := machine.FreePorts(2*len(s.gates) + 18 + 2*len(s.targets))
	if err != nil {
		return err
	}
	next := func() (port int) {
		port, ports = ports[0], ports[1:]
		return port
	}
	for _, g := range s.gates {
		g.Port = next()
		if g.Mode == modeLocked || g.Mode == modeDefault || g.Mode == modeKey || g.Mode == modeKept || g.Mode == modeScoped {
			g.TLS = next()
		}
	}
	s.admin, s.inner, s.nginx, s.franken, s.site(apache).Apache = next(), next(), next(), next(), next()
	s.early = earlyPorts{apache: next(), lost: next(), nginx: next(), nginxQ: next(), lossy: next(), queryless: next(), lighttpd: next(), qsa: next(), haproxy: next(), small: next(), sorted: next(), twice: next(), before: next(), caddy: next(), other: next()}
	for _, target := range s.targets {
		target.port, target.tls = next(), next()
	}
	return nil
}

func (s *stack) addGates(site *site, front string, modes ...string) {
	for _, mode := range modes {
		name := strings.Join(strings.Fields(site.Name+" "+front+" "+mode), " ")
		s.gates = append(s.gates, &gate{Name: name, Site: site, Mode: mode, Front: front})
	}
}

func (s *stack) createSites(ctx context.Context) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for _, site := range s.sites {
		group.Go(func() error { return s.createSite(groupCtx, site) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return errors.Join(s.startApache(ctx, s.site(apache)), s.startNginx(ctx, s.site(fpm)), s.startLighttpd(ctx, s.site(fpm)), s.startHAProxy(ctx), s.startVarnish(ctx))
}

func (s *stack) site(name string) *site {
	return s.sites[slices.IndexFunc(s.sites, func(x *site) bool { return x.Name == name })]
}

// gate returns the gate of a site with its own front-end.
func (s *stack) gate(name, mode string) *gate {
	return s.gates[slices.IndexFunc(s.gates, func(g *gate) bool { return g.Site.Name == name && g.Front == "" && g.Mode == mode })]
}

// gateBehind returns the gate of the site fpm with one of fronts.
func (s *stack) gateBehind(front, mode string) *gate {
	return s.gates[slices.IndexFunc(s.gates, func(g *gate) bool { return g.Front == front && g.Mode == mode })]
}

// setUp names a gate without its mode.
func (g *gate) setUp() string { return strings.TrimSuffix(g.Name, " "+g.Mode) }

// gatesOf returns all gates with a mode, whatever their front-end.
func (s *stack) gatesOf(mode string) (list []*gate) {
	for _, g := range s.gates {
		if g.Mode == mode {
			list = append(list, g)
		}
	}
	return list
}

// stop ends all processes, the last one first, and removes the directory.
func (s *stack) stop() error {
	for _, p := range slices.Backward(s.children) {
		p.Stop()
	}
	err := os.RemoveAll(s.dir)
	s.reaper.dismiss()
	return err
}

// accountOf returns name where the check runs as root and must give rights
// away, else "".
func (s *stack) accountOf(name string) string {
	if os.Geteuid() != 0 {
		return ""
	}
	if _, err := user.Lookup(name); err != nil {
		return ""
	}
	return name
}

// shareDir makes a directory that every process may write to.
func (s *stack) shareDir(path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return os.Chmod(path, 0o777)
}

func (s *stack) giveToWebUser(ctx context.Context, path string) error {
	if s.accountOf(webUser) == "" {
		return nil
	}
	_, err := machine.Run(ctx, s.dir, nil, "chown", "-R", webUser, path)
	return err
}

// render writes a file of config, filled with data.
func (s *stack) render(name, to string, data any) error {
	text, err := embedded.ReadFile("config/" + name)
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // a second time, where nothing went wrong
	if data == nil {
		_, err = f.Write(text)
		return errors.Join(err, f.Close())
	}
	t, err := template.New(name).Parse(string(text))
	if err != nil {
		return err
	}
	if err := t.Execute(f, data); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.Close()
}
