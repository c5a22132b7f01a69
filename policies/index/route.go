package index

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/keyset"
)

// Route is one pattern of an index. It implements [keyset.Space]: its keys are those of all
// routes that the pattern matches.
type Route struct {
	entry *entry
	chars []char // of the expression; nil where the pattern is opaque
}

// Routes returns the routes of the index, in no certain order.
func (x *Index) Routes() []*Route {
	var routes []*Route
	if x == nil {
		return nil
	}
	for _, g := range x.groups {
		for _, e := range g.entries {
			r := &Route{entry: e}
			if seq := e.sequence(); seq != nil {
				r = routeOf(e, seq)
			}
			routes = append(routes, r)
		}
	}
	return routes
}

// Name returns what the pattern is called; see Index.Pattern. It is "" for an opaque one.
func (r *Route) Name() string { return r.entry.name }

// Opaque tells whether nothing is known of the pattern but a text in lower case that all its
// routes begin with.
func (r *Route) Opaque() (prefix string, opaque bool) { return r.entry.prefix, r.chars == nil }

// Places are states of the machine that stand before a slash or the end, plus one; place 0
// is the start.

// Ends implements [keyset.Space].
func (r *Route) Ends(at int) bool {
	states := r.closure(int32(max(at-1, 0)))
	if at == 0 { // the root
		states = append(states, r.after(states, '/')...)
	}
	return slices.ContainsFunc(states, func(s int32) bool { return r.chars[s].kind == isEnd })
}

// Sent implements [keyset.Space].
func (*Route) Sent() bool { return true }

// templated tells whether the routes are those of the block editor's templates, whose ids
// hold "//". No other route with two slashes has a certain reading.
func (r *Route) templated() bool {
	return strings.Contains(r.entry.prefix, "/templates/") || strings.Contains(r.entry.prefix, "/template-parts/")
}

// Steps implements [keyset.Space]. Two slashes count as one, as in keys.
func (r *Route) Steps(from int, a *keyset.Alphabet) []keyset.Step {
	states := r.closure(int32(max(from-1, 0)))
	behind := r.after(states, '/')
	if r.templated() {
		behind = append(behind, r.after(behind, '/')...)
	}
	if from == 0 { // the platform's own patterns begin with a slash; others may not
		behind = append(behind, states...)
	}
	s := search{route: r, alphabet: a, seen: map[reading]bool{}, found: map[found]bool{}}
	for _, at := range behind {
		s.reach(reading{at: at, hi: len(a.Literals)}, "")
	}
	return s.run()
}
