package routing

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// node is a route with its matchers and handlers, read once.
type node struct {
	group    string
	terminal bool
	sets     [][]*matcher
	hosts    []string // see hostsOf
	handlers []*handler
	falls    bool // it rewrites paths that are no files to a script, as php_fastcgi does
}

// handler is one handler of a route, with what matters for requests' ways.
type handler struct {
	name      string
	kind      *Kind
	directive *Directive
	invokes   string
	errors    bool // its last branch handles errors of the first
	branches  []nodeBranch
	// answers says that it never passes a request on, except from its branches.
	answers bool
	plain   bool // the answer is a redirect or a refusal of its own: it leads nowhere
	changes parts
	root    string // that it sets
	alters  []alteration
	fails   bool  // it may fail
	status  int   // … with this status; 0 stands for any
	leads   *lead // to which it leads
	sets    values
}

type nodeBranch struct {
	routes []*node
	errors bool
}

// reader reads routes. It knows which handlers are directives that guard.
type reader struct {
	guards     Directives
	directives []*Directive
	raw        []json.RawMessage // of directives, which are read once all are found
}

func (d *reader) nodes(routes caddyhttp.RouteList) []*node {
	found := make([]*node, len(routes))
	for i := range routes {
		found[i] = d.node(&routes[i])
	}
	return found
}

func (d *reader) node(route *caddyhttp.Route) *node {
	n := &node{group: route.Group, terminal: route.Terminal, sets: matcherSets(route), hosts: hostsOf(route)}
	for _, s := range steps(route) {
		n.handlers = append(n.handlers, d.read(s))
	}
	n.falls = fallsBack(n)
	return n
}

func (d *reader) read(s step) *handler {
	h := &handler{name: s.name, kind: anything}
	if s.name == d.guards.Handler {
		h.directive = new(Directive)
		d.directives, d.raw = append(d.directives, h.directive), append(d.raw, s.json())
		h.changes = other // of parameters
		return h
	}
	k := KindOf(s.name)
	h.kind, h.answers, h.changes, h.fails = k, k.answers, k.changes, !k.quiet
	if k.read != nil {
		k.read(h, s)
	}
	if k.invokes != nil {
		h.invokes = k.invokes(s)
	}
	if k.leads != nil {
		h.leads = k.leads(s)
	}
	if k.alters != nil {
		h.alters = k.alters(s)
	}
	if k.sets != nil {
		h.sets = k.sets(s)
	}
	for _, b := range s.branches() {
		h.branches = append(h.branches, nodeBranch{d.nodes(b.routes), b.errors})
		h.errors = h.errors || b.errors
	}
	return h
}

// by names the handler as a Caddyfile does.
func (h *handler) by() string { return cmp.Or(h.kind.by, h.name) }

// noFile is the matcher, of this package's own, that holds for requests whose path is no
// file.
const noFile = "no file"

// fallsBack tells whether n is the route with which php_fastcgi sends every path that is
// no file to a script.
func fallsBack(n *node) bool {
	if len(n.handlers) != 1 || n.handlers[0].name != "rewrite" || len(n.sets) != 1 || len(n.sets[0]) != 1 || n.sets[0][0].kind != "file" {
		return false
	}
	var file struct {
		TryFiles  []string `json:"try_files"`
		TryPolicy string   `json:"try_policy"`
	}
	_ = jsonv1.Unmarshal(n.sets[0][0].raw, &file)
	if file.TryPolicy != "first_exist_fallback" || slices.ContainsFunc(file.TryFiles, func(f string) bool { return strings.HasPrefix(f, "=") }) {
		return false
	}
	return len(file.TryFiles) > 0 && strings.HasSuffix(file.TryFiles[len(file.TryFiles)-1], ".php")
}

// isScript tells whether n is for scripts alone.
func (n *node) isScript() bool {
	return len(n.sets) == 1 && len(n.sets[0]) == 1 && n.sets[0][0].kind == "path" &&
		slices.Contains(n.sets[0][0].paths, "*.php")
}
