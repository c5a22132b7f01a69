// Package audit says what reaches a site under its rules: which routes of its REST root for
// whom, what its plugins need, what of theirs is risky, and which lines open just enough.
//
// It reasons about the rules, as package policies proves claims, and sends nothing.
package audit

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
)

// Report is what an audit finds. It is the JSON of the command. An endpoint is a route with
// one of its methods.
type Report struct {
	Version int    `json:"v"` // 1
	Site    string `json:"site"`
	// Address is where the REST root was read; "" for a file.
	Address string `json:"address,omitempty"`
	// Gateway tells that a gateway guards the site, and LoginOnly that it has login_only.
	Gateway   bool `json:"gateway"`
	LoginOnly bool `json:"login_only"`
	// Limits say what the report does not cover, in a sentence each.
	Limits []string `json:"limits"`

	Totals Totals `json:"totals"`
	// Writes are the endpoints that callers without a login may write to. The rows of Routes
	// are all endpoints.
	Writes            []Endpoint `json:"anonymous_writes"`
	Holes             []Hole     `json:"holes"`
	Plugins           []Plugin   `json:"plugins"`
	UnknownNamespaces []string   `json:"unknown_namespaces"`
	// Propose are the lines that, beside login_only, open what the plugins need and close
	// what is risky. Proposed is what then reaches the site.
	Propose  []string `json:"propose"`
	Proposed Totals   `json:"proposed"`
	Routes   []Route  `json:"routes"`
	// Failed is what --fail-on has found.
	Failed []Failure `json:"failed,omitempty"`
}

// Reach says how much of an endpoint a caller reaches.
type Reach string

// The reaches. Some means that it depends on the rest of the address. Unknown means that the
// pattern of the route cannot be reasoned about.
const (
	All     Reach = "all"
	Some    Reach = "some"
	None    Reach = "none"
	Unknown Reach = "unknown"
)

// Totals counts routes and, for each caller, endpoints.
type Totals struct {
	Routes        int   `json:"routes"`
	Endpoints     int   `json:"endpoints"`
	Anonymous     Count `json:"anonymous"`
	Subscriber    Count `json:"subscriber"`
	Editor        Count `json:"editor"`
	Administrator Count `json:"administrator"`
}

// Count counts endpoints by how much of them is reached.
type Count struct {
	All     int `json:"all"`
	Some    int `json:"some"`
	None    int `json:"none"`
	Unknown int `json:"unknown"`
}

// Route is a route of the REST root.
type Route struct {
	// Name is what the gateway's log calls the route, or the site's own pattern where it
	// cannot be reasoned about.
	Name      string   `json:"route"`
	Namespace string   `json:"namespace"`
	Methods   []Method `json:"methods"`
}

// Method says who reaches a route with a method.
type Method struct {
	Method        string `json:"method"`
	Anonymous     Reach  `json:"anonymous"`
	Subscriber    Reach  `json:"subscriber"`
	Editor        Reach  `json:"editor"`
	Administrator Reach  `json:"administrator"`
	// Proposed is what callers without a login reach with login_only and Report.Propose.
	Proposed Reach `json:"proposed"`
	// Rule decides about callers without a login: the one that refuses them, or else the one
	// that lets them pass; "" where none does. At is where the rule stands.
	Rule string `json:"rule,omitempty"`
	At   string `json:"at,omitempty"`
	// Passes and Refused are examples of a route that Some callers reach in part.
	Passes  string `json:"passes,omitempty"`
	Refused string `json:"refused,omitempty"`
}

// Endpoint is a route with a method, and how much of it callers without a login reach.
type Endpoint struct {
	Method    string `json:"method"`
	Route     string `json:"route"`
	Anonymous Reach  `json:"anonymous"`
}

// String returns "POST /cf/v1/send".
func (e Endpoint) String() string { return e.Method + " " + e.Route }

// Gateway is a directive, as an audit asks it.
type Gateway struct {
	Chain *policies.Chain
	// Jetpack tells that callers who sign with Jetpack's token count as users.
	Jetpack bool
}

// Input is what a report is made of.
type Input struct {
	Site, Address string
	Root          *index.Root
	// Now is the gateway of the site; nil if there is none.
	Now       *Gateway
	LoginOnly bool
	Limits    []string
	// With returns the gateway as it would be with login_only and more lines.
	With func(lines []string) (*Gateway, error)
}

// New makes a report. The error is cover.ErrTooMany, or that of With.
func New(in Input) (*Report, error) {
	now := in.Now
	if now == nil {
		now = open()
	}
	s := newSite(in.Root)
	r := &Report{
		Version: 1, Site: in.Site, Address: in.Address, Gateway: in.Now != nil, LoginOnly: in.LoginOnly,
		Limits: append([]string{}, in.Limits...), Writes: []Endpoint{},
	}
	var err error
	if r.Routes, err = s.table(now); err != nil {
		return nil, err
	}
	r.Totals = totals(r.Routes)
	for i := range r.Routes {
		for _, m := range r.Routes[i].Methods {
			if writes(m.Method) && m.Anonymous != None {
				r.Writes = append(r.Writes, Endpoint{m.Method, r.Routes[i].Name, m.Anonymous})
			}
		}
	}
	return r, s.advise(r, now, in.With)
}

// open is a site without a gateway.
func open() *Gateway {
	off := map[string]*policies.Configured{}
	for _, e := range policies.Catalog {
		off[e.Name] = policies.NewConfigured(e)
		off[e.Name].Settings.Off = true
	}
	chain, err := policies.NewChain(&policies.Site{Site: new(caller.Site)}, "", off)
	if err != nil { // nothing is provisioned
		panic(err)
	}
	return &Gateway{Chain: chain}
}

// site are the routes of a REST root.
type site struct {
	root   *index.Root
	routes []route
}

type route struct {
	name, namespace string
	methods         []string
	patterns        []*index.Route // those of one name
}

func newSite(root *index.Root) *site {
	s := &site{root: root}
	at := map[string]int{}
	for i := range root.Routes {
		listed := &root.Routes[i]
		found := index.New([]string{listed.Pattern}, nil).Routes()
		if len(found) != 1 { // the pattern is "" or beyond all bounds
			continue
		}
		name := cmp.Or(found[0].Name(), listed.Pattern)
		n, known := at[name]
		if !known {
			n = len(s.routes)
			at[name] = n
			s.routes = append(s.routes, route{name: name, namespace: namespaceOf(listed.Pattern, root.Namespaces)})
		}
		r := &s.routes[n]
		r.patterns = append(r.patterns, found[0])
		r.methods = append(r.methods, listed.Methods()...)
	}
	for i := range s.routes {
		slices.SortFunc(s.routes[i].methods, compareMethods)
		s.routes[i].methods = slices.Compact(s.routes[i].methods)
	}
	slices.SortFunc(s.routes, func(a, b route) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	return s
}

// namespaceOf returns the namespace of a pattern: the longest one that it is below.
func namespaceOf(pattern string, namespaces []string) (longest string) {
	for _, ns := range namespaces {
		if rest, ok := strings.CutPrefix(pattern, "/"+ns); ok && (rest == "" || rest[0] == '/') && len(ns) > len(longest) {
			longest = ns
		}
	}
	return longest
}

var methodOrder = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

func compareMethods(a, b string) int {
	rank := func(m string) int {
		if i := slices.Index(methodOrder, m); i >= 0 {
			return i
		}
		return len(methodOrder)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// writes tells whether a method writes.
func writes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

// roles are the callers of the table beside those without a login.
var roles = []string{"subscriber", "editor", "administrator"}

func callers() []caller.Caller {
	all := []caller.Caller{{}}
	for _, role := range roles {
		all = append(all, dryrun.As{Kind: dryrun.Role, Name: role}.Caller())
	}
	return all
}

// table says who reaches what.
func (s *site) table(g *Gateway) ([]Route, error) {
	reacher, err := g.Chain.Reacher()
	if err != nil {
		return nil, err
	}
	who, all := callers(), make([]Route, len(s.routes))
	for i := range s.routes {
		r := &s.routes[i]
		found, err := reachOf(reacher, r.patterns, r.methods, who)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		all[i] = Route{Name: r.name, Namespace: r.namespace, Methods: make([]Method, len(r.methods))}
		for j, method := range r.methods {
			all[i].Methods[j] = methodOf(method, found[j])
		}
	}
	return all, nil
}

// reachOf is Reacher.Of for several patterns together.
func reachOf(reacher *policies.Reacher, patterns []*index.Route, methods []string, who []caller.Caller) ([][]policies.Reached, error) {
	var all [][]policies.Reached
	for _, p := range patterns {
		found, err := reacher.Of(p, methods, who)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = found
			continue
		}
		for i := range found {
			for j := range found[i] {
				join(&all[i][j], &found[i][j])
			}
		}
	}
	return all, nil
}

// join adds what is reached of a second pattern.
func join(a, b *policies.Reached) {
	if a.Passes == "" {
		a.Passes, a.PassedBy = b.Passes, b.PassedBy
	}
	if a.Refused == "" {
		a.Refused, a.RefusedBy = b.Refused, b.RefusedBy
	}
	a.Unknown = a.Unknown || b.Unknown
}

func methodOf(method string, found []policies.Reached) Method {
	m := Method{
		Method: method, Anonymous: reach(&found[0]),
		Subscriber: reach(&found[1]), Editor: reach(&found[2]), Administrator: reach(&found[3]),
	}
	if rule := cmp.Or(found[0].RefusedBy, found[0].PassedBy); rule != nil {
		m.Rule, m.At = rule.String(), rule.At
	}
	if m.Anonymous == Some {
		m.Passes, m.Refused = found[0].Passes, found[0].Refused
	}
	return m
}

func reach(r *policies.Reached) Reach {
	switch {
	case r.Unknown:
		return Unknown
	case r.None():
		return None
	case r.All():
		return All
	}
	return Some
}

func totals(routes []Route) (t Totals) {
	t.Routes = len(routes)
	for i := range routes {
		for _, m := range routes[i].Methods {
			t.Endpoints++
			t.Anonymous.add(m.Anonymous)
			t.Subscriber.add(m.Subscriber)
			t.Editor.add(m.Editor)
			t.Administrator.add(m.Administrator)
		}
	}
	return t
}

func (c *Count) add(r Reach) {
	switch r {
	case All:
		c.All++
	case Some:
		c.Some++
	case None:
		c.None++
	case Unknown:
		c.Unknown++
	}
}
