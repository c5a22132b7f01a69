package audit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// listing are the routes of a REST root.
type listing struct {
	root   *index.Root
	routes []route
	silent int // routes of which the root tells no method
}

type route struct {
	name, namespace string
	methods         []string
	patterns        []*index.Route      // those of one name
	listed          map[string][]string // the site's patterns that have a method
}

func newListing(root *index.Root) *listing {
	s := &listing{root: root}
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
			s.routes = append(s.routes, route{name: name, namespace: namespaceOf(listed.Pattern, root.Namespaces), listed: map[string][]string{}})
		}
		r := &s.routes[n]
		r.patterns = append(r.patterns, found[0])
		methods, told := listed.Dispatched()
		if told {
			methods = listed.Methods()
		} else {
			s.silent++
		}
		r.methods = append(r.methods, methods...)
		for _, method := range methods {
			r.listed[method] = append(r.listed[method], listed.Pattern)
		}
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

// limits says what the root does not tell.
func (s *listing) limits() (limits []string) {
	if s.silent > 0 {
		limits = append(limits, fmt.Sprintf("The REST root does not tell the methods of %d of its %d routes: each of them counts with all methods that the platform dispatches.",
			s.silent, len(s.root.Routes)))
	}
	return limits
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
func (s *listing) table(g *Gateway) ([]Route, error) {
	reachers, err := g.reachers()
	if err != nil {
		return nil, err
	}
	holders, err := g.holders()
	if err != nil {
		return nil, err
	}
	who, all := callers(), make([]Route, len(s.routes))
	for i := range s.routes {
		r := &s.routes[i]
		found, err := reachOf(reachers, r.patterns, r.methods, who)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		scopes, err := scopesOf(holders, r)
		if err != nil {
			return nil, err
		}
		all[i] = Route{Name: r.name, Namespace: r.namespace, Methods: make([]Method, len(r.methods))}
		for j, method := range r.methods {
			m := methodOf(method, found[j])
			m.Scopes = scopes[j]
			m.Patterns = slices.Compact(slices.Sorted(slices.Values(r.listed[method])))
			if m.Anonymous == Some {
				if m.Parts, err = partsOf(reachers, r.patterns, method); err != nil {
					return nil, fmt.Errorf("%s: %w", r.name, err)
				}
			}
			all[i].Methods[j] = m
		}
	}
	return all, nil
}

// reachers returns a Reacher for each chain.
func (g *Gateway) reachers(within ...string) (all []*review.Reacher, err error) {
	for _, chain := range append([]*policy.Chain{g.Chain}, g.Beside...) {
		reacher, err := review.NewReacher(chain, within...)
		if err != nil {
			return nil, err
		}
		all = append(all, reacher)
	}
	return all, nil
}

// reachOf is Reacher.Of for several patterns together, and for several chains.
func reachOf(reachers []*review.Reacher, patterns []*index.Route, methods []string, who []caller.Caller) (all [][]review.Reached, err error) {
	for _, reacher := range reachers {
		var one [][]review.Reached
		for _, p := range patterns {
			found, err := reacher.Of(p, methods, who)
			if err != nil {
				return nil, err
			}
			one = each(one, found, join)
		}
		all = each(all, one, agree)
	}
	return all, nil
}

// partsOf identifies the part of some patterns that callers without a login reach.
func partsOf(reachers []*review.Reacher, patterns []*index.Route, method string) (string, error) {
	var all []string
	for _, reacher := range reachers {
		for _, p := range patterns {
			parts, err := reacher.Parts(p, method, caller.Caller{})
			if err != nil {
				return "", err
			}
			all = append(all, parts...)
		}
	}
	slices.Sort(all)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(all), "\n")))
	return hex.EncodeToString(sum[:8]), nil
}

// each puts b together with a, which may be nil.
func each(a, b [][]review.Reached, together func(a, b *review.Reached)) [][]review.Reached {
	if a == nil {
		return b
	}
	for i := range b {
		for j := range b[i] {
			together(&a[i][j], &b[i][j])
		}
	}
	return a
}

// agree adds what another chain lets through of the same pattern.
func agree(a, b *review.Reached) {
	same := a.All() && b.All() || a.None() && b.None()
	join(a, b)
	a.Unknown = a.Unknown || !same
}

// join adds what is reached of a second pattern.
func join(a, b *review.Reached) {
	if a.Passes == "" {
		a.Passes, a.PassedBy = b.Passes, b.PassedBy
	}
	if a.Refused == "" {
		a.Refused, a.RefusedBy = b.Refused, b.RefusedBy
	}
	a.Unknown = a.Unknown || b.Unknown
}

func methodOf(method string, found []review.Reached) Method {
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

func reach(r *review.Reached) Reach {
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
			t.addScopes(m.Scopes)
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
