package routing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// spot is a place in the routes, with the requests that may come there.
type spot struct {
	cubes  []cube   // all requests there are in one of them
	groups []string // of the routes around it
	hosts  []string // as Way.Hosts
	errors bool
	final  bool // in the server's routes for errors
	top    bool // among the server's own routes
}

// visit is a handler at a spot, with the facts known there.
type visit struct {
	spot
	facts    []fact
	server   *flow
	upstream upstream
	forwards bool         // upstream's
	alters   []alteration // upstream's
	end      bool         // behind all routes, where nothing answers
}

// flow follows requests through the routes of one server, in the order in which Caddy runs
// them. Whatever it does not know passes requests on and may change them.
type flow struct {
	name   string
	server *caddyhttp.Server
	reader *reader
	named  map[string]*node

	facts    []fact
	version  version
	root     string
	values   values
	next     int             // numbers atoms
	passed   map[string]bool // groups one of whose routes may pass on what it takes
	groups   map[string]bool // that requests have met
	invoking []string
	invoked  map[string]bool
	failures []failure
	loose    bool     // a directive is in a route that is not terminal
	ends     bool     // the server's present route is terminal
	scripts  int      // the version of paths that are files or scripts
	visits   []*visit // of upstreams, and of the end
}

// maxCubes bounds the products of matcher sets of routes within each other. Behind it, the
// sets of inner routes count as unknown.
const maxCubes = 16

// routes follows the requests at s through routes.
func (f *flow) routes(routes []*node, s spot) {
	for _, n := range routes {
		f.route(n, s)
	}
}

// route follows requests into one route. What holds for those that come past it, the facts
// say.
func (f *flow) route(n *node, s spot) {
	before, root, known := f.version, f.root, f.values
	inner, had := f.enter(n, s), len(f.facts)
	if n.mayFail() {
		f.fails(s, 0)
	}
	for _, h := range n.handlers {
		f.handler(h, inner)
	}
	if n.terminal {
		if s.top {
			f.visits = append(f.visits, f.visit(inner, true))
		}
		f.stop(inner.cubes, "a terminal route")
	}
	all := f.allStopped(inner)
	if n.group != "" {
		f.groups[n.group] = true
		f.passed[n.group] = f.passed[n.group] || !all
		f.add(inner.cubes, fact{kind: taken, group: n.group, by: "an earlier handle block", plain: all && leadsNowhere(f.facts[had:])})
	}
	if all && n.isScript() && f.scripts == before.path && f.scripts != 0 {
		f.fallen(s)
	}
	switch {
	case all:
		f.version, f.root, f.values = before, root, known // those that come past have not been inside
	case n.falls:
		f.scripts = f.version.path
	}
}

// leadsNowhere tells whether what stops requests are redirects and refusals only.
func leadsNowhere(facts []fact) bool {
	return !slices.ContainsFunc(facts, func(f fact) bool { return f.kind == guarded || f.kind != altered && !f.plain })
}

// fallen notes that a route for scripts, behind one that sends all paths that are no files
// to a script, has taken all but requests for files.
func (f *flow) fallen(s spot) {
	for _, c := range s.cubes {
		f.facts = append(f.facts, fact{cube: c.with(atomAt(absent, f.version, &f.next)), by: "php_fastcgi"})
	}
}

// enter returns the spot within a route.
func (f *flow) enter(n *node, s spot) spot {
	inner := s
	inner.top = false
	if n.group != "" {
		inner.groups = append(slices.Clip(s.groups), n.group)
	}
	if n.hosts != nil {
		inner.hosts = n.hosts
	}
	sets := n.sets
	if len(sets)*len(s.cubes) > maxCubes {
		sets = [][]*matcher{{unknown}}
	}
	if len(sets) > 0 {
		inner.cubes = nil
		for _, set := range sets {
			atoms := make([]atom, len(set))
			for i, m := range set {
				atoms[i] = atomAt(m, f.version, &f.next)
			}
			for _, c := range s.cubes {
				inner.cubes = addCube(inner.cubes, c.with(atoms...))
			}
		}
	}
	switch {
	case n.group == "":
	case slices.Contains(s.groups, n.group):
		inner = f.perhaps(inner)
		f.stop(inner.cubes, "the route around it, of the same group,")
	case f.passed[n.group]:
		inner = f.perhaps(inner)
	}
	return inner
}

// addCube adds c to cubes, unless it is empty or lies within one of them.
func addCube(cubes []cube, c cube) []cube {
	if c.empty() || slices.ContainsFunc(cubes, c.within) {
		return cubes
	}
	return append(slices.DeleteFunc(cubes, func(of cube) bool { return of.within(c) }), c)
}

// unknown is a matcher of which nothing is known; absent holds for requests whose path is
// no file.
var (
	unknown = (&matcher{kind: "?"}).derive()
	absent  = (&matcher{kind: noFile}).derive()
)

// perhaps returns a spot that some of the requests at s come to, nobody knows which.
func (f *flow) perhaps(s spot) spot {
	a := atomAt(unknown, f.version, &f.next)
	cubes := make([]cube, len(s.cubes))
	for i, c := range s.cubes {
		cubes[i] = c.with(a)
	}
	s.cubes = cubes
	return s
}

// handler follows requests through a handler.
func (f *flow) handler(h *handler, s spot) {
	f.version.change(h.changes, &f.next)
	f.root, f.values = cmp.Or(h.root, f.root), f.values.with(h.sets)
	f.altered(h, s)
	if h.fails {
		f.fails(s, h.status)
	}
	switch {
	case h.directive != nil:
		f.guard(h.directive, s)
	case h.invokes != "":
		f.invoke(h.invokes, s)
		return
	case h.leads != nil:
		v := f.visit(s, false)
		v.upstream, v.forwards, v.alters = h.leads.on(f.root, f.values), h.leads.forwarded, h.leads.alters
		if h.leads.local {
			v.upstream.name += " of " + f.name + " " + strings.Join(s.hosts, " ")
		}
		f.visits = append(f.visits, v)
	}
	if h.kind.through && !h.errors {
		f.routes(h.branches[0].routes, s)
		return
	}
	all := h.answers || h.errors
	for _, b := range h.branches {
		inner := f.perhaps(s)
		if b.errors {
			inner.errors = true
			f.afterError()
		}
		f.routes(b.routes, inner)
		all = all && f.allStopped(inner)
	}
	if all {
		f.add(s.cubes, fact{by: h.by(), plain: h.plain})
	}
}

// afterError makes nothing certain that handlers may have changed before the error.
func (f *flow) afterError() {
	f.version.change(everything, &f.next)
	for group := range f.groups {
		f.passed[group] = true
	}
}

func (f *flow) visit(s spot, end bool) *visit {
	return &visit{spot: s, facts: slices.Clip(f.facts), server: f, end: end}
}

func (f *flow) guard(d *Directive, s spot) {
	d.visits = append(d.visits, f.visit(s, false))
	f.loose = f.loose || !f.ends
	for _, host := range s.hosts {
		if !slices.Contains(d.Hosts, host) {
			d.Hosts = append(d.Hosts, host)
		}
	}
	f.add(s.cubes, fact{kind: guarded, guard: d})
}

func (f *flow) stop(cubes []cube, by string) { f.add(cubes, fact{by: by}) }

// add notes a fact of each cube that requests may still be in.
func (f *flow) add(cubes []cube, about fact) {
	for _, c := range cubes {
		if q := (query{facts: f.facts}); q.covering(c) == nil {
			about.cube = c
			f.facts = append(f.facts, about)
		}
	}
}

// allStopped tells whether certainly no request comes out of s.
func (f *flow) allStopped(s spot) bool {
	q := query{facts: f.facts, groups: s.groups}
	return len(q.cover(s.cubes).open) == 0
}

// invoke follows requests into a named route.
func (f *flow) invoke(name string, s spot) {
	n, ok := f.node(name)
	switch {
	case !ok:
		f.fails(s, 0)
		f.stop(s.cubes, "invoke of an unknown route")
	case slices.Contains(f.invoking, name):
		f.version.change(everything, &f.next)
	default:
		f.invoking, f.invoked[name] = append(f.invoking, name), true
		f.route(n, s)
		f.invoking = f.invoking[:len(f.invoking)-1]
	}
}

// node returns a named route. It is read once.
func (f *flow) node(name string) (*node, bool) {
	if n, ok := f.named[name]; ok {
		return n, true
	}
	route, ok := f.server.NamedRoutes[name]
	if !ok {
		return nil, false
	}
	n := f.reader.node(route)
	f.named[name] = n
	return n, true
}
