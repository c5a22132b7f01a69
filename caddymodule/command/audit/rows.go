package audit

import (
	"cmp"
	"slices"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/plugins"
)

// Plugin is a plugin that the site certainly has.
type Plugin struct {
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	Needed []Need `json:"needed"`
	Risky  []Risk `json:"risky"`
	// Lines are those of Report.Propose that name the plugin.
	Lines []string `json:"lines"`
}

// Need is what a plugin needs open.
type Need struct {
	Methods []string      `json:"methods"`
	Route   string        `json:"route"` // as in a rule
	Group   plugins.Group `json:"for"`
	Caller  string        `json:"caller"`
	Why     string        `json:"why"`
	// Optional tells that few sites use it.
	Optional bool `json:"optional,omitempty"`
	// Listed tells that the REST root has it. What is not listed is none of this release, or
	// hidden, or belongs to a setting.
	Listed bool  `json:"listed"`
	Now    Reach `json:"now"`
	// Then is what reaches it with login_only and Report.Propose.
	Then Reach `json:"then"`
}

// Risk is a route of a plugin that no caller without a login should reach.
type Risk struct {
	Methods []string      `json:"methods"`
	Route   string        `json:"route"`
	Why     string        `json:"why"`
	CVE     []plugins.CVE `json:"cve,omitempty"`
	// Needed tells that the plugin needs the same route open.
	Needed bool  `json:"needed,omitempty"`
	Now    Reach `json:"now"`
	Then   Reach `json:"then"`
}

// Hole is a published hole of a route that the site has. The REST root does not tell versions.
type Hole struct {
	CVE      string   `json:"cve"`
	Versions string   `json:"versions"` // that have the hole
	Plugin   string   `json:"plugin"`
	Methods  []string `json:"methods"`
	Route    string   `json:"route"`
	// Scope is set where the hole is one of the plugin in a route of the core.
	Scope string `json:"scope,omitempty"`
	Now   Reach  `json:"now"`
	Then  Reach  `json:"then"`
}

// row is a row of the catalogue, with the endpoints of the site that are of it.
type row struct {
	route   string
	methods []string // that the site lists
	at      []place
	jetpack bool // the caller signs with Jetpack's token
}

type place struct {
	pattern *index.Route
	methods []string
}

// rowOf finds the endpoints of a row.
func (s *site) rowOf(methods []string, route string) (*row, error) {
	reacher, err := open().Chain.Reacher(route)
	if err != nil {
		return nil, err
	}
	found := &row{route: route}
	for i := range s.routes {
		r := &s.routes[i]
		common := slices.DeleteFunc(slices.Clone(r.methods), func(m string) bool { return !slices.Contains(methods, m) })
		if len(common) == 0 {
			continue
		}
		for _, pattern := range r.patterns {
			reached, err := reacher.Of(pattern, common[:1], []caller.Caller{{}})
			if err != nil {
				return nil, err
			}
			if reached[0][0].Passes == "" || reached[0][0].Unknown {
				continue
			}
			found.at = append(found.at, place{pattern, common})
			found.methods = append(found.methods, common...)
		}
	}
	slices.SortFunc(found.methods, compareMethods)
	found.methods = slices.Compact(found.methods)
	return found, nil
}

// hidden makes the row one of a route that the site does not list.
func (r *row) hidden(methods []string) {
	r.at = nil
	for _, x := range index.New([]string{expression(r.route)}, nil).Routes() {
		r.at = append(r.at, place{x, methods})
	}
}

// reach says how much of the row callers without a login reach, and which rule refuses some
// of it.
func (r *row) reach(g *Gateway) (Reach, *policies.Rule, error) {
	who := caller.Caller{}
	if r.jetpack && g.Jetpack {
		who.Kind = caller.Unverified
	}
	reacher, err := g.Chain.Reacher(r.route)
	if err != nil {
		return Unknown, nil, err
	}
	var all policies.Reached
	for _, p := range r.at {
		found, err := reacher.Of(p.pattern, p.methods, []caller.Caller{who})
		if err != nil {
			return Unknown, nil, err
		}
		for i := range found {
			join(&all, &found[i][0])
		}
	}
	return reach(&all), all.RefusedBy, nil
}

// found is a plugin with its rows.
type found struct {
	*plugins.Plugin
	needs, risks []*row // of the same rows of the catalogue; nil where they do not count
	listed       []bool // of needs
	allow, deny  bool   // the line is proposed
}

// find reads the catalogue.
func (s *site) find() (list []*found, unknown []string, err error) {
	in := plugins.Find(s.root.Namespaces, s.root.Patterns())
	for _, p := range in.Plugins {
		f := &found{Plugin: p}
		for i := range p.Needed {
			n := &p.Needed[i]
			r, err := s.rowOf(n.Methods, n.Route)
			if err != nil {
				return nil, nil, err
			}
			r.jetpack = n.Credentials != ""
			listed := len(r.at) > 0
			if !listed && n.Seen != plugins.InIndex { // the root of no site lists it
				r.hidden(n.Methods)
			}
			f.needs, f.listed = append(f.needs, r), append(f.listed, listed)
		}
		for i := range p.Risky {
			r, err := s.rowOf(p.Risky[i].Methods, p.Risky[i].Route)
			if err != nil {
				return nil, nil, err
			}
			f.risks = append(f.risks, r)
		}
		list = append(list, f)
	}
	return list, append([]string{}, in.Unknown...), nil
}

// counts tells whether row i of what the plugin needs is opened by its plain line.
func (f *found) counts(i int) bool {
	return len(f.needs[i].at) > 0 && slices.Contains(plugins.DefaultGroups, f.Needed[i].Caller.Group())
}

// plugin writes what is known of the plugin.
func (f *found) plugin(now, then *Gateway) (Plugin, []Hole, error) {
	p := Plugin{Slug: f.Slug, Name: f.Name, Needed: []Need{}, Risky: []Risk{}, Lines: f.lines()}
	var holes []Hole
	for i, r := range f.needs {
		a, b, err := both(r, now, then)
		if err != nil {
			return p, nil, err
		}
		n := &f.Needed[i]
		if len(r.at) > 0 {
			p.Needed = append(p.Needed, Need{
				Methods: methodsOr(r.methods, n.Methods), Route: r.route, Group: n.Caller.Group(), Caller: string(n.Caller), Why: n.Why,
				Optional: n.Optional, Listed: f.listed[i], Now: a, Then: b,
			})
		}
	}
	for i, r := range f.risks {
		a, b, err := both(r, now, then)
		if err != nil {
			return p, nil, err
		}
		if len(r.at) == 0 {
			continue
		}
		risk := &f.Risky[i]
		p.Risky = append(p.Risky, Risk{
			Methods: r.methods, Route: r.route, Why: risk.Why, CVE: risk.CVE, Needed: f.needed(i), Now: a, Then: b,
		})
		for _, cve := range risk.CVE {
			holes = append(holes, Hole{
				CVE: cve.ID, Versions: cve.Versions, Plugin: f.Slug, Methods: r.methods, Route: r.route, Scope: risk.Scope, Now: a, Then: b,
			})
		}
	}
	return p, holes, nil
}

func both(r *row, now, then *Gateway) (a, b Reach, err error) {
	if a, _, err = r.reach(now); err == nil {
		b, _, err = r.reach(then)
	}
	return a, b, err
}

func methodsOr(listed, all []string) []string {
	if len(listed) > 0 {
		return listed
	}
	return all
}

// needed tells whether the plugin needs risky row i with one of the methods that the site
// lists.
func (f *found) needed(i int) bool {
	return slices.ContainsFunc(f.Needed, func(n plugins.Need) bool {
		return n.Route == f.Risky[i].Route && slices.ContainsFunc(f.risks[i].methods, func(m string) bool { return slices.Contains(n.Methods, m) })
	})
}

func (f *found) lines() []string {
	lines := []string{}
	if f.allow {
		lines = append(lines, "allow plugin "+f.Slug)
	}
	if f.deny {
		lines = append(lines, "deny plugin "+f.Slug)
	}
	return lines
}

// compareHoles sorts the open ones first.
func compareHoles(a, b Hole) int {
	closed := func(h *Hole) int {
		if h.Now == None {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(closed(&a), closed(&b)), cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Route, b.Route), cmp.Compare(a.CVE, b.CVE),
		slices.Compare(a.Methods, b.Methods),
	)
}
