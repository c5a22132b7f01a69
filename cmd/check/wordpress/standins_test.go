//go:build wordpress

package wordpress

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/policies/plugins"
)

// standinRoute is one route of a stand-in, as plugin/restwarden-standin/catalogue.php reads it.
type standinRoute struct {
	Slug      string   `json:"slug"`
	Namespace string   `json:"namespace"`
	Pattern   string   `json:"pattern"` // what follows the namespace
	Methods   []string `json:"methods"`
	Closed    bool     `json:"closed"` // the plugin itself refuses callers without a login
}

// forNobody is a route of every namespace that no row names: the stand-in leaves it open.
const forNobody = "/for-nobody"

// standinRoutes are those of a plugin of the catalogue: its rows, and a route for nobody under
// each of its namespaces, and where else it is known by. What WordPress itself has is not stood
// in for.
func standinRoutes(p *plugins.Plugin) []standinRoute {
	var routes []standinRoute
	for _, base := range basesOf(p) {
		namespace := namespaceOf(p, base+forNobody)
		routes = append(routes, standinRoute{p.Slug, namespace, strings.TrimPrefix(base+forNobody, "/"+namespace), []string{"GET", "POST"}, false})
	}
	for _, row := range rowsOf(p) {
		if row.ofCore {
			continue
		}
		namespace := namespaceOf(p, row.route)
		routes = append(routes, standinRoute{
			p.Slug, namespace, expression(strings.TrimPrefix(row.route, "/"+namespace)), row.methods, row.anonymous == plugins.Closed,
		})
	}
	return routes
}

// basesOf are where routes of the plugin are, "/complianz/v1".
func basesOf(p *plugins.Plugin) []string {
	if p.Slug == core {
		return nil
	}
	bases := slices.Clone(p.Detect)
	for _, ns := range p.Namespaces {
		bases = append(bases, "/"+ns.Name)
	}
	return bases
}

// core is the slug of WordPress.
const core = "wordpress"

// row is one of a plugin, needed or risky.
type row struct {
	methods   []string
	route     string
	anonymous plugins.Anonymous
	need      *plugins.Need // nil for a risky row
	ofCore    bool          // the route is one of WordPress
}

func rowsOf(p *plugins.Plugin) (rows []row) {
	for i := range p.Needed {
		n := &p.Needed[i]
		rows = append(rows, row{n.Methods, n.Route, n.Anonymous, n, p.Slug == core})
	}
	for i := range p.Risky {
		r := &p.Risky[i]
		rows = append(rows, row{r.Methods, r.Route, r.Anonymous, nil, p.Slug == core || r.Scope != ""})
	}
	return rows
}

// namespaceOf returns the plugin's own namespace of a route, the longest one, or else what
// looks like one: the segments up to a version. A route is always longer than its namespace.
func namespaceOf(p *plugins.Plugin, route string) (namespace string) {
	for _, ns := range p.Namespaces {
		if strings.HasPrefix(route, "/"+ns.Name+"/") && len(ns.Name) > len(namespace) {
			namespace = ns.Name
		}
	}
	if namespace != "" {
		return namespace
	}
	segments := strings.Split(route[1:], "/")
	if len(segments) > 2 && strings.HasPrefix(segments[1], "v") {
		return strings.Join(segments[:2], "/")
	}
	return segments[0]
}

// expression returns a pattern of the catalogue as WordPress takes routes: "*" is one segment,
// "**" the rest, which may be empty.
func expression(pattern string) string {
	segments := strings.Split(pattern, "/")
	for i, s := range segments {
		switch s {
		case "*":
			segments[i] = fmt.Sprintf("(?P<p%d>[^/]+)", i)
		case "**":
			if i < 2 { // WordPress ends a namespace with a slash of its own
				return "(?P<rest>.+)"
			}
			return strings.Join(segments[:i], "/") + "(?:/(?P<rest>.+))?"
		}
	}
	return strings.Join(segments, "/")
}

// standinGate is an address where stand-ins are on.
type standinGate struct {
	gate

	Set   string   // value of the stand-ins' variable
	Lines []string // of the directive; none is no gateway
}

// standins are addresses with a Caddy of their own in front of the site fpm, so that the site
// is as ever for the other tests.
type standins struct {
	*stack

	variable string // by which the plugin knows what to stand in for
	level    string // of the log
	port     int
	Gates    []*standinGate
	client   *http.Client // reaches every name
	tags     atomic.Int64
}

func (s *stack) newStandins() (*standins, error) {
	ports, err := machine.FreePorts(1)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+machine.Port(address))
		},
		DisableKeepAlives: true, // several hundred names
	}
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	return &standins{stack: s, variable: "STANDIN_CATALOGUE", level: "WARN", port: ports[0], client: client}, nil
}

// write makes a file of routes. It takes the place of one of the same name.
func (n *standins) write(name string, routes []standinRoute) (string, error) {
	text, err := json.Marshal(slices.Concat([]standinRoute{}, routes))
	if err != nil {
		return "", err
	}
	file := filepath.Join(n.dir, "catalogue-"+name+".json")
	return file, os.WriteFile(file, text, 0o644)
}

// add plans an address with the stand-ins of a file, and the lines of a directive.
func (n *standins) add(name, set string, lines ...string) *standinGate {
	g := &standinGate{gate{Name: name, Site: n.site(fpm), Port: n.port, Domain: name + ".example.com"}, set, lines}
	n.Gates = append(n.Gates, g)
	return g
}

// start starts the Caddy. It ends with the set-ups.
func (n *standins) start(ctx context.Context) error {
	config := filepath.Join(n.dir, fmt.Sprintf("catalogue-%d.Caddyfile", n.port))
	err := n.render("catalogue.Caddyfile", config, map[string]any{
		"Variable": n.variable, "Level": n.level, "Dir": n.dir, "Root": n.site(fpm).Root, "FPM": n.fpmSocket(), "Gates": n.Gates,
	})
	if err != nil {
		return err
	}
	p, err := n.stack.start(filepath.Join(n.dir, "caddy"), "run", "--config", config, "--adapter", "caddyfile")
	if err != nil {
		return err
	}
	return p.Ready(ctx, machine.Connects("tcp", fmt.Sprintf("127.0.0.1:%d", n.port)))
}

// fetch sends a request to one of the addresses.
func (n *standins) fetch(ctx context.Context, g *standinGate, r request) (*answer, error) {
	r.client = n.client
	return fetch(ctx, &g.gate, r)
}

// tag returns a name of its own for a request.
func (n *standins) tag() string { return fmt.Sprintf("standin-%d-%d", n.port, n.tags.Add(1)) }
